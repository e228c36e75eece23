"""Data at the door: checked with messages that say where and what to do, then made canonical."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from thresher.data.matrix import canonical_csr, stay_within
from thresher.estimators.names import refuse_other_names
from thresher.estimators.not_numbers import refuse_same_names, refuse_times, refuse_words


def check_rows(estimator: BaseEstimator, X: Any, reset: bool) -> sparse.csr_array:
    """Return the rows in their canonical form, every number finite."""
    rows = canonical_csr(_validated(estimator, X, reset))
    refuse_non_finite(estimator, rows)
    return rows


def check_rows_to_judge(estimator: BaseEstimator, X: Any) -> sparse.csr_array:
    """Return rows for a fitted model; zeros may be among them, and numbers that are not finite."""
    return X if _ready(estimator, X) else canonical_csr(_validated(estimator, X, reset=False))


def _ready(estimator: Any, X: Any) -> bool:
    """Return whether rows need no checks of scikit-learn's, nor anything changed.

    Whether columns are in order is asked of the caller's own matrix, which remembers the answer.
    """
    return (
        sparse.issparse(X)
        and X.format == "csr"
        and X.dtype == np.float64
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and X.has_canonical_format
        and all(one.flags.carray for one in (X.data, X.indices, X.indptr))
        and stay_within(X)
    )


def _validated(estimator: BaseEstimator, X: Any, reset: bool) -> Any:
    refuse_same_names(X)
    refuse_times(X)
    if not reset:
        refuse_other_names(estimator, X)
    try:
        return validate_data(
            estimator,
            X,
            accept_sparse=("csr", "csc", "coo"),
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            reset=reset,
        )
    except (ValueError, TypeError):
        refuse_words(X)
        raise


def check_weights(sample_weight: Any, n_rows: int, first: int = 0) -> np.ndarray:
    """Return a weight for every row, none of them negative; the rows count from ``first`` on."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.full(n_rows, sample_weight) if np.isscalar(sample_weight) else sample_weight
    try:
        weights = np.asarray(weights, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"sample_weight must be a number for every row: {error}.") from None
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} rows: "
            "sample_weight.shape must be (n_rows,)."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise ValueError(
            f"sample_weight is {weights[wrong[0]]} at row {first + wrong[0]}: weights must be "
            "finite and not negative. Use 0 to leave a row out."
        )
    return weights


def check_some_weight(importance: np.ndarray, given: str) -> None:
    """Raise a ValueError if no row counts at all."""
    if not importance.any():
        raise ValueError(f"{given} no row with a weight above zero.")


def refuse_non_finite(estimator: BaseEstimator, rows: sparse.csr_array) -> None:
    """Raise a ValueError that says where the first number stands that is not finite."""
    wrong = np.flatnonzero(~np.isfinite(rows.data))
    if wrong.size:
        place = wrong[0]
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        column = rows.indices[place]
        names = getattr(estimator, "feature_names_in_", None)
        name = "" if names is None else f" ({names[column]!r})"
        what = "NaN" if np.isnan(rows.data[place]) else "infinity (inf)"
        raise ValueError(
            f"Input X contains {what} at row {row}, column {column}{name}. "
            "Drop such rows, or fill them in (sklearn.impute)."
        )
