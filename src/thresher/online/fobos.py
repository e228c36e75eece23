"""FOBOS, forward-backward splitting (Duchi & Singer 2009).

An SGD step, then w_j <- T(w_j, eta_t lambda) for every j. Shrinkage is lazy: ``total[0]`` is the
running sum of eta_t, and a slot that was last settled at sum s owes lambda times what it has grown
since.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from thresher.jit import jit
from thresher.losses import Loss, slope_of
from thresher.online.arrays import Arrays
from thresher.online.parameter import Parameter, Parameters
from thresher.online.prefetch import LATER, SOON, prefetch, prefetch_span
from thresher.online.protocol import RowLearner
from thresher.online.steps import STEPS, steps_for
from thresher.online.updates import Updates, soft_threshold
from thresher.rows import Rows
from thresher.validation import Number


@dataclass(frozen=True)
class FOBOS(RowLearner):
    """An SGD step, then every weight shrinks by ``l1`` times the step."""

    l1: float

    parameters: ClassVar[Parameters] = (
        Parameter(
            "l1",
            1e-4,
            (Number(0),),
            "float",
            "Every update shrinks every weight by ``l1`` times the step.",
        ),
        *STEPS,
    )
    by_slot: ClassVar[dict[str, type]] = {"weights": np.float64, "settled": np.float64}
    whole: ClassVar[dict[str, type]] = {"bias": np.float64, "total": np.float64}

    @classmethod
    def of(cls, loss: Loss, fit_intercept: bool, values: Mapping[str, Any]) -> Self:
        """Return the learner that a user's parameters describe."""
        return cls(loss.code, steps_for(loss, values, fit_intercept), float(values["l1"]))

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learned before an overflow."""
        return descend_shrinking(
            rows,
            updates,
            self.loss,
            state["weights"],
            state["bias"],
            state["settled"],
            state["total"],
            self.l1,
        )

    def weights(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the weights with all shrinkage paid."""
        weights = state.used("weights").copy()
        shrink_all(weights, self.l1 * (state["total"][0] - state.used("settled")))
        return weights, float(state["bias"][0])


@jit
def shrink_all(weights, owed):
    """Shrink each weight by what it owes."""
    for j in range(weights.size):
        weights[j] = soft_threshold(weights[j], owed[j])


@jit
def descend_shrinking(rows, updates, loss, weights, bias, settled, total, l1):
    """Learn from the rows in turn; return how many were learned before the numbers overflowed.

    A row's weights are settled on the way to its margin, in one function: arrays handed to others
    would be counted by Numba for every row.
    """
    starts, slots, values = rows
    order, steps, biases, _, targets, importance = updates
    constant, sum_of_steps, learned = bias[0], total[0], order.size
    final = order.size - 1
    for t in range(order.size):
        prefetch(starts, order[min(t + LATER, final)])
        i, following = order[t], order[min(t + SOON, final)]
        # unsigned, since Numba lets signed places count from an array's end
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        margin = 0.0
        for k in range(first, last):
            j = slots[k]
            weight = soft_threshold(weights[j], l1 * (sum_of_steps - settled[j]))
            weights[j] = weight
            settled[j] = sum_of_steps
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
        sum_of_steps += steps[t]
    bias[0], total[0] = constant, sum_of_steps
    return learned
