"""The updates that rows become, and scalars that learners share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit


class Updates(NamedTuple):
    """Rows to learn from, one after the other.

    ``order``, ``steps``, ``biases`` (sizes of the constant input) and ``norms`` (mean squared norms
    of the rows) have an entry per update; ``targets`` (-1 or +1, or any numbers) and
    ``importance`` have one per row.
    """

    order: NDArray[np.int64]
    steps: NDArray[np.float64]
    biases: NDArray[np.float64]
    norms: NDArray[np.float64]
    targets: NDArray[np.float64]
    importance: NDArray[np.float64]


@jit
def soft_threshold(weight, gravity):
    """Pull a weight towards 0 by ``gravity``, never past it: T(w, g), the paper's Eq. 5."""
    return weight - min(max(weight, -gravity), gravity)


@jit
def dot(left, right, size):
    """Return a product of vectors, summed up by turns so that no sum waits for the one before."""
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    a = b = c = d = 0.0
    k = np.uint64(0)
    while k + three < size:
        a += left[k] * right[k]
        b += left[k + one] * right[k + one]
        c += left[k + two] * right[k + two]
        d += left[k + three] * right[k + three]
        k += four
    while k < size:
        a += left[k] * right[k]
        k += one
    return (a + b) + (c + d)
