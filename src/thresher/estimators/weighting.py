"""How much each row counts: sample weights times class weights."""

from collections.abc import Mapping

import numpy as np
from sklearn.utils.class_weight import compute_class_weight


def class_importance(
    class_weight: Mapping | str | None, classes: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Return the weight of every row's class, from rows that are all at hand.

    "balanced" is between the classes that occur in them.
    """
    if class_weight is None:
        return np.ones(labels.size)
    if isinstance(class_weight, str):
        classes = np.unique(labels)  # of those that are known, some may not occur
    try:
        weights = compute_class_weight(class_weight, classes=classes, y=labels)
    except (ValueError, TypeError) as error:
        raise ValueError(f"class_weight={class_weight!r}: {error}.") from None
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"class_weight={class_weight!r}: weights must be finite and not negative.")
    if np.count_nonzero(weights) == 1 < classes.size:
        raise ValueError(
            f"class_weight={class_weight!r} gives only one class a weight above zero: a classifier "
            "needs two or more."
        )
    return weights[np.searchsorted(classes, labels)]


def running_class_importance(
    class_weight: Mapping | str | None,
    classes: np.ndarray,
    labels: np.ndarray,
    counts: np.ndarray,
) -> np.ndarray:
    """Return the weight of every row's class on a stream, and add the rows to ``counts``.

    "balanced" means the rows up to and including this one, so that chunks do not matter.
    """
    members = labels[:, None] == classes
    so_far = counts + np.cumsum(members, axis=0)
    counts += members.sum(axis=0)
    if not isinstance(class_weight, str):
        return class_importance(class_weight, classes, labels)
    return so_far.sum(axis=1) / (classes.size * so_far[members])
