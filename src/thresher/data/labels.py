"""Labels as they were meant."""

import math

import numpy as np


def tidy_labels(labels: np.ndarray) -> np.ndarray:
    """Return whole numbers as integers: a file's 1 and 1.0 are the same class."""
    if labels.dtype.kind != "f" or not np.isfinite(labels).all():
        return labels
    whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels


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
