"""Stochastic gradient descent, which shrinks nothing: w <- w - eta g x."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from thresher.jit import jit
from thresher.losses import Loss, slope_of
from thresher.online.arrays import Arrays
from thresher.online.parameter import Parameters
from thresher.online.prefetch import LATER, SOON, prefetch, prefetch_span
from thresher.online.protocol import RowLearner
from thresher.online.steps import STEPS, steps_for
from thresher.online.updates import Updates
from thresher.rows import Rows


@dataclass(frozen=True)
class PlainSGD(RowLearner):
    """Stochastic gradient descent."""

    parameters: ClassVar[Parameters] = STEPS
    by_slot: ClassVar[dict[str, type]] = {"weights": np.float64}
    whole: ClassVar[dict[str, type]] = {"bias": np.float64}

    @classmethod
    def of(cls, loss: Loss, fit_intercept: bool, values: Mapping[str, Any]) -> Self:
        """Return the learner that a user's parameters describe."""
        return cls(loss.code, steps_for(loss, values, fit_intercept))

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learned before an overflow."""
        return descend(rows, updates, self.loss, state["weights"], state["bias"])

    def weights(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the weights by slot and the constant input's weight."""
        return state.used("weights").copy(), float(state["bias"][0])


@jit
def descend(rows, updates, loss, weights, bias):
    """Learn from the rows in turn; return how many were learned before the numbers overflowed.

    One function: arrays handed to others would be counted by Numba for every row.
    """
    starts, slots, values = rows
    order, steps, biases, _, targets, importance = updates
    constant, learned = bias[0], order.size
    final = order.size - 1
    for t in range(order.size):
        prefetch(starts, order[min(t + LATER, final)])
        i, following = order[t], order[min(t + SOON, final)]
        # unsigned, since Numba lets signed places count from an array's end
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        margin = 0.0
        for k in range(first, last):
            margin += weights[slots[k]] * values[k]
        margin += biases[t] * constant
        if not math.isfinite(margin):
            learned = t
            break
        prefetch_span(slots, starts[following], starts[following + 1])
        prefetch_span(values, starts[following], starts[following + 1])
        change = -steps[t] * importance[i] * slope_of(loss, margin, targets[i])
        for k in range(first, last):
            weights[slots[k]] += change * values[k]
        constant += change * biases[t]
    bias[0] = constant
    return learned
