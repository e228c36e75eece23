"""Columns whose values all lie far to one side of zero: how to tell them, and what to say.

Zero means "nothing there" in sparse rows, and no column of such rows is far from it. Measurements
are another matter: gene expressions, lengths and weights differ little from row to row, and what is
common to all rows drowns what tells them apart.
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from thresher.estimators.describing import names_of

FAR = 2.0  # standard deviations between the mean and zero
FEWEST_ROWS = 10  # from which a deviation can be told
FEWEST_COLUMNS = 10  # a handful is learnt as well as it comes
NAMED = 5  # columns that are named


def far_columns(rows: sparse.csr_array) -> np.ndarray:
    """Return the columns far from zero, the farthest first; none unless most columns are."""
    n_rows, n_columns = rows.shape
    if n_rows < FEWEST_ROWS or n_columns < FEWEST_COLUMNS or 2 * rows.nnz < n_rows * n_columns:
        return np.zeros(0, np.int64)
    sums = np.bincount(rows.indices, rows.data, n_columns)
    squares = np.bincount(rows.indices, rows.data**2, n_columns)
    means = np.abs(sums) / n_rows
    spreads = np.sqrt(np.maximum(squares / n_rows - means**2, 0.0))
    far = np.flatnonzero((means > FAR * spreads) & (spreads > 0))
    if 2 * far.size <= n_columns:
        return np.zeros(0, np.int64)
    return far[np.argsort(-means[far] / spreads[far], kind="stable")]


def warn_of_offsets(estimator: Any, rows: sparse.csr_array) -> None:
    """Warn if most columns lie far from zero."""
    with np.errstate(over="ignore", invalid="ignore"):
        far = far_columns(rows)
    if not far.size:
        return
    names = ", ".join(names_of(estimator, far[:NAMED]))
    more = f" and {far.size - NAMED:,} more" if far.size > NAMED else ""
    name, unscaled = type(estimator).__name__, hasattr(estimator, "normalize")
    warnings.warn(
        f"Most columns lie far from zero: the means of {names}{more} are more than {FAR:.0f} "
        "standard deviations away from it. Such rows look much alike, and are hard to learn. Bring "
        "columns to mean 0: make_pipeline(sklearn.preprocessing.StandardScaler(), "
        f"{name}({'normalize=False, ' if unscaled else ''}...)).",
        UserWarning,
        stacklevel=3,
    )
