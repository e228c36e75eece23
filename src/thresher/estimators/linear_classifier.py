"""A fitted linear classifier: classes, margins and probabilities."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from thresher.estimators.linear import SparseLinearModel
from thresher.kernels.margins import chosen


def _gives_probabilities(estimator: Any) -> bool:
    if estimator.loss in ("log_loss", "modified_huber"):
        return True
    raise AttributeError(
        f"predict_proba needs loss='log_loss' or 'modified_huber', not {estimator.loss!r}."
    )


class LinearClassifier(ClassifierMixin, SparseLinearModel):
    """Everything that only reads what was learnt of classes."""

    classes_: np.ndarray
    _class_counts: np.ndarray

    @property
    def _n_problems(self) -> int:
        """One for two classes, else one for each against the rest."""
        return 1 if self.classes_.size == 2 else self.classes_.size

    def _positive(self, problem: int) -> Any:
        """Return the class that positive weights of a problem speak for."""
        return self.classes_[1 if self.classes_.size == 2 else problem]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the margins: positive for the second of two classes, or one column per class."""
        return self._checked_margins(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most likely class of every row."""
        return self._classes_for(self.decision_function(X))

    def _classes_for(self, margins: np.ndarray) -> np.ndarray:
        """Return the class that margins speak for."""
        kind = self.classes_.dtype
        if margins.ndim == 1 and kind.kind in "iu" and np.can_cast(kind, np.int64):
            # computed, not looked up: signs that nobody can foresee make that slow
            low, high = self.classes_.tolist()
            return chosen(margins, low, high).astype(kind, copy=False)
        if margins.ndim == 1:
            return self.classes_.take(margins > 0)
        return self.classes_[margins.argmax(axis=1)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class; several classes are scaled to sum to 1."""
        return self._probabilities(self.decision_function(X))

    def _probabilities(self, margins: np.ndarray) -> np.ndarray:
        """Return the probabilities that margins stand for."""
        log_loss = self.loss == "log_loss"
        positive = expit(margins) if log_loss else (np.clip(margins, -1, 1) + 1) / 2
        if positive.ndim == 1:
            return np.column_stack([1 - positive, positive])
        totals = positive.sum(axis=1, keepdims=True)
        uniform = np.full_like(positive, 1 / self.classes_.size)
        return np.divide(positive, totals, out=uniform, where=totals > 0)

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
