"""What goes around learning: targets, and only rows that count."""

from typing import Any

import numpy as np
from scipy import sparse

from thresher.estimators.gathering import Labelled
from thresher.train import Sample

Lessons = tuple[list[np.ndarray], np.ndarray]  # targets of every problem, importance of the rows
NextLessons = tuple[Lessons, np.ndarray | None]  # with centre and unit of every row's number


def with_weight(
    rows: sparse.csr_array, targets: list[np.ndarray], importance: np.ndarray
) -> tuple[np.ndarray, sparse.csr_array, list[np.ndarray], np.ndarray]:
    """Return the numbers of the rows that count at all, and those rows; a copy only if it must."""
    kept = np.flatnonzero(importance)
    if kept.size == importance.size:
        return kept, rows, targets, importance
    return kept, rows[kept], [one[kept] for one in targets], importance[kept]


def sample_of(estimator: Any, some: Labelled | None) -> Sample | None:
    """Return some rows of a source as they came; None if nothing can be told from them."""
    lessons = None if some is None else estimator._sample_lessons(some.labels, some.weights)
    if some is None or lessons is None:
        return None
    _, rows, targets, importance = with_weight(some.rows, *lessons)
    return Sample(rows, targets, importance)


def learnt_by(estimator: Any, some: Sample) -> Sample:
    """Return rows that are as they came as an estimator learns them."""
    return some._replace(rows=estimator._as_learnt(some.rows))
