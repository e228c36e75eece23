"""Columns in units far from those of most others: how to tell them, what helps, and what to say.

A column's size is the root mean square of its nonzero values. Text, marks and spectra keep
within a factor of ten of the median column, and of a hundred only in columns of one or two rows.
"""

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.column_scales import ColumnScales
from thresher.data.vocabulary import Vocabulary
from thresher.estimators.names import names_of

FAR = 100.0  # times the median size, or that part of it
FEWEST_ROWS = 3  # in which a column must occur before anything is said of its unit
APART = 10.0  # times the median size, or that part of it: where sizes of one unit end
TELLING_ROWS = 10  # in which a column must occur to say that sizes mean nothing
DENSE = 0.5  # of the rows, which measurements have values in
SMALLEST, LARGEST = 1e-150, 1e150  # sizes whose squares are still numbers
NAMED = 5  # columns that are named
NOWHERE = np.zeros(0, np.int64)
FIRST_LOOK, WATCHED = 64, 1 << 13  # rows after which a stream is first judged, and last

REMEDY = "Bring them to one scale: make_pipeline(thresher.UnitScaler(), {name}(...))."
STREAM_REMEDY = (
    "A stream that passes once is learnt as it comes: begin anew, with scaler = "
    "thresher.UnitScaler().fit(some_rows), and give {name} scaler.transform(rows). fit, and "
    "fit_stream of files, bring columns to one scale by themselves."
)


@dataclass(frozen=True)
class Sizes:
    """Which columns have occurred, in how many rows each, and how large their values are."""

    columns: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, seen: Vocabulary) -> "Sizes":
        """Return those of the rows that a vocabulary has taken in as they were."""
        counts = seen["occurrences"]
        sizes = np.sqrt(seen["squares"] / np.maximum(counts, 1))
        return cls(seen["columns"], counts, np.clip(sizes, SMALLEST, LARGEST))

    @classmethod
    def in_rows(cls, rows: sparse.csr_array) -> "Sizes":
        """Return those in some rows."""
        return cls.of(_taken_in(rows, Vocabulary(rows.shape[1])))

    @cached_property
    def ratios(self) -> np.ndarray:
        """Return sizes over the median one, as far as columns occur in several rows."""
        judged = self.counts >= FEWEST_ROWS
        return self.sizes / (np.median(self.sizes[judged]) if judged.any() else 1.0)

    def odd(self) -> np.ndarray:
        """Return the places of the columns that are far from the median, the farthest first.

        There are none unless one of them occurs in several rows: a single value tells no unit.
        """
        judged, ratios = self.counts >= FEWEST_ROWS, self.ratios
        far = (ratios > FAR) | ((ratios < 1 / FAR) & (self.counts > 0))
        if not (far & judged).any():
            return np.zeros(0, np.int64)
        places = np.flatnonzero(far)
        return places[np.argsort(-np.abs(np.log(ratios[places])), kind="stable")]

    def around(self, places: np.ndarray, spreads: np.ndarray, n_rows: int) -> "Sizes":
        """Return the sizes where the columns at some places are differences from their means."""
        counts, sizes = self.counts.copy(), self.sizes.copy()
        counts[places] = np.where(spreads > 0, n_rows, 0)  # a constant occurs no more
        sizes[places] = np.clip(spreads, SMALLEST, LARGEST)
        return Sizes(self.columns, counts, sizes)

    def scales(self, shape: tuple[int, int], measured: np.ndarray = NOWHERE) -> ColumnScales | None:
        """Return what brings the columns of a table to one unit; None if they all are in one.

        Odd ones are multiplied by the power of 1000 that brings them nearest to the others. Those
        at the places that are ``measured``, or whose sizes say as little, get the median size.
        """
        odd, factors = self.odd(), np.ones(self.sizes.size)
        factors[odd] = 1000.0 ** np.round(-np.log10(self.ratios[odd]) / 3)
        near = Sizes(self.columns, self.counts, self.sizes * factors) if odd.size else self
        levelled = np.union1d(near.without_unit(shape[0], measured), measured)
        if not (odd.size or levelled.size):
            return None
        ratios = near.ratios[levelled] / factors[levelled]
        factors[levelled] = np.where(self.counts[levelled] > 0, 1.0 / ratios, 0.0)
        return ColumnScales.of(self.columns, factors, shape[1])

    def without_unit(self, n_rows: int, measured: np.ndarray = NOWHERE) -> np.ndarray:
        """Return the places of columns whose sizes say nothing; those ``measured`` are not asked.

        They are the columns far apart from most others, and if there are such, all that have a
        value in most rows: counts of genes, or measurements that happen to be near zero. Apart is
        who is so with zeros counted in, too: rare columns of unit variance have large values, and
        that is no accident.
        """
        ratios, counted = self.ratios, self.counts >= TELLING_ROWS
        with_zeros = self.sizes * np.sqrt(self.counts / n_rows)
        shares = with_zeros / (np.median(with_zeros[counted]) if counted.any() else 1.0)
        larger, smaller = np.minimum(ratios, shares) > APART, np.maximum(ratios, shares) < 1 / APART
        apart = counted & (larger | smaller)
        apart[measured] = False
        if not apart.any():
            return NOWHERE
        return np.flatnonzero(apart | (self.counts >= DENSE * n_rows))


@dataclass
class UnitWatch:
    """Looks at the first rows of a stream, which is learnt before its units can be known."""

    rows: int = 0
    due: int = FIRST_LOOK
    seen: Vocabulary = field(default_factory=lambda: Vocabulary(0))

    def sees_enough(self, estimator: Any, rows: sparse.csr_array) -> bool:
        """Look at some rows, and warn of what they show; return whether to look no more."""
        _taken_in(rows, self.seen)
        self.rows += rows.shape[0]
        if self.rows < self.due:
            return False
        self.due = min(2 * self.rows, WATCHED)
        return warn_of_odd_units(estimator, Sizes.of(self.seen), True) or self.rows >= WATCHED


def warn_of_odd_units(estimator: Any, sizes: Sizes, stream: bool = False) -> bool:
    """Warn if some columns drown the others, or are drowned; return whether there are such."""
    odd = sizes.odd()
    if not odd.size:
        return False
    names = ", ".join(names_of(estimator, sizes.columns[odd[:NAMED]]))
    remedy = (STREAM_REMEDY if stream else REMEDY).format(name=type(estimator).__name__)
    warnings.warn(
        f"Columns are in very different units: the values of {names}{_more(odd)} are more than "
        f"{FAR:.0f} times larger or smaller than those of most columns. {remedy}",
        UserWarning,
        stacklevel=3 if not stream else 6,
    )
    return True


def rescaled_words(estimator: Any) -> str | None:
    """Say which columns were brought to the unit of the others; None if there are no such."""
    if estimator._rarity:
        return estimator._units_said
    if estimator._scales is None:
        return None
    factors = estimator._scales.factors
    odd = np.flatnonzero((factors != 0) & (factors != 1))
    if estimator._offsets is not None:
        odd = np.setdiff1d(odd, estimator._offsets.columns)
    if not odd.size:
        return None
    odd = odd[np.argsort(-np.abs(np.log(factors[odd])), kind="stable")]
    first = odd[:NAMED]
    named = zip(names_of(estimator, first), factors[first].tolist(), strict=True)
    words = ", ".join(f"{name} times {factor:g}" for name, factor in named)
    what = "1 column was" if odd.size == 1 else f"{odd.size:,} columns were"
    return f"{what} brought to the unit of the others: {words}{_more(odd)}."


def _taken_in(rows: sparse.csr_array, seen: Vocabulary) -> Vocabulary:
    """Return a vocabulary that has counted the rows, too."""
    with np.errstate(over="ignore"):
        seen.count(rows)
    return seen


def _more(odd: np.ndarray) -> str:
    return f" and {odd.size - NAMED:,} more" if odd.size > NAMED else ""
