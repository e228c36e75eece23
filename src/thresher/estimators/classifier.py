"""Linear classifiers: classes, targets, weights of classes, and what margins mean for them."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from thresher.estimators.labels import (
    ClassWeight,
    check_classes,
    check_labels,
    class_importance,
    places_of,
    refuse_one_class,
    running_importance,
)
from thresher.estimators.learning import OnlineModel
from thresher.fitted import CLIPPED, LOGISTIC, NO_LINK, SOFTMAX
from thresher.losses import LOG_LOSS, LOSSES, MODIFIED_HUBER, probability_of

LINKS = {LOG_LOSS: LOGISTIC, MODIFIED_HUBER: CLIPPED}
LOSS_OF_LINK = {LOGISTIC: LOG_LOSS, CLIPPED: MODIFIED_HUBER}


def _has_probabilities(model: "OnlineClassifier") -> bool:
    if model.__sklearn_is_fitted__():
        link = model.fitted_.link
    else:
        link = model.link()
    if link == NO_LINK:
        raise AttributeError(
            f"{type(model).__name__} has no probabilities with loss={model.loss!r}: use "
            'loss="log_loss" or "modified_huber".'
        )
    return True


class OnlineClassifier(ClassifierMixin, OnlineModel):
    """A linear classifier that learns row by row: one output for two classes, else one for each.

    Targets are -1 and +1: for the second of two classes, or for each class against the rest. A
    learner of several outputs at once (``_joint``) has the classes' places instead.
    """

    loss: str
    class_weight: ClassWeight | None
    classes_: np.ndarray
    _joint: bool = False

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the next rows of a stream, in the order given.

        However the stream is cut into calls, the result is the same to the last bit. If a call
        fails, nothing of it is kept.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``. Columns of a data frame are found by the names of the first call.
        classes : array, needed in the first call
            All labels that will ever occur.
        """
        return self._learn_next(X, y, sample_weight, classes)

    def _begin_classes(self, classes: Any) -> None:
        if classes is None:
            raise ValueError("The first call to partial_fit needs classes=, all labels there are.")
        self.classes_ = check_classes(classes)

    def _refuse_other_classes(self, classes: Any) -> None:
        if np.array_equal(classes, self.classes_):  # as they usually are
            return
        given = check_classes(classes)
        if not np.array_equal(given, self.classes_):
            raise ValueError(
                f"classes={given.tolist()} differ from those of the first call, "
                f"{self.classes_.tolist()}. Leave classes out, or start with a new estimator."
            )

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the margins: positive for the second of two classes, or a column per class."""
        margins = self.margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def prediction_of(self, margins: np.ndarray) -> np.ndarray:
        """Return the class that the margins of every row mean, which have a column per output."""
        if margins.shape[1] == 1:
            return self.classes_.take(margins[:, 0] > 0)
        return self.classes_[margins.argmax(axis=1)]

    def row_errors(self, margins: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return whether each row's class, given by its place, is another than predicted."""
        single = margins.shape[1] == 1
        return (margins[:, 0] > 0 if single else margins.argmax(axis=1)) != places

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class."""
        return probabilities_of(self.fitted_.link, self.margins(X))

    @available_if(_has_probabilities)
    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the probability of every class for one row, a dict of features."""
        return dict(zip(self.classes_.tolist(), self.predict_proba([x])[0].tolist(), strict=True))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def link(self) -> str:
        """Return how margins become probabilities."""
        code = LOSSES[self.loss].code
        if self._joint and code == LOG_LOSS and len(getattr(self, "classes_", ())) > 2:
            return SOFTMAX
        return LINKS.get(code, NO_LINK)

    def _n_problems(self) -> int:
        """Return how many problems are learned: one, or one for each class against the rest."""
        return 1 if self._joint or self.classes_.size == 2 else self.classes_.size

    def _begin_targets(self, y: Any, n_rows: int) -> np.ndarray:
        """Take over the classes that occur; return the place of every row's class among them."""
        classes, places = np.unique(check_labels(y, n_rows), return_inverse=True)
        if classes.size < 2:
            raise ValueError(
                f"y has only one class, {classes.tolist()[0]!r}: a classifier needs two or more."
            )
        self.classes_ = classes
        return places

    def known_targets(self, y: Any, n_rows: int, first: int = 0) -> np.ndarray:
        """Return the place of every row's class among the known ones; rows count from ``first``."""
        return places_of(
            y if _is_plain(y, n_rows) else check_labels(y, n_rows), self.classes_, first
        )

    def _problem_targets(self, places: np.ndarray) -> list[np.ndarray]:
        """Return the targets of every problem."""
        if self.classes_.size == 2:
            return [2.0 * places - 1.0]
        if self._joint:
            return [places.astype(np.float64)]
        return [np.where(places == k, 1.0, -1.0) for k in range(self.classes_.size)]

    def importance_of(self, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return how much each row counts, of rows that are all at hand."""
        importance = weights
        if self.class_weight is not None:
            importance = weights * class_importance(self.class_weight, self.classes_, places)
        refuse_one_class(places, self.classes_, importance)
        return importance

    def _running_importance(
        self, places: np.ndarray, weights: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how much each row of a stream counts, and the counts of classes after them."""
        if self.class_weight is not None:
            given = self.class_weight
            weights = weights * running_importance(given, self.classes_, places, counts)
        return weights, counts + np.bincount(places, minlength=counts.size)


def probabilities_of(link: str, margins: np.ndarray) -> np.ndarray:
    """Return the probability of every class, from margins with a column per output."""
    if link == SOFTMAX and margins.shape[1] > 1:
        shares = np.exp(margins - margins.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)
    positive = probability_of(LOSS_OF_LINK.get(link, LOG_LOSS), margins)
    if margins.shape[1] == 1:
        return np.hstack([1.0 - positive, positive])
    totals = positive.sum(axis=1, keepdims=True)
    uniform = np.full_like(positive, 1.0 / positive.shape[1])
    return np.divide(positive, totals, out=uniform, where=totals > 0)


def _is_plain(y: Any, n_rows: int) -> bool:
    """Return whether labels need none of the checks, which cost more than learning a row."""
    if type(y) is not np.ndarray or y.shape != (n_rows,):
        return False
    kind = y.dtype.kind
    if kind == "O":
        return all(type(label) is str for label in y)
    return kind in "biuU" or (kind == "f" and bool(np.isfinite(y).all()))
