"""Labels at the door: of one type, none missing, one for every row."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from thresher.data.labels import first_missing, first_time


def check_labels(y: Any, n_rows: int) -> np.ndarray:
    """Return the labels as a vector of one type, one for every row."""
    _refuse_mixed_types(y, "y")
    labels = column_or_1d(y, warn=True)
    _refuse_times(labels, "y")
    if labels.dtype.kind == "f":
        _refuse_non_finite(labels)
    check_classification_targets(labels)
    _refuse_other_length(labels, n_rows)
    return labels


def check_numbers(y: Any, n_rows: int) -> np.ndarray:
    """Return the targets of a regression as finite numbers, one for every row."""
    try:
        numbers = column_or_1d(y, warn=True)
        if numbers.dtype.kind in "mM":  # NumPy would count nanoseconds
            raise TypeError("dates and times are none")
        numbers = numbers.astype(np.float64)
    except (ValueError, TypeError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"The targets of a regression must be numbers: {reason}.") from None
    _refuse_non_finite(numbers)
    _refuse_other_length(numbers, n_rows)
    return numbers


def check_classes(classes: Any) -> np.ndarray:
    """Return the labels that are said to be all there are, each once and in order."""
    _refuse_mixed_types(classes, "classes")
    told = np.asarray(classes)
    _refuse_times(told, "classes")
    told = np.unique(told)
    if told.dtype.kind == "f" and not np.isfinite(told).all():
        raise ValueError(f"classes={told.tolist()}: labels must be finite numbers, or words.")
    if told.size < 2:
        raise ValueError(f"classes={told.tolist()} name one class: a classifier needs two or more.")
    return told


def check_classes_seen(labels: np.ndarray, classes: np.ndarray) -> None:
    """Raise a ValueError that names a label which is none of the known classes."""
    unknown = np.flatnonzero(~np.isin(labels, classes))
    if unknown.size:
        raise ValueError(
            f"The label {labels[unknown[:1]].tolist()[0]!r} at row {unknown[0]} is not among the "
            f"classes {classes.tolist()}. Name all classes in the first call to partial_fit."
        )


def check_classes_count(labels: np.ndarray, importance: np.ndarray) -> None:
    """Raise a ValueError if only rows of one class count."""
    counting = np.unique(labels[importance > 0])
    if counting.size < 2:
        raise ValueError(
            f"Only rows of class {counting.tolist()[0]!r} have a weight above zero (sample_weight "
            "times class_weight): a classifier needs rows of two classes or more."
        )


def _refuse_other_length(labels: np.ndarray, n_rows: int) -> None:
    if labels.size != n_rows:
        raise ValueError(f"X has {n_rows} rows but y has {labels.size} labels.")


def _refuse_non_finite(numbers: np.ndarray) -> None:
    try:
        with np.errstate(invalid="ignore"):  # it adds them up, be they ever so large
            assert_all_finite(numbers, input_name="y")
    except ValueError as error:
        row = np.flatnonzero(~np.isfinite(numbers))[0]
        raise ValueError(f"{error} The first is at row {row}: drop such rows.") from None


def _refuse_times(labels: np.ndarray, what: str) -> None:
    """Raise a ValueError for labels that could be learnt, but not be kept in a model's file."""
    dated = first_time(labels)
    if dated is not None:
        raise ValueError(
            f"{what}[{dated}] is a date or a time ({labels.flat[dated]!s}), and labels are numbers "
            f"or strings. Make strings of them: {what}.astype(str) does."
        )


def _refuse_mixed_types(y: Any, what: str) -> None:
    """Raise a ValueError where NumPy would quietly make strings of numbers, or could not sort."""
    if not isinstance(y, list | tuple) and np.asarray(y).dtype.kind != "O":
        return
    labels = np.asarray(y, object)
    if labels.ndim == 0:
        return
    labels = labels.ravel()  # a pandas Series may have any index
    missing = first_missing(labels)
    if missing is not None:
        raise ValueError(
            f"{what}[{missing}] is missing ({labels[missing]!r}). Drop such rows, or give them a "
            "label of their own."
        )
    text = next((i for i, label in enumerate(labels) if isinstance(label, str)), None)
    other = next((i for i, label in enumerate(labels) if not isinstance(label, str)), None)
    if text is not None and other is not None:
        raise ValueError(
            f"Labels are of mixed type: {what}[{text}] is the string {labels[text]!r} and "
            f"{what}[{other}] is {labels[other]!r}. Make them all strings or all numbers."
        )
