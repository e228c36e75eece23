"""Linear regressors: targets are the numbers themselves."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from thresher.estimators.labels import check_numbers
from thresher.estimators.learning import OnlineModel
from thresher.fitted import NO_LINK


class OnlineRegressor(RegressorMixin, OnlineModel):
    """A linear regressor that learns row by row."""

    @property
    def coef_(self) -> Any:
        """Weights of all columns; a sparse array of one row after ``sparsify``."""
        coef = super().coef_
        return coef if self._sparse else coef[0]

    @property
    def intercept_(self) -> float:
        """Intercept; never shrunk."""
        return float(self.fitted_.intercepts[0])

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the next rows of a stream, in the order given.

        However the stream is cut into calls, the result is the same to the last bit. If a call
        fails, nothing of it is kept.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``. Columns of a data frame are found by the names of the first call.
        """
        return self._learn_next(X, y, sample_weight, None)

    def _begin_classes(self, classes: Any) -> None:
        if classes is not None:
            raise ValueError("classes: a regressor has none, its labels are numbers.")

    def prediction_of(self, margins: np.ndarray) -> np.ndarray:
        """Return the number that margins are."""
        return margins[:, 0]

    def row_errors(self, margins: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return the squared error of every row."""
        return (margins[:, 0] - numbers) ** 2

    def link(self) -> str:
        """Return that margins are no probabilities."""
        return NO_LINK

    def _n_problems(self) -> int:
        return 1

    def _begin_targets(self, y: Any, n_rows: int) -> np.ndarray:
        """Return the number of every row."""
        return check_numbers(y, n_rows)

    def known_targets(self, y: Any, n_rows: int, first: int = 0) -> np.ndarray:
        """Return the number of every row."""
        return check_numbers(y, n_rows)

    def _problem_targets(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Return the targets of the only problem."""
        return [numbers]

    def importance_of(self, numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return how much each row counts."""
        if not weights.any():
            raise ValueError("sample_weight leaves no row with a weight above zero.")
        return weights

    def _running_importance(
        self, numbers: np.ndarray, weights: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how much each row of a stream counts; there are no classes to count."""
        return weights, counts
