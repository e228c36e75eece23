"""Truncated gradient (Langford, Li & Zhang 2009), the paper's Algorithm 1.

After every K updates, w_j <- T(w_j, g K) for every weight up to a ceiling. Truncations are lazy: a
weight that no row touches only ever shrinks, and n truncations by g are one by n g; so each slot
remembers how many it has been given, and pays the rest when it is next touched.
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
from thresher.validation import Number, OneOf, Whole


@dataclass(frozen=True)
class TruncatedGradient(RowLearner):
    """SGD whose weights are all truncated after every ``burst_size`` updates."""

    gravity: float
    burst_size: int
    ceiling: float

    parameters: ClassVar[Parameters] = (
        Parameter(
            "gravity",
            1e-6,
            (Number(0),),
            "float",
            "Shrinkage per update, in units of the weights: a truncation takes ``gravity * "
            "burst_size`` from every weight.",
        ),
        Parameter("burst_size", 10, (Whole(1),), "int", "Updates between two truncations."),
        Parameter(
            "ceiling",
            None,
            (Number(0), OneOf(None)),
            "float or None",
            "Weights above it are not shrunk; None shrinks all.",
        ),
        *STEPS,
    )
    by_slot: ClassVar[dict[str, type]] = {"weights": np.float64, "paid": np.int64}
    whole: ClassVar[dict[str, type]] = {"bias": np.float64, "updates": np.int64}

    @classmethod
    def of(cls, loss: Loss, fit_intercept: bool, values: Mapping[str, Any]) -> Self:
        """Return the learner that a user's parameters describe."""
        ceiling = math.inf if values["ceiling"] is None else float(values["ceiling"])
        steps = steps_for(loss, values, fit_intercept)
        return cls(loss.code, steps, float(values["gravity"]), int(values["burst_size"]), ceiling)

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learned before an overflow."""
        return descend_truncating(
            rows,
            updates,
            self.loss,
            state["weights"],
            state["bias"],
            state["paid"],
            state["updates"],
            self.gravity,
            self.burst_size,
            self.ceiling,
        )

    def weights(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the weights with every overdue truncation paid."""
        weights = state.used("weights").copy()
        owed = state["updates"][0] // self.burst_size - state.used("paid")
        pay_all(weights, self.gravity * self.burst_size * owed, self.ceiling)
        return weights, float(state["bias"][0])


@jit
def truncate_below(weight, gravity, ceiling):
    """Soft-threshold a weight unless it is above the ceiling."""
    if abs(weight) > ceiling:
        return weight
    return soft_threshold(weight, gravity)


@jit
def pay_all(weights, owed, ceiling):
    """Truncate each weight by what it owes."""
    for j in range(weights.size):
        weights[j] = truncate_below(weights[j], owed[j], ceiling)


@jit
def descend_truncating(rows, updates, loss, weights, bias, paid, done, gravity, size, ceiling):
    """Learn from the rows in turn; return how many were learned before the numbers overflowed.

    ``done[0]`` counts updates, a burst has ``size`` of them. A row's weights are settled on the
    way to its margin, in one function: arrays handed to others would be counted by Numba for every
    row.
    """
    starts, slots, values = rows
    order, steps, biases, _, targets, importance = updates
    per_burst = gravity * size
    truncations, filled = done[0] // size, done[0] % size
    constant, learned = bias[0], order.size
    final = order.size - 1
    for t in range(order.size):
        prefetch(starts, order[min(t + LATER, final)])
        i, following = order[t], order[min(t + SOON, final)]
        # unsigned, since Numba lets signed places count from an array's end
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        margin = 0.0
        for k in range(first, last):
            j = slots[k]
            weight = truncate_below(weights[j], per_burst * (truncations - paid[j]), ceiling)
            weights[j] = weight
            paid[j] = truncations
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
        filled += 1
        if filled == size:
            truncations, filled = truncations + 1, 0
    bias[0] = constant
    done[0] += learned
    return learned
