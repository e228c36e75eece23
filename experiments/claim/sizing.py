"""Models of a wanted size: by a number, by a bisected penalty, or by elimination.

A sizer first finds, on some rows, the setting for every wanted size; with that setting it fits
any permutation of these rows, or others.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from experiments.fitting import fit
from experiments.judge import weights
from experiments.matched import place
from experiments.methods import Method, Params

LOSS = "log_loss"
MOST_FITS = 14  # of a bisection: the last step is 1/16,000 of the way
FARTHEST = 3.0  # places beyond the sparse end
NEAR = 0.01  # a size within one per cent is as good as the wanted one
RIDGE_C, ELIMINATIONS = 10.0, 10


class Linear(NamedTuple):
    """Weights and intercept: all that the judge asks of a model."""

    coef_: np.ndarray
    intercept_: float


class Sizer(Protocol):
    """Makes models of wanted sizes."""

    def settings(self, X: csr_matrix, y: np.ndarray, sizes: Sequence[int]) -> dict[int, Any]:
        """Return the setting for each size, found on the first permutation of these rows."""

    def model(self, setting: Any, X: csr_matrix, y: np.ndarray, seed: int) -> Any:
        """Fit with a setting on a permutation of the rows; None when its numbers overflow."""


class Wanted(NamedTuple):
    """A method that takes the number of features as a parameter."""

    method: Method
    params: Params

    def settings(self, X: csr_matrix, y: np.ndarray, sizes: Sequence[int]) -> dict[int, Any]:
        """Return the sizes themselves."""
        return {size: size for size in sizes}

    def model(self, setting: int, X: csr_matrix, y: np.ndarray, seed: int) -> Any:
        """Fit at this number of features."""
        params = {**self.params, "n_features_to_select": setting}
        return fit(self.method, LOSS, params, X, y, seed)[0]


class Penalised(NamedTuple):
    """A method whose penalty is bisected until its model has the wanted size."""

    method: Method
    params: Params

    def settings(self, X: csr_matrix, y: np.ndarray, sizes: Sequence[int]) -> dict[int, float]:
        """Return the penalty whose model on the first permutation is nearest to each size."""
        knob, known = self.method.knob, {}
        assert knob is not None

        def count(share: float) -> int:
            if share not in known:
                known[share] = count_features(self.model(place(knob, share), X, y, 0))
            return known[share]

        return {size: place(knob, nearest_place(count, size)) for size in sizes}

    def model(self, setting: float, X: csr_matrix, y: np.ndarray, seed: int) -> Any:
        """Fit with this penalty."""
        assert self.method.knob is not None
        params = {**self.params, self.method.knob.name: setting}
        try:
            return fit(self.method, LOSS, params, X, y, seed)[0]
        except ValueError as problem:
            if "overflow" not in str(problem):
                raise
            return None


class Refitted(NamedTuple):
    """Another method's features with weights of their own: ridge, hardly shrunken."""

    selecting: Penalised

    def settings(self, X: csr_matrix, y: np.ndarray, sizes: Sequence[int]) -> dict[int, float]:
        """Return the selecting method's settings."""
        return self.selecting.settings(X, y, sizes)

    def model(self, setting: float, X: csr_matrix, y: np.ndarray, seed: int) -> Linear:
        """Select, then fit what was selected."""
        selected = self.selecting.model(setting, X, y, seed)
        return ridge_on(np.flatnonzero(weights(selected)[0]), X, y)


class Elimination(NamedTuple):
    """Ridge; the smallest weights dropped and the rest fitted again, in geometric steps."""

    def settings(self, X: csr_matrix, y: np.ndarray, sizes: Sequence[int]) -> dict[int, int]:
        """Return the sizes themselves."""
        return {size: size for size in sizes}

    def model(self, setting: int, X: csr_matrix, y: np.ndarray, seed: int) -> Linear:
        """Eliminate down to the wanted number of features."""
        del seed  # the order of the rows changes nothing
        features = np.flatnonzero(X.getnnz(axis=0))
        for left in np.geomspace(max(len(features), setting), setting, ELIMINATIONS + 1)[1:]:
            strength = np.abs(ridge_on(features, X, y).coef_[features])
            strongest = np.argsort(-strength, kind="stable")[: round(left)]
            features = np.sort(features[strongest])
        return ridge_on(features, X, y)


def ridge_on(features: np.ndarray, X: csr_matrix, y: np.ndarray) -> Linear:
    """Fit ridge logistic regression on some of the columns."""
    coef = np.zeros(X.shape[1])
    if len(features) == 0:
        return Linear(coef, float(np.sign(y.sum())))
    model = LogisticRegression(C=RIDGE_C, max_iter=1000).fit(X[:, features], y)
    coef[features] = model.coef_.ravel()
    return Linear(coef, float(model.intercept_[0]))


def count_features(model: Any) -> int:
    """Return a model's number of features; a model that overflowed has them all."""
    return np.iinfo(np.int64).max if model is None else int(np.count_nonzero(weights(model)[0]))


def nearest_place(count: Callable[[float], int], size: int) -> float:
    """Bisect the way from dense (0) to sparse (1); return the place seen whose size is nearest.

    Sizes need not fall evenly, so the last place is not always the nearest one. Few features of
    few columns may lie beyond the sparse end.
    """
    dense, sparse, seen = 0.0, 1.0, {}
    while count(sparse) > size and sparse < FARTHEST:
        sparse += 1.0
    for _ in range(MOST_FITS):
        middle = (dense + sparse) / 2
        found = seen[middle] = count(middle)
        if abs(found - size) <= NEAR * size:
            return middle
        dense, sparse = (middle, sparse) if found > size else (dense, middle)
    return min(seen, key=lambda share: abs(math.log((seen[share] + 0.5) / (size + 0.5))))
