"""Stochastic gradient descent, w <- w - eta g x, alone and with shrinkage that is paid late."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from thresher.jit import jit
from thresher.losses import Loss, slope_of
from thresher.online.arrays import Arrays
from thresher.online.passes import Updates, soft_threshold
from thresher.online.prefetch import LATER, SOON, prefetch, prefetch_span
from thresher.online.protocol import RowLearner
from thresher.online.steps import STEPS, steps_for
from thresher.rows import Rows
from thresher.validation import Parameters

NEVER = -1.0  # the ceiling of weights that are not shrunk


@dataclass(frozen=True)
class PlainSGD(RowLearner):
    """Stochastic gradient descent, which shrinks nothing (the paper's Eq. 2)."""

    parameters: ClassVar[Parameters] = STEPS
    by_slot: ClassVar[dict[str, type]] = {"weights": np.float64}
    whole: ClassVar[dict[str, type]] = {"bias": np.float64}

    @classmethod
    def of(cls, loss: Loss, fit_intercept: bool, values: Mapping[str, Any]) -> Self:
        """Return the learner that a user's parameters describe."""
        return cls(loss.code, steps_for(loss, values, fit_intercept))

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learned before an overflow."""
        weights = state["weights"]
        arrays = weights, weights, state["bias"], np.zeros(1)  # nothing is ever settled
        return descend(rows, updates, self.loss, arrays, (0.0, 0, NEVER))

    def weights(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the weights by slot and the constant input's weight."""
        return state.used("weights").copy(), float(state["bias"][0])


@dataclass(frozen=True)
class ShrinkingSGD(RowLearner):
    """SGD that shrinks all weights, each as late as possible.

    Weights shrink by ``rate`` times what has become due on a clock: the sum of steps, or the number
    of updates, due in bursts of ``size``. Shrinking twice is shrinking once by the sum, so a slot
    that no row touches need only remember what was due when it was last settled.
    """

    rate: float
    size: int = 0
    ceiling: float = math.inf  # larger weights are not shrunk

    by_slot: ClassVar[dict[str, type]] = {"weights": np.float64, "settled": np.float64}
    whole: ClassVar[dict[str, type]] = {"bias": np.float64, "clock": np.float64}

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learned before an overflow."""
        rule = self.rate, self.size, self.ceiling
        return descend(rows, updates, self.loss, state.values(), rule)

    def weights(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the weights with all shrinkage paid."""
        weights, settled = state.used("weights").copy(), state.used("settled")
        due = due_at(state["clock"][0], self.size)
        settle_all(weights, settled, due, self.rate, self.ceiling)
        return weights, float(state["bias"][0])


@jit
def due_at(clock, size):
    """Return what is due: all, or whole bursts."""
    return clock - clock % size if size > 0 else clock


@jit
def shrink_below(weight, gravity, ceiling):
    """Soft-threshold a weight unless it is above the ceiling."""
    return weight if abs(weight) > ceiling else soft_threshold(weight, gravity)


@jit
def settle_all(weights, settled, due, rate, ceiling):
    """Shrink each weight by what it owes."""
    for j in range(weights.size):
        weights[j] = shrink_below(weights[j], rate * (due - settled[j]), ceiling)


@jit
def descend(rows, updates, loss, arrays, rule):
    """Learn from the rows in turn; return how many were learned before the numbers overflowed.

    A row's weights are settled on the way to its margin, in one function: arrays handed to others
    would be counted by Numba for every row.
    """
    starts, slots, values = rows
    order, steps, biases, _, targets, importance = updates
    (weights, settled, bias, clock), (rate, size, ceiling) = arrays, rule
    constant, now, due, learned = bias[0], clock[0], due_at(clock[0], size), order.size
    final = order.size - 1
    for t in range(order.size):
        prefetch(starts, order[min(t + LATER, final)])
        i, following = order[t], order[min(t + SOON, final)]
        # unsigned, since Numba lets signed places count from an array's end
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        margin = 0.0
        for k in range(first, last):
            j = slots[k]
            weight = weights[j]
            if ceiling != NEVER:
                weight = shrink_below(weight, rate * (due - settled[j]), ceiling)
                weights[j] = weight
                settled[j] = due
            margin += weight * values[k]
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
        now += steps[t] if size == 0 else 1.0
        if now - due >= size:
            due = now
    bias[0], clock[0] = constant, now
    return learned
