"""How many features selected sets share: all that stability needs of them, and small."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


def overlaps_of(supports: Sequence[np.ndarray]) -> NDArray[np.int64]:
    """Return the number of features each two sets share, the sets' sizes on the diagonal."""
    bounds = np.cumsum([0, *map(len, supports)])
    numbers = np.concatenate(supports).astype(np.int64)
    shape = (len(supports), int(numbers.max(initial=0)) + 1)
    table = csr_array((np.ones(len(numbers), dtype=np.int64), numbers, bounds), shape=shape)
    return (table @ table.T).toarray()


def triangle(overlaps: NDArray[np.int64]) -> list[int]:
    """Return the upper triangle row by row, diagonal included: the rest repeats it."""
    return overlaps[np.triu_indices(len(overlaps))].tolist()


def square(numbers: Sequence[int]) -> NDArray[np.int64]:
    """Return the overlaps of ``triangle``."""
    sets = math.isqrt(2 * len(numbers))  # n sets have n (n + 1) / 2 numbers
    upper = np.zeros((sets, sets), dtype=np.int64)
    upper[np.triu_indices(sets)] = numbers
    return np.maximum(upper, upper.T)
