"""A fitted linear model: its coefficients, what it predicts and which features it selects."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from thresher.estimators.inputs import check_rows
from thresher.estimators.table import selection_table
from thresher.train import Model


def _gives_probabilities(estimator: Any) -> bool:
    if estimator.loss in ("log_loss", "modified_huber"):
        return True
    raise AttributeError(
        f"predict_proba needs loss='log_loss' or 'modified_huber', not {estimator.loss!r}."
    )


class SparseLinearModel(SelectorMixin, ClassifierMixin, BaseEstimator):
    """Everything that only reads what was learnt."""

    classes_: np.ndarray
    n_features_in_: int
    n_iter_: int
    loss: str
    _model: Model
    _seed: int
    _class_counts: np.ndarray
    _weights: tuple[np.ndarray, np.ndarray] | None = None
    _sparse: bool = False

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is anything to read."""
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        """Say that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def coef_(self) -> Any:
        """Weights of all columns, a row per class (one row for two); sparse after ``sparsify``."""
        rows = [self._model_fitted().vocabulary.spread(row) for row in self._settled()[0]]
        dense = np.array(rows)
        return sparse.csr_array(dense) if self._sparse else dense

    @property
    def intercept_(self) -> np.ndarray:
        """Intercept of every row of ``coef_``; never shrunk."""
        return self._settled()[1].copy()

    def sparsify(self) -> "SparseLinearModel":
        """Show ``coef_`` as a sparse array from now on; learning goes on as before."""
        check_is_fitted(self)
        self._sparse = True
        return self

    def densify(self) -> "SparseLinearModel":
        """Show ``coef_`` as a dense array again."""
        check_is_fitted(self)
        self._sparse = False
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the margins: positive for the second of two classes, or one column per class."""
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        vocabulary = self._model.vocabulary
        columns = [vocabulary.margins(rows, w, b) for w, b in zip(*self._settled(), strict=True)]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most likely class of every row."""
        margins = self.decision_function(X)
        if margins.ndim == 1:
            return self.classes_[(margins > 0).astype(int)]
        return self.classes_[margins.argmax(axis=1)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class; several classes are scaled to sum to 1."""
        margins = self.decision_function(X)
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

    def selection_table(self) -> Any:
        """Return the selected features as a pandas DataFrame, strongest first.

        Columns: ``feature`` (name), ``weight``, ``sign``, ``selection_probability``, ``rows`` (in
        which the feature occurred) and ``purged_at`` (stage), the latter two of the stabilized
        learners only. Features that were purged follow the selected ones. With more than two
        classes there is a block of rows for each, under ``class``.
        """
        check_is_fitted(self)
        return selection_table(self)

    def _get_support_mask(self) -> np.ndarray:
        """Return which features any class uses."""
        check_is_fitted(self)
        used = (self._settled()[0] != 0).any(axis=0)
        return self._model.vocabulary.spread(used)

    def _settled(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weights by slot and intercepts, computed once after each bit of learning."""
        if self._weights is None:
            self._weights = self._model_fitted().weights()
        return self._weights

    def _model_fitted(self) -> Model:
        if not hasattr(self, "_model"):
            # an AttributeError, so that hasattr(estimator, "coef_") is False before fit
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet: call fit or partial_fit first."
            )
        return self._model
