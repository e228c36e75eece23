"""A fitted model in other programs' words: scikit-learn, ONNX."""

import os
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, Normalizer, StandardScaler

from thresher.data.powers import raised
from thresher.estimators.exporting import graph
from thresher.files.atomic import write_bytes


def to_sklearn(estimator: Any) -> Any:
    """Return a fitted SGD model, behind what is done to rows before they meet the weights.

    Values are raised first. Unit length is of columns around zero and in one unit: where some are
    not, what brings them there comes before. Scikit-learn takes means away from dense rows only.
    """
    name, model = _model(estimator)
    steps: list[tuple[str, Any]] = [(name, model)]
    if estimator._model.vocabulary.normalize:
        steps.insert(0, ("normalizer", Normalizer()))
        if estimator._offsets is not None:
            steps.insert(0, ("centrer", _centrer(estimator)))
        if estimator._scales is not None:
            steps.insert(-2, ("scaler", _scaler(estimator)))
            factors = np.where(estimator.column_scales_ == 0, 1.0, estimator.column_scales_)
            model.coef_ = model.coef_ / factors
            if estimator._sparse:
                model.coef_ = sparse.csr_matrix(model.coef_)
    if estimator._power != 1.0:
        steps.insert(0, ("raiser", _raiser(estimator)))
    _with_inputs(steps[0][1], estimator)  # gives arrays, so the others see no names
    return model if len(steps) == 1 else Pipeline(steps)


def _raiser(estimator: Any) -> FunctionTransformer:
    """Return scikit-learn's transformer that raises values; who unpickles it needs this package."""
    power = {"power": estimator._power}
    raiser = FunctionTransformer(raised, kw_args=power, validate=True, accept_sparse="csr")
    raiser.n_features_in_ = int(estimator.n_features_in_)
    return raiser


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
