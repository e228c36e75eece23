"""Fit one method on one permutation of the rows, timed, and have it judged."""

import functools
import time
import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from experiments.datasets import Split, load
from experiments.judge import Verdict, judge
from experiments.methods import Method, Params
from experiments.scaling import scaled


@functools.lru_cache(maxsize=1)
def _raw(dataset: str) -> Split:
    return load(dataset)


@functools.lru_cache(maxsize=2)
def prepared(dataset: str, scaling: str) -> Split:
    """Return a set, loaded and scaled once per process."""
    return scaled(_raw(dataset), scaling)


def training_rows(dataset: str) -> tuple[csr_matrix, np.ndarray]:
    """Return a set's training rows before scaling, for cross-validation to scale fold by fold."""
    data = _raw(dataset)
    return data.X_train, data.y_train


def fit(
    method: Method, loss: str, params: Params, X: csr_matrix, y: np.ndarray, seed: int
) -> tuple[Any, float]:
    """Fit on the seed's permutation of the rows; return the model and the seconds it took."""
    _warm_up(method, loss)
    order = np.random.default_rng(seed).permutation(len(y))
    rows, labels = X[order], y[order]
    model = method.build(loss, seed, params)
    started = time.perf_counter()
    with warnings.catch_warnings():
        # Passes are part of the protocol: a run that ends with them is not an accident.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, labels)
    return model, time.perf_counter() - started


def fit_and_judge(
    method: Method, loss: str, params: Params, data: Split, seed: int
) -> tuple[Verdict, float]:
    """Fit on the training part, judge on the test part.

    A run whose numbers overflow has no model: all its predictions count as wrong, all its weights
    as nonzero.
    """
    try:
        model, seconds = fit(method, loss, params, data.X_train, data.y_train, seed)
    except ValueError as problem:
        if "overflow" not in str(problem):
            raise
        columns = data.X_train.shape[1]
        return Verdict(100.0, columns, 100.0, np.arange(columns)), float("nan")
    return judge(model, data.X_test, data.y_test), seconds


@functools.cache
def _warm_up(method: Method, loss: str) -> None:
    """Fit on next to nothing once, so that no timing holds a compilation."""
    X = csr_matrix(np.eye(8))
    params = {"n_features_to_select": 2} if method.name == "thresher" else {}
    method.build(loss, 0, params).fit(X, np.resize([-1, 1], 8))
