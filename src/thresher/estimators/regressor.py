"""Linear models of numbers, learnt in units of their own."""

from abc import ABCMeta
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from thresher.data.errors import DataError
from thresher.data.sources.protocol import Source
from thresher.estimators.base import MakeLearner, OnlineModel
from thresher.estimators.going_on import refuse_change
from thresher.estimators.inputs import check_some_weight
from thresher.estimators.label_inputs import check_numbers
from thresher.estimators.lessons import Lessons, NextLessons
from thresher.estimators.linear_regressor import LinearRegressor
from thresher.estimators.parameters import REGRESSING, Constraints
from thresher.estimators.progressive import ProgressiveNumbers
from thresher.estimators.target_units import Measure, Units
from thresher.files import access


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineRegressor(LinearRegressor, OnlineModel, metaclass=ABCMeta):
    """A linear regressor that learns one row at a time.

    Parameters
    ----------
    loss : "squared_error" or "huber", default="squared_error"
        What is minimised: half the squared error, or the same made linear for errors beyond
        ``epsilon``, which wild targets can hardly move.
    epsilon : float, default=1.35
        Where the Huber loss becomes linear, in units of the targets' spread (the standard deviation
        a normal distribution with their median absolute deviation would have): 1.35 needs no
        tuning, whatever the targets are measured in.
    """

    constraints: ClassVar[Constraints] = REGRESSING

    loss: str = "squared_error"
    epsilon: float = 1.35

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the next rows of a stream, in the order given.

        However the stream is cut into calls, the result is the same to the last bit. If a call
        fails, nothing of it is kept. Centre and spread of the targets, in units of which
        everything is learnt, are those of the first 1,024 rows.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        """
        return self._learn_next(X, y, sample_weight, None)

    def _measure(self) -> Measure:
        """Return how targets are measured; Huber's kernel bends at 1, so its unit is epsilon's."""
        if self.loss == "huber":
            return Measure(robust=True, centred=self.fit_intercept, times=float(self.epsilon))
        return Measure(centred=self.fit_intercept)

    def _measuring(self) -> dict[str, Any]:
        """Return the parameters that tell how targets are measured."""
        return {"loss": self.loss, **({"epsilon": self.epsilon} if self.loss == "huber" else {})}

    def _check_labels(self, y: Any, n_rows: int) -> np.ndarray:
        return check_numbers(y, n_rows)

    def _begin_with(self, labels: np.ndarray | None, make_learner: MakeLearner) -> None:
        self._units = Units()
        self._measured_by = self._measuring()
        self._begin(make_learner)

    def _begin_source(self, source: Source, told: Any, make_learner: MakeLearner) -> Source:
        if told is not None:
            raise ValueError("classes: a regressor has none, its labels are numbers.")
        del self.feature_names_in_
        self._begin_with(None, make_learner)
        return source

    def _refuse_strange(self, labels: np.ndarray) -> None:
        """Let all numbers pass."""

    def _refuse_changed(self) -> None:
        super()._refuse_changed()
        self._refuse_other_measures()

    def _refuse_other_measures(self) -> None:
        """Raise a ValueError if targets were measured otherwise than parameters tell now."""
        for name, learnt in self._measured_by.items():
            refuse_change(self, name, learnt)

    def _chunk_labels(self, labels: np.ndarray, first: int) -> np.ndarray:
        try:
            numbers = labels.astype(np.float64)
        except (ValueError, TypeError):
            raise DataError(
                f"A label among rows {first:,} to {first + labels.size - 1:,} is not a number, and "
                "a regression learns numbers. Train a classifier instead, or name another label."
            ) from None
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if wrong.size:
            raise DataError(f"The label of row {first + wrong[0]:,} is not a finite number.")
        return numbers

    def _lessons(self, labels: np.ndarray, weights: np.ndarray) -> Lessons:
        check_some_weight(weights, "sample_weight leaves")
        self._units = self._units.settle(labels, weights, self._measure())
        return [self._units.scaled(labels)], weights

    def _sample_lessons(self, labels: np.ndarray, weights: np.ndarray) -> Lessons | None:
        if labels.dtype.kind not in "biuf" or not np.isfinite(labels).all() or not weights.any():
            return None
        numbers = labels.astype(np.float64)
        return [self._units.settle(numbers, weights, self._measure()).scaled(numbers)], weights

    def _next_lessons(self, labels: np.ndarray, weights: np.ndarray) -> NextLessons:
        self._units, scales = self._units.follow(labels, weights, self._measure())
        return ([labels], weights), scales

    def _label_facts(self, training_state: bool) -> dict[str, Any]:
        if training_state:  # a file of which could not tell
            self._refuse_other_measures()
        return {"units": self._units.tree(training_state)}

    def _set_label_facts(self, tree: dict[str, Any]) -> None:
        self._units = Units.from_tree(access.branch(tree, "units"))
        self._measured_by = self._measuring()

    def _progressive(self) -> ProgressiveNumbers:
        return ProgressiveNumbers()

    def _summary(self) -> dict[str, Any]:
        return {}
