"""Rows at hand, made ready to be winnowed: columns that occur, numbered anew."""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from thresher.jit import jit


class Rows(NamedTuple):
    """Sparse rows for kernels: ``starts`` (int64), ``columns`` (uint32), ``values`` (float64)."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> Self:
        """Return the rows of a matrix."""
        return cls(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.uint32),
            np.asarray(matrix.data, np.float64),
        )

    @classmethod
    def none(cls) -> Self:
        """Return no rows."""
        return cls(np.zeros(1, np.int64), np.zeros(0, np.uint32), np.zeros(0))

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.starts.size - 1

    def only(self, n_columns: int, kept: np.ndarray) -> Self:
        """Return rows of some columns only, numbered in the order given."""
        numbers = np.full(n_columns, -1, np.int32)
        numbers[kept] = np.arange(kept.size, dtype=np.int32)
        return type(self)(*with_columns(self.starts, self.columns, self.values, numbers))

    def at(self, places: np.ndarray) -> Self:
        """Return some of the rows, in the order given."""
        return type(self)(*with_rows(self.starts, self.columns, self.values, places))

    def scaled(self, factors: np.ndarray) -> Self:
        """Return rows with every column multiplied by its factor."""
        return self._replace(values=self.values * factors[self.columns])


class Sample(NamedTuple):
    """Rows, what is to be predicted of them, and how much each counts.

    Targets of two classes are -1 and +1, of several the numbers of the classes. ``n_outputs`` is
    the number of margins of a row: one, or one for each of several classes.
    """

    rows: Rows
    n_columns: int
    targets: np.ndarray
    importance: np.ndarray
    loss: int
    n_outputs: int
    intercept: bool

    def at(self, places: np.ndarray) -> Self:
        """Return a sample of some of the rows."""
        return self._replace(
            rows=self.rows.at(places),
            targets=self.targets[places],
            importance=self.importance[places],
        )


@jit
def with_columns(starts, columns, values, numbers):
    """Return rows of the columns whose new number is not negative."""
    count = 0
    for k in range(columns.size):
        count += numbers[columns[k]] >= 0
    kept_starts = np.zeros(starts.size, np.int64)
    kept_columns, kept_values = np.empty(count, np.uint32), np.empty(count)
    count = 0
    for i in range(starts.size - 1):
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            number = numbers[columns[k]]
            if number >= 0:
                kept_columns[count] = number
                kept_values[count] = values[k]
                count += 1
        kept_starts[i + 1] = count
    return kept_starts, kept_columns, kept_values


@jit
def with_rows(starts, columns, values, places):
    """Return some of the rows."""
    kept_starts = np.zeros(places.size + 1, np.int64)
    for i in range(places.size):
        kept_starts[i + 1] = kept_starts[i] + starts[places[i] + 1] - starts[places[i]]
    kept_columns = np.empty(kept_starts[-1], np.uint32)
    kept_values = np.empty(kept_starts[-1])
    for i in range(places.size):
        first, last = starts[places[i]], starts[places[i] + 1]
        kept_columns[kept_starts[i] : kept_starts[i + 1]] = columns[first:last]
        kept_values[kept_starts[i] : kept_starts[i + 1]] = values[first:last]
    return kept_starts, kept_columns, kept_values
