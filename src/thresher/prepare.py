"""Preparation: what is done to rows before they are learned, decided from statistics alone.

Two kinds of columns are told apart. *Measured* columns are those whose unit says nothing: every
column of a dense matrix, and columns of other matrices in a unit far from the others'. They are
divided by their spread. The rest of a row, words of a document say, is divided by its length, so
that long documents count no more than short ones.

Nothing is centred: an intercept that costs nothing makes up for it. So weights fold back into
weights of raw values, but for the length of a row.
"""

from typing import NamedTuple, Self

import numpy as np

from thresher.exact import ExactSums
from thresher.jit import jit
from thresher.rows import Rows

DENSE = 0.5  # share of nonzero cells from which on a matrix, or a column, is dense
ODD = 4.0  # how many times larger or smaller than usual the values of an odd dense column are
VERY_ODD = 100.0  # and of any other column
FEWEST = 10  # rows that have a column that can be odd


class Statistics(NamedTuple):
    """Sums over rows, each as often as it counts; they can be added.

    ``counts`` are the rows that have a value in a column.
    """

    weight: float
    counts: np.ndarray
    values: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, rows: Rows, n_columns: int, importance: np.ndarray) -> Self:
        """Return the sums over some rows."""
        counts, values, squares = np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns)
        add_statistics(rows.starts, rows.columns, rows.values, importance, counts, values, squares)
        return cls(float(importance.sum()), counts, values, squares)

    @classmethod
    def exactly(cls, rows: Rows, n_columns: int, importance: np.ndarray) -> Self:
        """Return the same, of sums that do not depend on the order of the rows."""
        sums = exact_statistics(rows, n_columns, importance)
        return cls(float(importance.sum()), *(one.totals() for one in sums))

    def __add__(self, other: Self) -> Self:  # type: ignore[override]
        """Return the sums over the rows of both; the other may have seen more columns."""
        size = max(self.counts.size, other.counts.size)
        pairs = zip(self[1:], other[1:], strict=True)
        joined = (np.pad(a, (0, size - a.size)) + np.pad(b, (0, size - b.size)) for a, b in pairs)
        return type(self)(self.weight + other.weight, *joined)

    def sizes(self) -> np.ndarray:
        """Return the root mean square of each column's values, zeros left out."""
        return np.sqrt(self.squares / np.maximum(self.counts, 1e-300))

    def spreads(self) -> np.ndarray:
        """Return the root of the squares around the mean, per value; 0 where nothing varies."""
        around = self.squares - self.values**2 / self.weight
        around[around <= 1e-12 * self.squares] = 0.0
        return np.sqrt(around / np.maximum(self.counts, 1e-300))


class Preparation(NamedTuple):
    """Whether rows are scaled to unit length, and the factors of measured columns.

    Measured columns are ascending, and have no part in a row's length. With ``kept_length`` a
    fitted model's rows are as long as their values in the columns with a weight make them.
    """

    unit: bool
    measured: np.ndarray
    factors: np.ndarray
    kept_length: bool = False

    @classmethod
    def none(cls, unit: bool = False) -> Self:
        """Return a preparation without measured columns."""
        return cls(unit, np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def from_statistics(
        cls, statistics: Statistics, unit: bool | None = None, numbers: np.ndarray | None = None
    ) -> Self:
        """Return how rows with such statistics are prepared.

        ``unit`` may be given; if it is true, all columns make up a row's length. ``numbers`` are
        those of the columns, if they are only some of the user's.
        """
        finite = np.isfinite(statistics.squares)
        if not finite.all():
            column = int(finite.argmin())
            column = column if numbers is None else int(numbers[column])
            raise ValueError(
                f"The squares of column {column} overflow: its values are too large. "
                "Divide the column by a constant, or leave it out."
            )
        if unit:
            return cls.none(unit=True)
        measured = measured_columns(statistics)
        spreads, sizes = statistics.spreads()[measured], statistics.sizes()[measured]
        scales = np.where(spreads > 0, spreads, sizes)  # a constant column is an intercept
        factors = np.divide(1.0, scales, out=np.zeros_like(scales), where=scales > 0)
        others = bool(np.count_nonzero(statistics.counts) > measured.size)
        return cls(others if unit is None else unit, measured, factors)

    def apply(self, rows: Rows) -> Rows:
        """Return prepared rows."""
        if not self.measured.size:  # at a cost that does not follow the number of columns
            return rows._replace(values=unit_values(*rows[::2])) if self.unit else rows
        n_columns = int(rows.columns.max(initial=0)) + 1
        factors = np.ones(n_columns)
        known = self.measured < n_columns
        factors[self.measured[known]] = -self.factors[known]
        return rows._replace(values=prepared_values(*rows, factors, self.unit))

    def in_length(self, n_columns: int) -> np.ndarray:
        """Return which columns make up a row's length."""
        mask = np.full(n_columns, self.unit)
        mask[self.measured] = False
        return mask

    def raw_weights(self, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return weights of raw values from those of prepared ones, columns along the last axis."""
        if not self.measured.size:
            return weights
        places = np.searchsorted(self.measured, columns)
        places[places == self.measured.size] = 0
        found = self.measured[places] == columns
        return weights * np.where(found, self.factors[places], 1.0)


def measured_columns(statistics: Statistics) -> np.ndarray:
    """Return the columns that are measured."""
    counts, weight = statistics.counts, statistics.weight
    live = np.flatnonzero(counts > 0)
    if not live.size:
        return live
    if counts.sum() > DENSE * weight * live.size:
        return live
    sizes, mine = statistics.sizes()[live], counts[live]
    order = np.argsort(sizes, kind="stable")
    middle = np.searchsorted(np.cumsum(mine[order]), mine.sum() / 2)
    odd = np.abs(np.log(sizes / sizes[order[middle]]))
    dense = mine > DENSE * weight
    return live[(mine >= FEWEST) & (odd > np.log(np.where(dense, ODD, VERY_ODD)))]


def exact_statistics(rows: Rows, n_columns: int, importance: np.ndarray) -> list[ExactSums]:
    """Return the sums of ``Statistics`` over some rows, to be added to others."""
    weights = importance[rows.of_values()]
    values = weights * rows.values
    with np.errstate(over="ignore"):
        terms = weights, values, values * rows.values
    return [ExactSums.of(rows.columns, one, n_columns) for one in terms]


@jit
def add_statistics(starts, columns, values, importance, counts, sums, squares):
    """Add rows to the statistics of their columns."""
    for i in range(starts.size - 1):
        weight = importance[i]
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j, value = columns[k], values[k]
            counts[j] += weight
            sums[j] += weight * value
            squares[j] += weight * value * value


@jit
def prepared_values(starts, columns, values, factors, unit):
    """Return values times their columns' factors; positive ones mark columns of a row's length."""
    prepared = np.empty_like(values)
    for i in range(starts.size - 1):
        square = 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            if factors[columns[k]] > 0.0:
                square += values[k] * values[k]
        scale = 1.0 / np.sqrt(square) if unit and square > 0.0 else 1.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            factor = factors[columns[k]]
            prepared[k] = values[k] * (scale if factor > 0.0 else -factor)
    return prepared


@jit
def unit_values(starts, values):
    """Return values over the length of their row."""
    scaled = np.empty_like(values)
    for i in range(starts.size - 1):
        square = 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            square += values[k] * values[k]
        scale = 1.0 / np.sqrt(square) if square > 0.0 else 1.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            scaled[k] = values[k] * scale
    return scaled
