"""Labels as they were meant."""

import numpy as np


def tidy_labels(labels: np.ndarray) -> np.ndarray:
    """Return whole numbers as integers: a file's 1 and 1.0 are the same class."""
    if labels.dtype.kind != "f" or not np.isfinite(labels).all():
        return labels
    whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels
