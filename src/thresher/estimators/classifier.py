"""Linear models of classes: one weight vector for two, else one for each against the rest."""

from abc import ABCMeta
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from thresher.data.errors import DataError
from thresher.data.labels import REGRESSOR, check_told_apart, is_fraction
from thresher.data.sources.classes import with_classes
from thresher.data.sources.protocol import Source
from thresher.estimators.base import MakeLearner, OnlineModel
from thresher.estimators.inputs import check_some_weight
from thresher.estimators.label_inputs import (
    check_classes,
    check_classes_count,
    check_classes_seen,
    check_labels,
)
from thresher.estimators.lessons import Lessons, NextLessons
from thresher.estimators.linear_classifier import LinearClassifier
from thresher.estimators.parameters import CLASSIFYING, Constraints
from thresher.estimators.progressive import ProgressiveClasses
from thresher.estimators.weighting import class_importance, running_class_importance
from thresher.files import access


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineClassifier(LinearClassifier, OnlineModel, metaclass=ABCMeta):
    """A linear classifier that learns one row at a time.

    Parameters
    ----------
    loss : "hinge", "log_loss", "squared_hinge" or "modified_huber"
        What is minimised.
    class_weight : dict, "balanced" or None
        Weights of classes; "balanced" counts the rows in ``fit``, of the classes that occur, and
        the rows so far in ``partial_fit``.
    """

    constraints: ClassVar[Constraints] = CLASSIFYING

    loss: str = "log_loss"
    class_weight: Any = None

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the next rows of a stream, in the order given.

        However the stream is cut into calls, the result is the same to the last bit. If a call
        fails, nothing of it is kept.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        classes : array, needed in the first call
            All labels that will ever occur.
        """
        told = None if classes is None else check_classes(classes)
        if told is not None and hasattr(self, "_model"):
            self._refuse_other(told)
        return self._learn_next(X, y, sample_weight, told)

    def _refuse_other(self, classes: np.ndarray) -> None:
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"classes={classes.tolist()} differ from those of the first call, "
                f"{self.classes_.tolist()}. Leave classes out, or start with a new estimator."
            )

    def _check_labels(self, y: Any, n_rows: int) -> np.ndarray:
        return check_labels(y, n_rows)

    def _begin_with(self, labels: np.ndarray | None, make_learner: MakeLearner) -> None:
        if labels is None:
            raise ValueError("The first call to partial_fit needs classes=, all labels there are.")
        classes = np.unique(labels)
        if classes.size < 2:
            raise ValueError(
                f"y has only one class, {classes.tolist()[0]!r}: a classifier needs rows of two or "
                "more."
            )
        self.classes_ = classes
        self._class_counts = np.zeros(classes.size, np.int64)
        self._begin(make_learner)

    def _begin_source(self, source: Source, told: Any, make_learner: MakeLearner) -> Source:
        if told is None:
            source, told = with_classes(source)
        else:
            told = check_classes(told)
        del self.feature_names_in_
        self._begin_with(np.asarray(told), make_learner)
        return source

    def _refuse_strange(self, labels: np.ndarray) -> None:
        check_classes_seen(labels, self.classes_)

    def _chunk_labels(self, labels: np.ndarray, first: int) -> np.ndarray:
        check_told_apart(labels)
        unknown = np.flatnonzero(~np.isin(labels, self.classes_))
        if unknown.size:
            label = labels[unknown[:1]].tolist()[0]
            advice = f" {REGRESSOR}" if is_fraction(label) else ""
            raise DataError(
                f"The label {label!s} of row {first + unknown[0]:,} is not among the "
                f"classes {', '.join(map(str, self.classes_))}. Name all classes beforehand "
                f"(classes=, or --classes on the command line).{advice}"
            )
        return labels if labels.dtype == object else labels.astype(self.classes_.dtype)

    def _lessons(self, labels: np.ndarray, weights: np.ndarray) -> Lessons:
        importance = weights * class_importance(self.class_weight, self.classes_, labels)
        check_some_weight(importance, "class_weight and sample_weight leave")
        check_classes_count(labels, importance)
        return self._targets(labels), importance

    def _sample_lessons(self, labels: np.ndarray, weights: np.ndarray) -> Lessons | None:
        if not np.array_equal(np.unique(labels), self.classes_):
            return None
        importance = weights * class_importance(self.class_weight, self.classes_, labels)
        return self._targets(labels), importance

    def _next_lessons(self, labels: np.ndarray, weights: np.ndarray) -> NextLessons:
        self._class_counts = self._class_counts.copy()
        importance = weights * running_class_importance(
            self.class_weight, self.classes_, labels, self._class_counts
        )
        return (self._targets(labels), importance), None

    def _targets(self, labels: np.ndarray) -> list[np.ndarray]:
        """Return -1 and +1 for every problem."""
        positive = [self._positive(problem) for problem in range(self._n_problems)]
        return [np.where(labels == one, 1.0, -1.0) for one in positive]

    def _label_facts(self, training_state: bool) -> dict[str, Any]:
        return {"classes": self.classes_, "class_counts": self._class_counts}

    def _set_label_facts(self, tree: dict[str, Any]) -> None:
        classes = tree.get("classes")
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or classes.size < 2:
            access.refuse("there are not two classes")
        if not np.array_equal(np.unique(classes), classes):
            access.refuse("classes are out of order")
        self.classes_ = classes
        self._class_counts = access.integers(tree, "class_counts", classes.size, 1 << 62)

    def _progressive(self) -> ProgressiveClasses:
        return ProgressiveClasses()

    def _summary(self) -> dict[str, Any]:
        return {"classes": self.classes_.tolist()}
