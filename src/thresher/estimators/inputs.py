"""Data at the door: checked with messages that say where and what to do, then made canonical."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d, validate_data

from thresher.data.matrix import canonical_csr


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
    )


def _validated(estimator: BaseEstimator, X: Any, reset: bool) -> Any:
    return validate_data(
        estimator,
        X,
        accept_sparse=("csr", "csc", "coo"),
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        reset=reset,
    )


def check_labels(y: Any, n_rows: int) -> np.ndarray:
    """Return the labels as a vector of one type, one for every row."""
    _refuse_mixed_types(y)
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    _refuse_other_length(labels, n_rows)
    return labels


def check_numbers(y: Any, n_rows: int) -> np.ndarray:
    """Return the targets of a regression as finite numbers, one for every row."""
    try:
        numbers = column_or_1d(y, warn=True).astype(np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"The targets of a regression must be numbers: {error}.") from None
    assert_all_finite(numbers, input_name="y")
    _refuse_other_length(numbers, n_rows)
    return numbers


def _refuse_other_length(labels: np.ndarray, n_rows: int) -> None:
    if labels.size != n_rows:
        raise ValueError(f"X has {n_rows} rows but y has {labels.size} labels.")


def check_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return a weight for every row, none of them negative."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.full(n_rows, sample_weight) if np.isscalar(sample_weight) else sample_weight
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} rows: "
            "sample_weight.shape must be (n_rows,)."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise ValueError(
            f"sample_weight is {weights[wrong[0]]} at row {wrong[0]}: weights must be finite and "
            "not negative. Use 0 to leave a row out."
        )
    return weights


def check_some_weight(importance: np.ndarray, given: str) -> None:
    """Raise a ValueError if no row counts at all."""
    if not importance.any():
        raise ValueError(f"{given} no row with a weight above zero.")


def check_classes_seen(labels: np.ndarray, classes: np.ndarray) -> None:
    """Raise a ValueError that names a label which is none of the known classes."""
    unknown = np.flatnonzero(~np.isin(labels, classes))
    if unknown.size:
        raise ValueError(
            f"The label {labels[unknown[0]]!r} at row {unknown[0]} is not among the classes "
            f"{classes.tolist()}. Name all classes in the first call to partial_fit."
        )


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
            "Drop such rows or fill them in (sklearn.impute) before training."
        )


def _refuse_mixed_types(y: Any) -> None:
    """Raise a ValueError where NumPy would quietly make strings of numbers."""
    if isinstance(y, list | tuple) or np.asarray(y).dtype.kind == "O":
        y = list(y)  # a pandas Series may have any index
        kinds = {isinstance(label, str) for label in y}
        if len(kinds) > 1:
            number = next(i for i, label in enumerate(y) if not isinstance(label, str))
            text = next(i for i, label in enumerate(y) if isinstance(label, str))
            raise ValueError(
                f"Labels are of mixed type: y[{text}] is the string {y[text]!r} and y[{number}] is "
                f"{y[number]!r}. Make them all strings or all numbers."
            )
