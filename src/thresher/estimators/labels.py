"""Labels and weights at the door: of one type, none missing, one for every row."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from thresher.rows import Rows

ClassWeight = Mapping[Any, float] | str


def check_labels(y: Any, n_rows: int) -> np.ndarray:
    """Return the labels as a vector of one type, one for every row."""
    if y is None:
        raise ValueError("A classifier requires y to be passed, but the target y is None.")
    refuse_unlearnable(y, "y")
    labels = column_or_1d(y, warn=True)
    _refuse_odd_vector(labels, n_rows)
    check_classification_targets(labels)
    return labels


def check_numbers(y: Any, n_rows: int) -> np.ndarray:
    """Return the targets of a regression as finite numbers, one for every row."""
    if y is None:
        raise ValueError("A regressor requires y to be passed, but the target y is None.")
    try:
        numbers = column_or_1d(y, warn=True)
        if numbers.dtype.kind in "mM":  # NumPy would count nanoseconds
            raise TypeError("dates and times are none")
        numbers = numbers.astype(np.float64)
    except (ValueError, TypeError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"The targets of a regression must be numbers: {reason}.") from None
    _refuse_odd_vector(numbers, n_rows)
    return numbers


def check_classes(classes: Any) -> np.ndarray:
    """Return the given classes, each once and in order."""
    refuse_unlearnable(classes, "classes")
    given = np.unique(np.asarray(classes))
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ValueError(f"classes={given.tolist()}: labels must be finite numbers, or strings.")
    if given.size < 2:
        raise ValueError(
            f"classes={given.tolist()} has only one class: a classifier needs two or more."
        )
    return given


def places_of(labels: np.ndarray, classes: np.ndarray, first: int = 0) -> np.ndarray:
    """Return each label's place among the classes, which are in order; all must be known.

    An error counts the rows from ``first``.
    """
    if (labels.dtype.kind in "biuf") == (classes.dtype.kind in "biuf"):
        places = classes.searchsorted(labels)
        places[places == classes.size] = 0
        known = classes[places] == labels
    else:  # strings and numbers: none is the same
        places, known = np.zeros(labels.size, np.int64), np.zeros(labels.size, np.bool_)
    if not known.all():
        row = int(np.argmin(known))
        label = labels[row : row + 1].tolist()[0]
        whole = isinstance(label, float) and label.is_integer()  # files have 7 where this has 7.0
        raise ValueError(
            f"The label {int(label) if whole else label!r} at row {first + row:,} is not among "
            f"the classes {classes.tolist()}. Name all classes beforehand (classes=)."
        )
    return places


def check_weights(sample_weight: Any, n_rows: int, first: int = 0) -> np.ndarray:
    """Return a weight for every row, none of them negative; errors count rows from ``first``."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.full(n_rows, sample_weight) if np.isscalar(sample_weight) else sample_weight
    try:
        weights = np.require(weights, np.float64, ["C", "W"])
    except (ValueError, TypeError) as error:
        raise ValueError(f"sample_weight must be a number for every row: {error}.") from None
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} rows: "
            "sample_weight.shape must be (n_rows,)."
        )
    good = np.isfinite(weights) & (weights >= 0)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            f"sample_weight is {weights[row]} at row {first + row:,}: weights must be finite and "
            "not negative. Use 0 to leave a row out."
        )
    return weights


def with_weight(
    rows: Rows, targets: np.ndarray, importance: np.ndarray
) -> tuple[Sequence[int] | np.ndarray, Rows, np.ndarray, np.ndarray]:
    """Return the numbers of the rows that count, and these; copies only if some do not."""
    if importance.all():
        return range(rows.n), rows, targets, importance
    kept = np.flatnonzero(importance)
    return kept, rows.at(kept), targets[kept], importance[kept]


# ------------------------------------------------------------------------------ class weights


def weights_of_classes(class_weight: Mapping[Any, float], classes: np.ndarray) -> np.ndarray:
    """Return the weight that a dict gives each class; those it leaves out have 1."""
    known = classes.tolist()
    unknown = [label for label in class_weight if label not in known]
    try:
        weights = np.array([float(class_weight.get(label, 1.0)) for label in known])
    except (ValueError, TypeError) as error:
        raise ValueError(f"class_weight={class_weight!r}: {error}.") from None
    if unknown:
        raise ValueError(f"class_weight={class_weight!r}: {unknown[0]!r} is not among {known}.")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"class_weight={class_weight!r}: weights must be finite and not negative.")
    if np.count_nonzero(weights) < 2:
        raise ValueError(
            f"class_weight={class_weight!r} gives only one class a weight above zero: a classifier "
            "needs two or more."
        )
    return weights


def class_importance(
    class_weight: ClassWeight, classes: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """Return the weight of every row's class, of rows that are all at hand.

    "balanced" is between the classes that occur.
    """
    if isinstance(class_weight, str):
        counts = np.bincount(places, minlength=classes.size)
        return (places.size / (np.count_nonzero(counts) * np.maximum(counts, 1)))[places]
    return weights_of_classes(class_weight, classes)[places]


def running_importance(
    class_weight: ClassWeight, classes: np.ndarray, places: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Return the weight of every row's class on a stream that has had such counts of classes.

    "balanced" is between the rows up to and including this one, so that chunks do not matter.
    """
    if not isinstance(class_weight, str):
        return class_importance(class_weight, classes, places)
    members = places[:, np.newaxis] == np.arange(classes.size)
    so_far = counts + np.cumsum(members, axis=0)
    return so_far.sum(axis=1) / (classes.size * so_far[members])


def refuse_one_class(places: np.ndarray, classes: np.ndarray, importance: np.ndarray) -> None:
    """Raise a ValueError if only rows of one class count, or none."""
    counting = np.unique(places[importance > 0])
    if not counting.size:
        raise ValueError("class_weight and sample_weight leave no row with a weight above zero.")
    if counting.size == 1:
        raise ValueError(
            f"Only rows of class {classes[counting].tolist()[0]!r} have a weight above zero "
            "(sample_weight times class_weight): a classifier needs rows of two classes or more."
        )


# ----------------------------------------------------------------------------------- refusing


def refuse_unlearnable(y: Any, what: str) -> None:
    """Raise a ValueError that names a label which is missing, a date, or of another type.

    NumPy would quietly make strings or numbers of them, or could not sort them.
    """
    kind = "O" if isinstance(y, list | tuple) else np.asarray(y).dtype.kind
    if kind not in "OmM":
        return
    from thresher.formats.labels import first_missing, first_time

    labels = np.atleast_1d(np.asarray(y, object if kind == "O" else None)).ravel()
    missing, dated = first_missing(labels), first_time(labels)
    if missing is not None:
        raise ValueError(
            f"{what}[{missing}] is missing ({labels[missing]!r}). Drop such rows, or give them a "
            "label of their own."
        )
    if dated is not None:
        raise ValueError(
            f"{what}[{dated}] is a date or a time ({labels[dated]!s}), and labels are numbers or "
            f"strings. Make strings of them: {what}.astype(str) does."
        )
    text = next((i for i, label in enumerate(labels) if isinstance(label, str)), None)
    other = next((i for i, label in enumerate(labels) if not isinstance(label, str)), None)
    if text is not None and other is not None:
        raise ValueError(
            f"Labels are of mixed type: {what}[{text}] is the string {labels[text]!r} and "
            f"{what}[{other}] is {labels[other]!r}. Make them all strings or all numbers."
        )


def _refuse_odd_vector(labels: np.ndarray, n_rows: int) -> None:
    """Raise a ValueError unless there is a finite number, or a string, for every row."""
    if labels.size != n_rows:
        raise ValueError(f"X has {n_rows} rows but y has {labels.size} labels.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        what = "NaN" if np.isnan(labels[row]) else "infinity (inf)"
        raise ValueError(f"Input y contains {what} at row {row}. Drop such rows.")
