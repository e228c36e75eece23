"""Amounts that drown each other: how to tell them, and what to say.

Amounts of very different sizes stand in one row where words, clicks or molecules are counted. A
word that a long document has a hundred times does not say a hundred times as much as one that it
has once, but makes up nearly all of the row's length.
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.matrix import count_columns
from thresher.estimators.decisions.units import Sizes
from thresher.kernels.margins import lengths

# Measured by ``python -m experiments.roots``.
UNEVEN = 1 / 8  # of a row's values, the share that makes up its length where others are drowned
SPARSE = 0.5  # of the cells, more of which amounts do not fill
MOST_ROWS = 1_000  # that are looked at
FEWEST_ROWS = 64  # of a stream, before anything is said of them


def drown_each_other(rows: sparse.csr_array) -> bool:
    """Return whether rows are of amounts, few of which make up all of a usual row's length.

    Columns in other units drown the others too, but are brought to one unit all the same.
    """
    if not (rows.nnz and are_uneven(rows) and are_amounts(rows, count_columns(rows))):
        return False
    scales = Sizes.in_rows(rows).scales(rows.shape)
    return scales is None or are_uneven(scales.scaled(rows))


def are_amounts(rows: sparse.csr_array, n_columns: int) -> bool:
    """Return whether values are amounts: never negative, and in no more than half of the cells.

    ``n_columns`` are those that occur.
    """
    filled = SPARSE * rows.shape[0] * n_columns
    return bool(0 < rows.nnz <= filled and rows.data.min() >= 0)


def are_uneven(rows: sparse.csr_array) -> bool:
    """Return whether few values make up all of a usual row's length; some rows are looked at."""
    shares = even_shares(rows[:: -(-rows.shape[0] // MOST_ROWS)])
    return bool(shares.size and np.median(shares) < UNEVEN)


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def even_shares(rows: sparse.csr_array) -> np.ndarray:
    """Return, for every row with values, as how large a share of them equal ones would count.

    It is (sum x^2)^2 / (n sum x^4): 1 where all n values are the same, 1/n where one is all there
    is. Rows whose numbers overflow count as even.
    """
    starts = rows.indptr.astype(np.int64, copy=False)
    counts = np.diff(starts)
    whole, fourth = lengths(starts, rows.data), lengths(starts, rows.data**2)
    shares = ((whole / fourth) * whole) ** 2 / counts
    return np.where(np.isfinite(shares), shares, 1.0)[counts > 0]


def warn_of_drowned(estimator: Any, rows: sparse.csr_array) -> bool:
    """Warn if a stream's values drown each other and nobody said how to take them.

    Return whether they do.
    """
    unsaid = getattr(estimator, "value_power", 1.0) == "auto"
    if not unsaid or rows.shape[0] < FEWEST_ROWS or not drown_each_other(rows):
        return False
    warnings.warn(
        "A few values make up nearly all of each row's length, as counts of words in long documents"
        " do, and drown the others. Their square roots mostly tell far more: begin anew, with "
        "value_power=0.5, or leave values as they are with value_power=1. fit, and fit_stream of "
        "files, find out by themselves.",
        UserWarning,
        stacklevel=5,
    )
    return True
