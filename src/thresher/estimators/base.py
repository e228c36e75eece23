"""A fitted linear model as scikit-learn knows it: coefficients, selected features, margins.

Everything here reads a ``Fitted`` alone, whatever it was learned by.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from thresher.estimators.inputs import (
    has_names,
    in_training_order,
    is_dicts,
    rows_by_name,
    rows_of,
    tidy_rows,
    unchecked_rows,
    with_one_index_type,
)
from thresher.fitted import Fitted, Scorer
from thresher.formats.names import Names, has_mean
from thresher.rows import Rows

if TYPE_CHECKING:
    from thresher.estimators.streaming import Given


@dataclass
class Snapshot:
    """What a model has learned up to now, and its scorer; each is made once, when it is needed.

    ``selection`` is what a file keeps of the selected features; None of a model that was not read.
    """

    fitted: Fitted | None = None
    selection: dict[str, np.ndarray] | None = None
    scorer: Scorer | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the scorer out: it takes as much memory as there are columns."""
        return {**vars(self), "scorer": None}


class LinearModel(SelectorMixin, BaseEstimator):
    """A linear model with few features, once it is fitted: ``fitted_`` holds it."""

    # Attributes that files keep besides parameters and the fitted model, and their types.
    stored: ClassVar[dict[str, Any]] = {
        "feature_names_in_": np.ndarray,
        "_sparse": bool,
        "index_base_": int | None,
        "reading_": dict[str, str | list[str] | None],
        "row_counts_": np.ndarray,
    }

    n_features_in_: int
    _snapshot: Snapshot
    _sparse: bool = False
    index_base_: int | None = None  # what a file of numbered columns calls the first
    row_counts_: np.ndarray  # rows that fit learned from: of each class, or all numbers
    reading_: dict[str, str | list[str] | None]  # how files of training name labels, weights, gaps

    @property
    def fitted_(self) -> Fitted:
        """The model as a value: all that prediction, files, exports and reports read.

        That of a stream is made when it is first needed after a chunk.
        """
        snapshot = vars(self).get("_snapshot")
        if snapshot is None:  # an AttributeError too: hasattr(model, "coef_") is False before fit
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet: call fit or partial_fit first."
            )
        if snapshot.fitted is None:
            snapshot.fitted = self._make_fitted()
        return snapshot.fitted

    @fitted_.setter
    def fitted_(self, fitted: Fitted) -> None:
        self._snapshot = Snapshot(fitted)

    def _make_fitted(self) -> Fitted:
        """Return the model as a value, from what was learned."""
        raise NotImplementedError

    def _selection_facts(self) -> dict[str, np.ndarray]:
        """Return what else is known of the selected features, by the name of a table's column."""
        return {}

    def selection_facts(self) -> dict[str, np.ndarray]:
        """Return what else is known of the selected features, from learning or from a file."""
        read = self._snapshot.selection
        return self._selection_facts() if read is None else read

    def known_targets(self, y: Any, n_rows: int, first: int = 0) -> np.ndarray:
        """Return the places of rows' classes, or their numbers; rows count from ``first``."""
        raise NotImplementedError

    def prediction_of(self, margins: np.ndarray) -> np.ndarray:
        """Return what is predicted for rows by their margins, which have a column per output."""
        raise NotImplementedError

    @property
    def coef_(self) -> Any:
        """Weights of all columns, a row per class (one row for two); sparse after ``sparsify``.

        Where rows are scaled to unit length, the weights are for rows divided by their length.
        """
        fitted = self.fitted_
        if not self._sparse:
            return fitted.dense_weights()
        n_outputs, k = fitted.weights.shape
        starts = np.arange(n_outputs + 1) * k
        parts = fitted.weights.flatten(), np.tile(fitted.columns, n_outputs), starts
        coef = sparse.csr_array(parts, shape=(n_outputs, fitted.n_columns))
        coef.eliminate_zeros()
        return coef

    @property
    def intercept_(self) -> Any:
        """Intercepts, one for every row of ``coef_``; never shrunk."""
        return self.fitted_.intercepts.copy()

    @property
    def n_features_selected_(self) -> int:
        """Number of features with a weight."""
        return int(self.fitted_.columns.size)

    def sparsify(self) -> Self:
        """Give ``coef_`` as a sparse array from now on; learning goes on as before."""
        check_is_fitted(self)
        self._sparse = True
        return self

    def densify(self) -> Self:
        """Give ``coef_`` as a dense array again."""
        check_is_fitted(self)
        self._sparse = False
        return self

    def row_margins(self, rows: Rows, first: int = 0) -> np.ndarray:
        """Return the margins of canonical rows, a column per output; unknown columns may occur.

        An error counts the rows from ``first``.
        """
        margins, _ = self._scorer().margins(rows)
        finite = np.isfinite(margins)
        if not finite.all():
            row = int(finite.all(axis=1).argmin())
            raise ValueError(
                f"The numbers overflow while predicting row {first + row:,}: its values are too "
                "large for the model's weights. Correct the row, or leave it out."
            )
        return margins

    def margins(self, X: Any) -> np.ndarray:
        """Return the margins of whatever rows a user gives, a column per output."""
        if isinstance(X, Rows):
            return self.row_margins(X)
        names = self.fitted_.names
        if is_dicts(X) or (self._reads_tables(names) and has_names(X)):
            return self.row_margins(rows_by_name(X, names))
        rows, n_columns = unchecked_rows(self, X)
        margins, fine = self._scorer().margins(rows)
        if fine and np.isfinite(margins).all():
            return margins
        return self.row_margins(tidy_rows(self, rows, n_columns))

    def _reads_tables(self, names: Names | None) -> bool:
        """Return whether frames hold what is no number: categories, or gaps that a mean fills."""
        if names is None or "feature_names_in_" not in vars(self):
            return names is not None
        return any(map(has_mean, names.kinds.values()))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most likely class of every row, or the number predicted for it."""
        return self.prediction_of(self.margins(X))

    def _scorer(self) -> Scorer:
        """Return what computes margins; it is made when it is first needed."""
        fitted, snapshot = self.fitted_, self._snapshot
        if snapshot.scorer is None:
            snapshot.scorer = Scorer(fitted)
        return snapshot.scorer

    def predict_stream(
        self, source: "Given", method: str = "predict", **reading: Any
    ) -> Iterator[np.ndarray]:
        """Yield predictions of files, or of any stream of rows, chunk by chunk in bounded memory.

        Parameters
        ----------
        source : path, list of paths, source or iterable
            As in ``fit_stream``, with labels or without.
        method : str, default="predict"
            What is predicted: "predict", "predict_proba" or "decision_function".
        **reading
            How files are read, where that is not as in training.
        """
        from thresher.estimators.streaming import prediction_source

        check_is_fitted(self)
        predict = getattr(self, method)
        for chunk in prediction_source(self, source, **reading).chunks():
            yield predict(rows_of(chunk))

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        """Return the prediction of one row, a dict of features."""
        return self.predict([x]).tolist()[0]

    def evaluate(self, X: Any, y: Any = None, sample_weight: Any = None, **reading: Any) -> Any:
        """Return how well labelled rows are predicted, as a dataclass of figures.

        Of classes these are error, log loss, area under the ROC curve and confusion; of numbers R2
        and errors. Without y, X is a path, a list of paths, or any stream of rows and labels, which
        are read in bounded memory; ``reading`` is how files are read.
        """
        from thresher.estimators import scores, streaming

        check_is_fitted(self)
        if y is not None:
            return scores.evaluate(self, X, y, sample_weight)
        source = streaming.prediction_source(self, X, labelled=True, **reading)
        return scores.evaluate_stream(self, source)[0]

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X; those of data frames and dicts are found by name.

        Where there are categories or dicts, these are columns of a sparse matrix.
        """
        check_is_fitted(self)
        names = self.fitted_.names
        if is_dicts(X) or (self._reads_tables(names) and has_names(X)):
            rows = rows_by_name(X, names)
            width = max(self.fitted_.n_columns, int(rows.columns.max(initial=0)) + 1)
            parts = rows.values, rows.columns.astype(np.int64), rows.starts
            return sparse.csr_array(parts, shape=(rows.n, width))[:, self.fitted_.columns]
        return super().transform(in_training_order(self, with_one_index_type(X)))

    def _get_support_mask(self) -> np.ndarray:
        """Return which columns have a weight, for whichever class."""
        fitted = self.fitted_
        mask = np.zeros(fitted.n_columns, np.bool_)
        mask[fitted.columns] = True
        return mask

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the selected features, by ascending column."""
        check_is_fitted(self)
        if input_features is not None:
            return super().get_feature_names_out(input_features)
        return np.array(self.column_names(self.fitted_.columns), dtype=object)

    def column_names(self, columns: np.ndarray) -> list[str]:
        """Return what columns are called: by name, as numbered in files, or x0, x1, ..."""
        named, names = vars(self).get("feature_names_in_"), self.fitted_.names
        if named is not None:
            return [str(name) for name in named[columns]]
        if names is not None:
            return [names.name(column) for column in columns.tolist()]
        base = self.index_base_
        return [f"x{column}" if base is None else str(column + base) for column in columns.tolist()]

    def selection_table(self) -> Any:
        """Return the selected features as a pandas DataFrame, strongest first.

        It has the columns ``feature`` (the name) and ``weight`` (with several classes ``weight of
        CLASS`` for each), and what else the model knows: ``probability`` of selection, or
        ``frequency``, the share of folds that select the feature. Strength is compared in units
        that do not depend on what columns are measured in.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "selection_table() needs pandas: pip install 'thresher[pandas]'."
            ) from None
        fitted = self.fitted_
        order = np.argsort(-strengths(fitted), kind="stable")
        columns: dict[str, Any] = {"feature": self.column_names(fitted.columns[order])}
        if fitted.n_outputs == 1 or fitted.labels is None:
            columns["weight"] = fitted.weights[0, order]
        else:
            for label, weights in zip(fitted.labels.tolist(), fitted.weights, strict=True):
                columns[f"weight of {label}"] = weights[order]
        facts = {name: numbers[order] for name, numbers in self.selection_facts().items()}
        return pd.DataFrame(columns | facts)

    def save(self, path: str | os.PathLike[str], training_state: bool = False) -> None:
        """Write the model to one file, which ``thresher.load`` reads.

        The file is replaced as a whole or not at all. It has no code in it.

        Parameters
        ----------
        path : path
            Where to write; such files usually end in ``.thresher``.
        training_state : bool, default=False
            Whether to store all that ``partial_fit`` and warm starts need to go on from the file
            to the last bit; otherwise only what prediction needs.
        """
        from thresher.estimators.saving import save

        check_is_fitted(self)
        save(self, path, training_state=training_state)

    def export(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the model for other programs; the ending of the path decides for which.

        ``.csv``, ``.tsv``, ``.json`` and ``.parquet`` are tables of names and weights (with
        ``every_size=True`` those of all models of a path); ``.onnx`` is a graph, whose rows are of
        the type ``dtype``, "float32" or "float64".
        """
        check_is_fitted(self)
        import_module("thresher.export").export(self, path, **options)

    def report(self, path: str | os.PathLike[str], test: Any = None) -> None:
        """Write the model as one HTML page: what it predicts, how well, and by which features.

        ``test`` are rows to evaluate it by: a tuple of X and y, or files as in ``evaluate``. The
        page needs nothing else: it can be mailed, printed, and read offline.
        """
        from thresher.estimators.streaming import prediction_source

        check_is_fitted(self)
        if test is not None and not isinstance(test, tuple):
            test = prediction_source(self, test, labelled=True)
        import_module("thresher.report").write(self, path, test)

    def to_sklearn(self) -> Any:
        """Return the model as a plain scikit-learn estimator, or a pipeline of such."""
        check_is_fitted(self)
        export = import_module("thresher.export")
        return export.to_scikit_learn(export.Contents.of(self))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is anything to read."""
        return "_snapshot" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """Accept sparse rows."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def effects_of(fitted: Fitted) -> np.ndarray:
    """Return the weights of values in common units, a row per output."""
    factors = fitted.preparation.raw_weights(fitted.columns, np.ones(fitted.columns.size))
    return np.divide(fitted.weights, factors, out=np.zeros_like(fitted.weights), where=factors > 0)


def strengths(fitted: Fitted) -> np.ndarray:
    """Return the largest effect of every selected column."""
    return np.abs(effects_of(fitted)).max(axis=0, initial=0.0)
