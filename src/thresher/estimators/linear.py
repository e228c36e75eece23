"""A fitted linear model: its coefficients, what it predicts and which features it selects."""

import os
from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from thresher.data.prepared_scoring import PreparedScorer
from thresher.data.scoring import Scorer
from thresher.estimators.columns import PreparedColumns
from thresher.estimators.inputs import check_rows, check_rows_to_judge, refuse_non_finite
from thresher.estimators.names import columns_used, names_of
from thresher.estimators.table import selection_table
from thresher.kernels.margins import all_finite
from thresher.train import Model


class SparseLinearModel(PreparedColumns, SelectorMixin, BaseEstimator):
    """Everything that only reads what was learnt, whatever the labels are."""

    n_features_in_: int
    n_iter_: int
    loss: str
    _model: Model
    _seed: int
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
        """Weights of all columns, a row per class (one row for two); sparse after ``sparsify``.

        Where rows are scaled to unit length (``rows_normalized_``), these weights are for such
        rows: decisions are ``X @ coef_.T`` over the rows' lengths, plus ``intercept_``. Where
        values are raised to a power (``value_power_``), X stands for what they are raised to.
        """
        rows = [self._model_fitted().vocabulary.spread(row) for row in self._settled()[0]]
        dense = rows[0][None, :] if len(rows) == 1 else np.array(rows)
        return sparse.csr_array(dense) if self._sparse else dense

    @property
    def intercept_(self) -> Any:
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

    def _checked_margins(self, X: Any) -> np.ndarray:
        """Return the margins of whatever rows a user gives."""
        self._model_fitted()
        rows = check_rows_to_judge(self, X)
        margins = self._margins(rows)
        if not all_finite(margins.reshape(-1)):
            refuse_non_finite(self, rows)
        return margins

    def _margins(self, rows: sparse.csr_array) -> np.ndarray:
        """Return the margins of canonical rows, which may be wider than any seen in training."""
        return self._scorer().margins(self._raised(rows))

    def selection_table(self, X: Any = None) -> Any:
        """Return the selected features as a pandas DataFrame, strongest first.

        Columns: ``feature`` (name), ``weight``, ``sign``, ``selection_probability``, ``rows`` (in
        which the feature occurred) and ``purged_at`` (stage), the latter two of the stabilized
        learners only. Features that were purged follow the selected ones. With more than two
        classes there is a block of rows for each, under ``class``.

        The table's ``attrs`` say what the probabilities mean and, of ``ThresherClassifier``, how
        many of the surely selected features are expected to be false, and on which assumptions.

        Parameters
        ----------
        X : array, sparse matrix or data frame, optional
            The rows of training, or others like them. Given them, the table names features that
            stand in for each other: ``group`` (its strongest selected feature), ``correlation``
            with that one (0.7 and more, or -0.7 and less), ``group_probability`` (that at least
            one of the group is selected) and ``stand_ins`` (of the strongest, the closest first).
        """
        check_is_fitted(self)
        rows = None if X is None else self._as_learnt(check_rows(self, X, reset=False))
        return selection_table(self, rows)

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
        from thresher.estimators.storing.saving import save

        check_is_fitted(self)
        save(self, path, training_state)

    def to_sklearn(self) -> Any:
        """Return a fitted scikit-learn estimator with the same predictions, up to rounding.

        It is an ``SGDClassifier`` or ``SGDRegressor`` with these coefficients, behind a
        ``Normalizer`` where rows are scaled to unit length, and what brings columns around zero and
        to one unit where that is done (``column_offsets_``: such a pipeline takes dense rows only).
        Values that are learnt as roots become these first.
        """
        from thresher.estimators.exporting.export import to_sklearn

        check_is_fitted(self)
        return to_sklearn(self)

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the model as an ONNX graph (through skl2onnx, ``pip install 'thresher[onnx]'``).

        Its input ``X`` are dense rows of float64. The outputs of classifiers are ``label``,
        ``scores`` (a column per row of ``coef_``) and, of losses that have them, ``probabilities``;
        that of regressors is ``variable``, one column.
        """
        from thresher.estimators.exporting.export import to_onnx

        check_is_fitted(self)
        to_onnx(self, path)

    def export_coefficients(self, path: str | os.PathLike[str]) -> None:
        """Write the weights that are not zero, and the intercepts, as a table.

        Columns: ``feature`` (name), ``column``, ``class`` (of classifiers), ``weight``,
        ``probability`` of the stabilized learners, and ``rows_normalized``: if so, the sum of
        values times weights is divided by the row's length before the intercept is added. Where
        that is the length of ``(X - column_offsets_) * column_scales_``, there are ``offset`` and
        ``scale``, of all columns that occurred, also those of weight 0. Where values are raised
        first, ``value_power`` says to which power. The ending of the path says
        how: ``.csv``, ``.tsv``, ``.json`` or ``.parquet`` (which needs pyarrow).
        """
        from thresher.estimators.exporting.coefficients import export_coefficients

        check_is_fitted(self)
        export_coefficients(self, path)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the selected features, as ``selection_table`` tells them.

        Those of ``input_features``, or of training, or the numbers of columns in its files; or x0,
        x1, ... as scikit-learn calls columns of arrays: of millions only the selected are named.
        """
        check_is_fitted(self)
        if input_features is not None:
            return super().get_feature_names_out(input_features)
        return np.array(names_of(self, columns_used(self)), dtype=object)

    def _get_support_mask(self) -> np.ndarray:
        """Return which features any class uses."""
        check_is_fitted(self)
        used = (self._settled()[0] != 0).any(axis=0)
        return self._model.vocabulary.spread(used)

    def _settled(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weights by slot and intercepts, computed once after each bit of learning."""
        if self._weights is None:
            self._weights = self._weights_now()
        return self._weights

    @property
    @abstractmethod
    def _n_problems(self) -> int:
        """Return how many weight vectors there are."""

    @abstractmethod
    def _positive(self, problem: int) -> Any:
        """Return the class that positive weights of a problem speak for, None if there is none."""

    def _weights_now(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weights by slot and intercepts, in the units of columns and labels."""
        return self._for_columns_as_they_are(*self._model_fitted().weights())

    def _scorer(self) -> Scorer | PreparedScorer:
        """Return what judges rows by the weights as they are now, made once."""
        settled, model = self._settled(), self._model_fitted()
        if model.scored is None or model.scored[0] is not settled:
            plain = Scorer.of(model.vocabulary, *settled)
            if plain.normalize and self._scales is not None:
                model.scored = settled, PreparedScorer(plain, self._offsets, self._scales)
            else:
                model.scored = settled, plain
        return model.scored[1]

    def _model_fitted(self) -> Model:
        if not hasattr(self, "_model"):
            # an AttributeError, so that hasattr(estimator, "coef_") is False before fit
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet: call fit or partial_fit first."
            )
        return self._model
