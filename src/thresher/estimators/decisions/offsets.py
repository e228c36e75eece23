"""Columns whose values lie far to one side of zero: how to tell them, and what to say.

Zero means "nothing there" in sparse rows, and few columns of such rows are far from it.
Measurements are another matter: gene expressions, lengths and weights differ little from row to
row, and what is common to all rows drowns what tells them apart. Where most columns have a value in
nearly all rows, and some of these lie far from zero, rows are measurements, and zero says nothing
in any such column.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.column_offsets import ColumnOffsets
from thresher.estimators.decisions.units import Sizes
from thresher.estimators.names import names_of

FAR = 2.0  # standard deviations between the mean and zero
OFTEN = FAR**2 / (1 + FAR**2)  # no column that has fewer values than this share can be that far
ALIKE = 0.1  # of their mean, the deviation of values that are one and the same mark
LARGER = 2.0  # times the median size: what no mark among marks is
FEWEST_ROWS = 10  # from which a deviation can be told
FEWEST_COLUMNS = 10  # of which anybody is warned
NAMED = 5  # columns that are named

REMEDY = "Bring columns to mean 0: make_pipeline(sklearn.preprocessing.StandardScaler(), {model})."
STREAM_REMEDY = (
    "A stream is learnt as it comes: begin anew, with scaler = sklearn.preprocessing."
    "StandardScaler().fit(some_rows), and give {model} scaler.transform(rows)."
)


@dataclass(frozen=True)
class FarColumns:
    """Columns far from zero, or measured as such are: places among all, means, deviations."""

    columns: np.ndarray
    places: np.ndarray
    means: np.ndarray
    spreads: np.ndarray

    @classmethod
    def in_rows(cls, rows: sparse.csr_array, sizes: Sizes) -> "FarColumns":
        """Return those among columns of known counts; none of few rows."""
        often, far, _ = cls._told(rows, sizes)
        return often._only(far)

    @classmethod
    def to_measure(cls, rows: sparse.csr_array, sizes: Sizes) -> "FarColumns":
        """Return those, and with them all that are measured as they are."""
        often, far, measured = cls._told(rows, sizes)
        most = 2 * len(often) > sizes.columns.size
        return often._only(measured if most and (often.spreads[far] > 0).any() else far)

    @classmethod
    def _told(
        cls, rows: sparse.csr_array, sizes: Sizes
    ) -> tuple["FarColumns", np.ndarray, np.ndarray]:
        """Return the columns with values in nearly all rows; which are far, or could be measured.

        Marks are neither: there zero says no.
        """
        few = rows.shape[0] < FEWEST_ROWS
        places = np.flatnonzero((sizes.counts > OFTEN * rows.shape[0]) & (not few))
        columns = sizes.columns[places]
        if not places.size:
            nowhere = np.zeros(0, np.bool_)
            return cls(columns, places, np.zeros(0), np.zeros(0)), nowhere, nowhere
        with np.errstate(over="ignore", invalid="ignore"):
            means, spreads = _moments(rows, columns)
            measured = np.isfinite(means) & np.isfinite(spreads) & (means != 0)
            measured &= ~_are_marks(sizes, places, means, rows.shape[0])
            far = measured & (np.abs(means) > FAR * spreads)
        return cls(columns, places, means, spreads), far, measured

    def _only(self, mask: np.ndarray) -> "FarColumns":
        return FarColumns(
            self.columns[mask], self.places[mask], self.means[mask], self.spreads[mask]
        )

    def __len__(self) -> int:
        return self.columns.size

    def offsets(self) -> ColumnOffsets | None:
        """Return what brings the columns to zero; None if there are none."""
        if not len(self):
            return None
        ascending = np.argsort(self.columns)
        return ColumnOffsets(self.columns[ascending], self.means[ascending])

    def names(self, estimator: Any) -> str:
        """Return the names of the farthest, and how many more there are."""
        with np.errstate(divide="ignore"):
            ahead = np.argsort(-np.abs(self.means) / self.spreads, kind="stable")[:NAMED]
        names = ", ".join(names_of(estimator, self.columns[ahead]))
        return names + (f" and {len(self) - NAMED:,} more" if len(self) > NAMED else "")


def _moments(rows: sparse.csr_array, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of columns; that of a constant is exactly 0."""
    n_rows, n_columns = rows.shape
    place_of = np.full(n_columns, -1, np.int32 if columns.size < 2**31 else np.int64)
    place_of[columns] = np.arange(columns.size)
    places = place_of[rows.indices]
    mine = places >= 0
    values, places = rows.data[mine], places[mine]
    some = np.empty(columns.size)
    some[places] = values  # any value of each column: what is left of others loses no digits
    missing = n_rows - np.bincount(places, minlength=columns.size)
    total = np.bincount(places, values - some[places], columns.size) - missing * some
    means = some + total / n_rows
    squares = np.bincount(places, (values - means[places]) ** 2, columns.size)
    return means, np.sqrt((squares + missing * means**2) / n_rows)


def _are_marks(sizes: Sizes, places: np.ndarray, means: np.ndarray, n_rows: int) -> np.ndarray:
    """Return which columns have zero, where it says no, and hardly more than one other value.

    A mark is as large as others are. Where it is larger, what it drowns is worth more than it.
    """
    counts, stored = sizes.counts[places], means * n_rows / sizes.counts[places]
    spreads = np.sqrt(np.maximum(sizes.sizes[places] ** 2 - stored**2, 0.0))
    alike = (counts < n_rows) & (spreads < ALIKE * np.abs(stored))
    return alike & (sizes.ratios[places] < LARGER)


def shifted_words(estimator: Any) -> str | None:
    """Say which columns are learnt as differences from their means; None if there are no such."""
    if estimator._offsets is None:
        return None
    columns = estimator._offsets.columns
    names = ", ".join(names_of(estimator, columns[:NAMED]))
    more = f" and {columns.size - NAMED:,} more" if columns.size > NAMED else ""
    what = "1 column lies" if columns.size == 1 else f"{columns.size:,} columns lie"
    return (
        f"{what} far from zero, and what is learnt is the difference from the mean: {names}{more}."
    )


def warn_of_offsets(estimator: Any, rows: sparse.csr_array, stream: bool = False) -> bool:
    """Warn if most columns lie far from zero; return whether they do."""
    if 2 * rows.nnz < rows.shape[0] * rows.shape[1]:
        return False
    sizes = Sizes.in_rows(rows)
    if sizes.columns.size < FEWEST_COLUMNS:
        return False
    far = FarColumns.in_rows(rows, sizes)
    if 2 * np.count_nonzero(far.spreads) <= sizes.columns.size:
        return False
    name = type(estimator).__name__
    settings = "normalize=False, ..." if hasattr(estimator, "normalize") else "..."
    remedy = (STREAM_REMEDY if stream else REMEDY).format(model=f"{name}({settings})")
    warnings.warn(
        f"Most columns lie far from zero: the means of {far.names(estimator)} are more than "
        f"{FAR:.0f} standard deviations away from it. Such rows look much alike, and are hard to "
        f"learn. {remedy}",
        UserWarning,
        stacklevel=5 if stream else 3,
    )
    return True
