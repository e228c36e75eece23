"""A fitted linear regressor: numbers in the units of its targets."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin

from thresher.estimators.linear import SparseLinearModel
from thresher.estimators.target_units import Units


class LinearRegressor(RegressorMixin, SparseLinearModel):
    """Everything that only reads what was learnt of numbers."""

    _units: Units
    _n_problems = 1

    def _positive(self, problem: int) -> None:
        """Return that weights speak for no class."""

    @property
    def coef_(self) -> Any:
        """Weights of all columns; a sparse array of one row after ``sparsify``."""
        dense = self._model_fitted().vocabulary.spread(self._settled()[0][0])
        return sparse.csr_array(dense[None, :]) if self._sparse else dense

    @property
    def intercept_(self) -> float:
        """Intercept; never shrunk."""
        return float(self._settled()[1][0])

    def predict(self, X: Any) -> np.ndarray:
        """Return the number expected of every row."""
        return self._checked_margins(X)

    def _weights_now(self) -> tuple[np.ndarray, np.ndarray]:
        """Return weights by slot and the intercept, in the units of the targets."""
        weights, intercepts = super()._weights_now()
        unit, centre = self._units.unit, self._units.centre
        return weights * unit, intercepts * unit + centre
