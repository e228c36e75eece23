"""Regret: the loss of learning online, over that of the best sparse vector known afterwards."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from experiments.judge import weights
from experiments.judges import liblinear_l1

SPARSE_SIZE = 200


def logistic_losses(margins: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return log(1 + exp(-y f)) without overflow."""
    return np.logaddexp(0.0, -y * margins)


def chunks(rows: int) -> Iterator[slice]:
    """Yield stretches of rows, one row long at first and never above a hundredth of the past.

    A model is judged on a stretch before it learns from it; short against the past, the
    stretch changes the sum of losses next to nothing and saves most of the calls.
    """
    start = 0
    while start < rows:
        stop = min(rows, start + max(1, start // 100))
        yield slice(start, stop)
        start = stop


def online_losses(model: Any, X: csr_matrix, y: np.ndarray) -> np.ndarray:
    """Return each row's loss just before the model learned from it."""
    losses = np.empty(len(y))
    coef, intercept = np.zeros(X.shape[1]), 0.0
    for part in chunks(len(y)):
        losses[part] = logistic_losses(X[part] @ coef + intercept, y[part])
        model.partial_fit(X[part], y[part], classes=[-1, 1])
        coef, intercept = weights(model)
    return losses


def hindsight_losses(X: csr_matrix, y: np.ndarray, size: int = SPARSE_SIZE) -> np.ndarray:
    """Return each row's loss under a good fixed vector with at most ``size`` weights.

    The best such vector cannot be found exactly; this one selects by l1 (the largest C with few
    enough weights) and refits those weights with next to no penalty.
    """
    support = np.zeros(0, dtype=int)
    for C in np.geomspace(1e-3, 1e2, 21):
        found = np.flatnonzero(liblinear_l1("log_loss").set_params(C=C).fit(X, y).coef_)
        if len(found) > size:
            break
        support = found
    if len(support) == 0:
        return logistic_losses(np.zeros(len(y)), y)
    model = LogisticRegression(C=1e4, max_iter=2000).fit(X[:, support], y)
    return logistic_losses(model.decision_function(X[:, support]), y)


def cumulative_regret(
    builders: Mapping[str, Callable[[], Any]], X: csr_matrix, y: np.ndarray
) -> dict[str, Any]:
    """Return the regret of each method at about a hundred numbers of rows."""
    best = np.cumsum(hindsight_losses(X, y))
    at = np.unique(np.geomspace(1, len(y), 100).astype(int))
    curves = {
        name: (np.cumsum(online_losses(make(), X, y)) - best)[at - 1].tolist()
        for name, make in builders.items()
    }
    return {"rows": at.tolist(), "hindsight": best[at - 1].tolist(), "curves": curves}
