"""A fitted model in other programs' words: scikit-learn, ONNX, tables of coefficients."""

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler

from thresher.estimators import graph
from thresher.estimators.describing import names_of
from thresher.files.atomic import write_bytes
from thresher.learners.paths import Paths

INTERCEPT = "(intercept)"


def to_sklearn(estimator: Any) -> Any:
    """Return a fitted SGD model, behind a Normalizer where rows are scaled to unit length.

    That length is of columns around zero and in one unit: where some are not, what brings them
    there comes first. Scikit-learn takes means away from dense rows only.
    """
    name, model = _model(estimator)
    if not estimator._model.vocabulary.normalize:
        return _with_inputs(model, estimator)
    steps: list[tuple[str, Any]] = [("normalizer", Normalizer()), (name, model)]
    if estimator._offsets is not None:
        steps.insert(0, ("centrer", _centrer(estimator)))
    if estimator._scales is not None:
        steps.insert(-2, ("scaler", _scaler(estimator)))
        factors = np.where(estimator.column_scales_ == 0, 1.0, estimator.column_scales_)
        model.coef_ = model.coef_ / factors
        if estimator._sparse:
            model.coef_ = sparse.csr_matrix(model.coef_)
    _with_inputs(steps[0][1], estimator)  # gives arrays, so the others see no names
    return Pipeline(steps)


def _centrer(estimator: Any) -> StandardScaler:
    """Return scikit-learn's scaler that takes away the offsets of columns."""
    centrer = StandardScaler(with_std=False)
    centrer.mean_, centrer.scale_, centrer.var_ = estimator.column_offsets_, None, None
    centrer.n_samples_seen_ = 1
    centrer.n_features_in_ = int(estimator.n_features_in_)
    return centrer


def _scaler(estimator: Any) -> MaxAbsScaler:
    """Return scikit-learn's scaler that multiplies columns as they were for learning."""
    scaler = MaxAbsScaler()
    with np.errstate(divide="ignore"):
        scaler.scale_ = scaler.max_abs_ = 1.0 / estimator.column_scales_  # 0 becomes x / inf
    scaler.n_samples_seen_ = 1
    scaler.n_features_in_ = int(estimator.n_features_in_)
    return scaler


def _model(estimator: Any) -> tuple[str, SGDClassifier | SGDRegressor]:
    """Return the model, and what it is called as a step of a pipeline."""
    common = {"fit_intercept": estimator.fit_intercept, "random_state": estimator._seed}
    coef = _sparse_coef(estimator)
    if is_regressor(estimator):
        name, model = "regressor", SGDRegressor(loss=estimator.loss, **common)
        if estimator.loss == "huber":
            model.set_params(epsilon=estimator._units.unit or estimator.epsilon)
        model.coef_ = coef.toarray()[0]
    else:
        name, model = "classifier", SGDClassifier(loss=estimator.loss, **common)
        model.coef_ = coef.toarray()
        model.classes_ = estimator.classes_.copy()
    if estimator._sparse:
        model.coef_ = sparse.csr_matrix(coef)
    model.intercept_ = estimator._settled()[1].copy()
    model.n_features_in_ = coef.shape[1]
    model.n_iter_ = int(estimator.n_iter_)
    model.t_ = 1.0 + estimator._model.problems[0].pace.updates
    return name, model


def _with_inputs(step: Any, estimator: Any) -> Any:
    """Return a step that knows which columns it expects."""
    step.n_features_in_ = int(estimator.n_features_in_)
    if hasattr(estimator, "feature_names_in_"):
        step.feature_names_in_ = estimator.feature_names_in_.copy()
    return step


def _sparse_coef(estimator: Any) -> sparse.csr_array:
    """Return the coefficients without ever making them dense."""
    weights, _ = estimator._settled()
    problems, slots = np.nonzero(weights)
    columns = estimator._model.vocabulary["columns"][slots]
    shape = (weights.shape[0], int(estimator.n_features_in_))
    return sparse.csr_array((weights[problems, slots], (problems, columns)), shape=shape)


def to_onnx(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write the model as an ONNX graph on dense rows of float64."""
    try:
        from skl2onnx import to_onnx as convert
        from skl2onnx.common.data_types import DoubleTensorType
    except ImportError:
        raise ImportError("to_onnx() needs skl2onnx: pip install 'thresher[onnx]'.") from None
    graph.register([type(estimator)])
    inputs = [("X", DoubleTensorType([None, int(estimator.n_features_in_)]))]
    model = convert(estimator, initial_types=inputs)
    write_bytes(path, model.SerializeToString())


def export_coefficients(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write the coefficients as a table in the format that the path's ending tells."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise ValueError(
            f"{os.fspath(path)}: the ending says how coefficients are written, and it must be one "
            f"of {', '.join(WRITERS)}."
        )
    write_bytes(path, WRITERS[ending](coefficients(estimator)))


def coefficients(estimator: Any) -> dict[str, list[Any]]:
    """Return a table, column by column: for each problem its intercept, then its weights."""
    weights, intercepts = estimator._settled()
    table: dict[str, list[Any]] = {
        name: [] for name in ("feature", "column", "class", "weight", "probability")
    }
    for problem, intercept in enumerate(intercepts.tolist()):
        columns, values, probabilities = _weights_of(estimator, problem, weights[problem])
        table["feature"] += [INTERCEPT, *names_of(estimator, columns)]
        table["column"] += [None, *columns.tolist()]
        table["class"] += [_class(estimator, problem)] * (columns.size + 1)
        table["weight"] += [intercept, *values.tolist()]
        table["probability"] += [None, *probabilities]
    if not isinstance(estimator._model.problems[0].state, Paths):
        del table["probability"]
    if is_regressor(estimator):
        del table["class"]
    return table


def _weights_of(
    estimator: Any, problem: int, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[float | None]]:
    """Return columns, weights and selection probabilities, by ascending column."""
    vocabulary = estimator._model.vocabulary
    known = estimator._model.probabilities(estimator._model.problems[problem])
    slots = np.flatnonzero(weights)
    slots = slots[np.argsort(vocabulary["columns"][slots])]
    probabilities = [None] * slots.size if known is None else known[slots].tolist()
    return vocabulary["columns"][slots], weights[slots], probabilities


def _class(estimator: Any, problem: int) -> Any:
    """Return the class that positive weights of a problem speak for, as Python knows it."""
    positive = estimator._positive(problem)
    return positive.item() if isinstance(positive, np.generic) else positive


def _separated(delimiter: str) -> Callable[[dict[str, list[Any]]], bytes]:
    def write(table: dict[str, list[Any]]) -> bytes:
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        return text.getvalue().encode("utf-8", "surrogatepass")

    return write


def _json(table: dict[str, list[Any]]) -> bytes:
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return json.dumps(rows, indent=1).encode() + b"\n"


def _parquet(table: dict[str, list[Any]]) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("Parquet needs pyarrow: pip install 'thresher[arrow]'.") from None
    kinds = {"feature": pa.string(), "column": pa.int64()}
    kinds |= {"weight": pa.float64(), "probability": pa.float64()}
    columns = {name: pa.array(values, kinds.get(name)) for name, values in table.items()}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


WRITERS = {".csv": _separated(","), ".tsv": _separated("\t"), ".json": _json, ".parquet": _parquet}
