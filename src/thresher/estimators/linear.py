"""A fitted linear model: its coefficients, what it predicts and which features it selects."""

import os
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from thresher.data.scoring import Scorer
from thresher.estimators.inputs import check_rows_to_judge, refuse_non_finite
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
    _scored: tuple[tuple[np.ndarray, np.ndarray], Scorer] | None = None
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
        rows = check_rows_to_judge(self, X)
        margins = self._margins(rows)
        if not np.isfinite(margins).all():
            refuse_non_finite(self, rows)
        return margins

    def predict(self, X: Any) -> np.ndarray:
        """Return the most likely class of every row."""
        return self._classes_for(self.decision_function(X))

    def _margins(self, rows: sparse.csr_array) -> np.ndarray:
        """Return the margins of canonical rows, which may be wider than any seen in training."""
        return self._scorer().margins(rows)

    def _classes_for(self, margins: np.ndarray) -> np.ndarray:
        """Return the class that margins speak for."""
        if margins.ndim == 1:
            return np.where(margins > 0, self.classes_[1:], self.classes_[:1])
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

    def selection_table(self) -> Any:
        """Return the selected features as a pandas DataFrame, strongest first.

        Columns: ``feature`` (name), ``weight``, ``sign``, ``selection_probability``, ``rows`` (in
        which the feature occurred) and ``purged_at`` (stage), the latter two of the stabilized
        learners only. Features that were purged follow the selected ones. With more than two
        classes there is a block of rows for each, under ``class``.
        """
        check_is_fitted(self)
        return selection_table(self)

    def save(self, path: str | os.PathLike[str], *, training_state: bool = False) -> None:
        """Write the model to one file, which ``thresher.load`` reads.

        The file is replaced whole or not at all. It holds what prediction needs: the weights that
        are not zero, the stable features, names, classes, parameters and where it all comes from.

        Parameters
        ----------
        path : path
            Where to. By custom such files end in ``.thresher``.
        training_state : bool, default=False
            Whether to store all that was learnt, of all features that occurred, so that
            ``partial_fit`` and warm starts can go on from the file to the last bit.
        """
        from thresher.estimators.saving import save

        check_is_fitted(self)
        save(self, path, training_state)

    def to_sklearn(self) -> Any:
        """Return a fitted scikit-learn estimator with the same predictions, up to rounding.

        It is an ``SGDClassifier`` with these coefficients, behind a ``Normalizer`` where rows are
        scaled to unit length.
        """
        from thresher.estimators.export import to_sklearn

        check_is_fitted(self)
        return to_sklearn(self)

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the model as an ONNX graph (through skl2onnx, ``pip install 'thresher[onnx]'``).

        Its input ``X`` are dense rows of float64, its outputs ``label``, ``scores`` (a column per
        row of ``coef_``) and, of losses that have them, ``probabilities``.
        """
        from thresher.estimators.export import to_onnx

        check_is_fitted(self)
        to_onnx(self, path)

    def export_coefficients(self, path: str | os.PathLike[str]) -> None:
        """Write the weights that are not zero, and the intercepts, as a table.

        Columns: ``feature`` (name), ``column``, ``class``, ``weight``, and ``probability`` of the
        stabilized learners. The ending of the path says how: ``.csv``, ``.tsv``, ``.json`` or
        ``.parquet`` (which needs pyarrow).
        """
        from thresher.estimators.export import export_coefficients

        check_is_fitted(self)
        export_coefficients(self, path)

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

    def _scorer(self) -> Scorer:
        """Return what judges rows by the weights as they are now, made once."""
        settled, made = self._settled(), self._scored
        if made is None or made[0] is not settled:
            made = settled, Scorer.of(self._model_fitted().vocabulary, *settled)
            self._scored = made
        return made[1]

    def _model_fitted(self) -> Model:
        if not hasattr(self, "_model"):
            # an AttributeError, so that hasattr(estimator, "coef_") is False before fit
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet: call fit or partial_fit first."
            )
        return self._model
