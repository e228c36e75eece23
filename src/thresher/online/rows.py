"""Rows of a sparse matrix, and the updates they become."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit


class Rows(NamedTuple):
    """Sparse rows; ``indices`` are columns, or slots once a vocabulary has numbered them."""

    starts: NDArray[np.int64]
    indices: NDArray[np.uint32]
    values: NDArray[np.float64]

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.starts.size - 1

    def part(self, first: int, last: int) -> "Rows":
        """Return the rows from ``first`` to ``last``."""
        if first == 0 and last == self.n:
            return self
        a, b = self.starts[first], self.starts[last]
        return Rows(self.starts[first : last + 1] - a, self.indices[a:b], self.values[a:b])

    def only(self, active: np.ndarray) -> "Rows":
        """Return a copy with the slots of a mask only, which keep their numbers."""
        starts, indices, values = keep_entries(self.starts, self.indices, self.values, active)
        return Rows(starts, indices, values)


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


@jit
def soft_threshold(weight, gravity):
    """Pull a weight towards 0 by at most ``gravity``, never past it: T(w, g)."""
    return weight - min(max(weight, -gravity), gravity)


@jit
def keep_entries(starts, indices, values, active):
    """Return the rows without the entries whose slot is not active."""
    n = 0
    for k in range(indices.size):
        n += active[indices[k]]
    # with one place more, for it is written before it is counted
    new_indices, new_values = np.empty(n + 1, indices.dtype), np.empty(n + 1)
    new_starts = np.zeros_like(starts)
    n = np.uint64(0)
    for i in range(starts.size - 1):
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            new_indices[n] = indices[k]
            new_values[n] = values[k]
            n += np.uint64(active[indices[k]])
        new_starts[i + 1] = n
    return new_starts, new_indices[:n], new_values[:n]
