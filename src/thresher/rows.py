"""Sparse rows, as kernels know them."""

from collections.abc import Sequence
from typing import NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from thresher.jit import jit

MOST_COLUMNS = 1 << 31

FINE, UNTIDY, OUTSIDE, NOT_FINITE = range(4)  # what rows from elsewhere may be


class Rows(NamedTuple):
    """Sparse rows: those of row i lie from ``starts[i]`` to ``starts[i + 1]``.

    Types never vary, so that every kernel is compiled once. ``columns`` are numbers of columns, or
    of slots once a vocabulary has numbered those that occur.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> Self:
        """Return the rows of a canonical matrix, with int32 or int64 indices; copies little."""
        if matrix.shape[1] >= MOST_COLUMNS:
            refuse_width(matrix.shape[1])
        columns = matrix.indices
        columns = columns.view(np.uint32) if columns.dtype == np.int32 else columns
        # writable and contiguous: kernels are compiled for such alone
        return cls(
            np.require(matrix.indptr, np.int64, ["C", "W"]),
            np.require(columns, np.uint32, ["C", "W"]),
            np.require(matrix.data, np.float64, ["C", "W"]),
        )

    @classmethod
    def none(cls) -> Self:
        """Return no rows."""
        return cls(np.zeros(1, np.int64), np.zeros(0, np.uint32), np.zeros(0))

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return self.starts.size - 1

    def of_values(self) -> np.ndarray:
        """Return the row of every value."""
        return np.repeat(np.arange(self.n), np.diff(self.starts))

    def part(self, first: int, last: int) -> Self:
        """Return the rows from ``first`` to ``last``, without copying their values."""
        if first == 0 and last == self.n:
            return self
        a, b = self.starts[first], self.starts[last]
        return type(self)(self.starts[first : last + 1] - a, self.columns[a:b], self.values[a:b])

    def at(self, places: np.ndarray) -> Self:
        """Return some of the rows, in the order given."""
        return type(self)(*rows_at(self.starts, self.columns, self.values, places))

    def only(self, active: np.ndarray) -> Self:
        """Return a copy with the columns of a mask only, which keep their numbers."""
        numbers = np.where(active, np.arange(active.size, dtype=np.int32), np.int32(-1))
        return type(self)(*with_numbers(self.starts, self.columns, self.values, numbers))

    def renumbered(self, n_columns: int, kept: np.ndarray) -> Self:
        """Return a copy with some columns only, numbered in the order given."""
        numbers = np.full(n_columns, -1, np.int32)
        numbers[kept] = np.arange(kept.size, dtype=np.int32)
        return type(self)(*with_numbers(self.starts, self.columns, self.values, numbers))

    def occurring(self, n_columns: int) -> np.ndarray:
        """Return the columns that occur, ascending."""
        occurs = np.zeros(n_columns, np.bool_)
        occurs[self.columns] = True
        return np.flatnonzero(occurs)

    def scaled(self, factors: np.ndarray) -> Self:
        """Return rows with every column multiplied by its factor."""
        return self._replace(values=self.values * factors[self.columns])


def joined(parts: Sequence[Rows]) -> Rows:
    """Return rows one part after the other."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(part.starts[-1] for part in parts)])
    starts = [part.starts[1:] + end for part, end in zip(parts, ends, strict=False)]
    return Rows(
        np.concatenate([np.zeros(1, np.int64), *starts]),
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.values for part in parts]),
    )


def refuse_width(n_columns: int) -> NoReturn:
    """Raise the error of a matrix that is too wide."""
    raise ValueError(
        f"X has {n_columns:,} columns, and there can be at most {MOST_COLUMNS - 1:,}. Number the "
        "columns that occur, or hash them (sklearn.feature_extraction.FeatureHasher)."
    ) from None


@jit
def squared_norms(starts, values):
    """Return the squared Euclidean norm of every row."""
    norms = np.empty(starts.size - 1)
    for i in range(norms.size):
        square = 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            square += values[k] * values[k]
        norms[i] = square
    return norms


@jit
def rows_at(starts, columns, values, places):
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


@jit
def with_numbers(starts, columns, values, numbers):
    """Return rows of the columns whose new number is not negative."""
    # with one place more, for it is written before it is counted
    kept_columns, kept_values = np.empty(columns.size + 1, np.uint32), np.empty(columns.size + 1)
    kept_starts = np.zeros_like(starts)
    count = np.uint64(0)
    for i in range(starts.size - 1):
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            number = numbers[columns[k]]
            kept_columns[count] = np.uint32(number)
            kept_values[count] = values[k]
            count += np.uint64(number >= 0)
        kept_starts[i + 1] = count
    return kept_starts, kept_columns[:count].copy(), kept_values[:count].copy()


@jit
def nonzeros_of(table):
    """Return the nonzeros of a dense table as sparse rows; NaN is one of them."""
    starts = np.zeros(table.shape[0] + 1, np.int64)
    for i in range(table.shape[0]):
        count = 0
        for j in range(table.shape[1]):
            count += table[i, j] != 0.0
        starts[i + 1] = starts[i] + count
    columns, values = np.empty(starts[-1], np.uint32), np.empty(starts[-1])
    k = np.uint64(0)
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            if table[i, j] != 0.0:
                columns[k] = j
                values[k] = table[i, j]
                k += np.uint64(1)
    return starts, columns, values


@jit
def broken_row(starts, n_values):
    """Return the first row that ``starts`` do not delimit; -1 if there is none."""
    if starts[0] != 0 or starts[-1] > n_values:
        return 0
    for i in range(starts.size - 1):
        if starts[i + 1] < starts[i]:
            return i
    return -1


@jit
def examine(starts, columns, values, width):
    """Return what rows are, and the place of the first fault.

    Most rows are fine, and passed through without a branch; the others once more.
    """
    odd = 0
    for i in range(starts.size - 1):
        before = np.int64(-1)
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            column, size = np.int64(columns[k]), abs(values[k])
            odd += (column <= before) | (not 0.0 < size < np.inf)
            before = column
        odd += before >= width
    fault, first = FINE, np.int64(0)
    for i in range(starts.size - 1 if odd else 0):
        before = np.int64(-1)
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            column, value = np.int64(columns[k]), values[k]
            if column >= width:
                return OUTSIDE, np.int64(k)
            if column <= before or value == 0.0:
                fault = max(fault, UNTIDY)
            if not np.isfinite(value) and fault != NOT_FINITE:
                fault, first = NOT_FINITE, np.int64(k)
            before = column
    return fault, first
