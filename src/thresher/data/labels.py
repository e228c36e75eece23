"""Labels as they were meant."""

import math
from datetime import date, time, timedelta

import numpy as np

from thresher.data.errors import DataError

EXACT = 2**53  # from here on, several whole numbers are read as one
REGRESSOR = "ThresherRegressor (--method thresher-regressor) learns numbers."
TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)


def tidy_labels(labels: np.ndarray) -> np.ndarray:
    """Return whole numbers as integers: a file's 1 and 1.0 are the same class."""
    if labels.dtype.kind != "f" or not (np.abs(labels) < EXACT).all():
        return labels
    whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels


def check_told_apart(labels: np.ndarray) -> None:
    """Refuse classes that are numbers too large to be told from their neighbours."""
    if labels.dtype.kind != "f":
        return
    large = labels[np.abs(labels) >= EXACT]
    if large.size:
        raise DataError(
            f"The label {large[0]:.0f}, or one near it, is a number beyond 2^53, where neighbours "
            "cannot be told apart: give such labels as words, with a letter in front, say."
        )


def is_fraction(label: object) -> bool:
    """Return whether a label is a number that is not whole, which is hardly a class."""
    return isinstance(label, float) and math.isfinite(label) and not label.is_integer()


def first_time(labels: np.ndarray) -> int | None:
    """Return the place of the first label that is a date, a time or a span of time."""
    if labels.dtype.kind in "mM":
        return 0 if labels.size else None
    if labels.dtype.kind != "O":
        return None
    return next((i for i, label in enumerate(labels.flat) if isinstance(label, TIMES)), None)


def first_missing(labels: np.ndarray) -> int | None:
    """Return the place of the first label that there is none: None, NaN, or pandas' NA and NaT."""
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in labels], np.bool_)
    else:
        return None
    return int(missing.argmax()) if missing.any() else None


def _is_missing(label: object) -> bool:
    if isinstance(label, float):
        return math.isnan(label)
    return label is None or type(label).__name__ in ("NAType", "NaTType")
