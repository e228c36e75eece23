"""Columns in units far from those of most others: how to tell them, and what to say.

A column's size is the root mean square of its nonzero values. Text, counts, marks and spectra keep
within a factor of ten of the median column, and of a hundred only in columns of one or two rows.
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.vocabulary import as_columns
from thresher.estimators.describing import names_of
from thresher.kernels.slots import column_sums, translate

FAR = 100.0  # times the median size, or that part of it
FEWEST_ROWS = 3  # in which a column must occur before anything is said of its unit
SMALLEST, LARGEST = 1e-150, 1e150  # sizes whose squares are still numbers
NAMED = 5  # columns that a warning names


def column_sizes(slots: np.ndarray, values: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each slot's root mean square of values, and how many it has."""
    counts, squares = np.zeros(n, np.uint32), np.zeros(n)
    column_sums(slots, values, counts, squares)
    return np.clip(np.sqrt(squares / np.maximum(counts, 1)), SMALLEST, LARGEST), counts


def odd_columns(sizes: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the columns whose size is far from the median, and the median.

    There are none unless one of them occurs in several rows: a single value tells no unit.
    """
    judged = counts >= FEWEST_ROWS
    if not judged.any():
        return np.zeros(0, np.int64), 1.0
    median = float(np.median(sizes[judged]))
    ratio = sizes / median
    far = (ratio > FAR) | ((ratio < 1 / FAR) & (counts > 0))
    return np.flatnonzero(far & (far & judged).any()), median


def warn_of_odd_units(estimator: Any, rows: sparse.csr_array) -> None:
    """Warn if some columns of the rows just learnt drown the others, or are drowned."""
    vocabulary = estimator._model.vocabulary
    slots = translate(as_columns(rows.indices), vocabulary.slot_of)
    sizes, counts = column_sizes(slots, rows.data, len(vocabulary))
    odd, median = odd_columns(sizes, counts)
    if not odd.size:
        return
    farthest = odd[np.argsort(-np.abs(np.log(sizes[odd] / median)), kind="stable")][:NAMED]
    names = ", ".join(names_of(estimator, vocabulary["columns"][farthest]))
    more = f" and {odd.size - farthest.size:,} more" if odd.size > farthest.size else ""
    warnings.warn(
        f"Columns are in very different units: the values of {names}{more} are more than "
        f"{FAR:.0f} times larger or smaller than those of most columns. Bring them to one scale: "
        f"make_pipeline(thresher.UnitScaler(), {type(estimator).__name__}(...)).",
        UserWarning,
        stacklevel=3,
    )
