"""Rows of a sparse matrix, the updates they become, and how long they are."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit


class Rows(NamedTuple):
    """Sparse rows whose columns are numbered by slot (see ``thresher.data.vocabulary``)."""

    starts: NDArray[np.int64]
    slots: NDArray[np.uint32]
    values: NDArray[np.float64]


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
def squared_norms(starts, values):
    """Return the squared Euclidean norm of every row."""
    norms = np.zeros(starts.size - 1)
    for i in range(norms.size):
        for k in range(starts[i], starts[i + 1]):
            norms[i] += values[k] * values[k]
    return norms


@jit
def running_means(numbers, count, mean):
    """Return the mean after each number, of those and of ``count`` earlier ones."""
    means = np.empty_like(numbers)
    for i in range(numbers.size):
        count += 1
        mean += (numbers[i] - mean) / count
        means[i] = mean
    return means
