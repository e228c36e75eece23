"""Regularized dual averaging with the enhanced l1 penalty (Xiao 2010; the paper's Eq. 18).

Weights are a closed form of the mean subgradient, so nothing is ever overdue: only the sums of
subgradients are kept, and the weights of a row's features are evaluated when the row comes.
"""

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
from thresher.online.steps import Steps
from thresher.rows import Rows
from thresher.validation import Number, OneOf, Parameter, Parameters

FIRST = 100.0  # how long steps begin, relative to a usual constant step
# A full-step intercept swings and drowns the shrunken weights.
INTERCEPT_RATE = 0.01


@dataclass(frozen=True)
class RDA(RowLearner):
    """Weights are a thresholded multiple of the mean gradient so far; steps are 1/gamma."""

    l1: float
    rho: float

    parameters: ClassVar[Parameters] = (
        Parameter(
            "l1",
            1e-4,
            (Number(0),),
            "float",
            "A feature whose mean gradient is no larger has weight 0.",
        ),
        Parameter(
            "gamma",
            "auto",
            (OneOf("auto"), Number(0, open_low=True)),
            'float or "auto"',
            "The larger, the shorter the steps, which are 1 / (gamma sqrt(t)). A number is "
            'absolute; "auto" is relative to the mean squared norm of the rows so far.',
        ),
        Parameter(
            "rho",
            0.0,
            (Number(0),),
            "float",
            "Strength of the enhanced penalty ``gamma * rho / sqrt(t)``, which fades.",
        ),
    )
    by_slot: ClassVar[dict[str, type]] = {"sums": np.float64}
    whole: ClassVar[dict[str, type]] = {
        "bias_sum": np.float64,
        "updates": np.int64,
        "gamma": np.float64,
    }

    @classmethod
    def of(cls, loss: Loss, fit_intercept: bool, values: Mapping[str, Any]) -> Self:
        """Return the learner that a user's parameters describe."""
        eta0 = None if values["gamma"] == "auto" else 1.0 / float(values["gamma"])
        steps = Steps(FIRST * loss.step, eta0, fit_intercept=fit_intercept)
        return cls(loss.code, steps, float(values["l1"]), float(values["rho"]))

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learned before an overflow."""
        return average_gradients(rows, updates, self.loss, state.values(), self.l1, self.rho)

    def weights(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the closed form of the sums so far."""
        done, gamma = state["updates"][0], state["gamma"][0]
        weights = weights_of(state.used("sums"), done, gamma, self.l1, self.rho)
        return weights, float(bias_of(state["bias_sum"][0], done, gamma))


@jit
def weight_of(gradient_sum, updates_done, gamma, l1, rho):
    """Return w = -(sqrt(t)/gamma) T(gbar, l1 + gamma rho / sqrt(t)), and 0 before any update."""
    if updates_done == 0:
        return 0.0
    root = math.sqrt(updates_done)
    mean = gradient_sum / updates_done
    return -(root / gamma) * soft_threshold(mean, l1 + gamma * rho / root)


@jit
def bias_of(gradient_sum, updates_done, gamma):
    """Return the weight of the constant input: never shrunk, and slow."""
    return INTERCEPT_RATE * weight_of(gradient_sum, updates_done, gamma, 0.0, 0.0)


@jit
def weights_of(sums, updates_done, gamma, l1, rho):
    """Return the weights of many features."""
    weights = np.empty(sums.size)
    for j in range(sums.size):
        weights[j] = weight_of(sums[j], updates_done, gamma, l1, rho)
    return weights


@jit
def average_gradients(rows, updates, loss, arrays, l1, rho):
    """Learn from the rows in turn; return how many were learned before the numbers overflowed.

    The steps are 1/gamma, and ``gamma[0]`` is the last one's. One function: arrays handed to others
    would be counted by Numba for every row.
    """
    starts, slots, values = rows
    order, steps, biases, _, targets, importance = updates
    sums, bias_sum, done, gamma = arrays
    count, slowness, constant, learned = done[0], gamma[0], bias_sum[0], order.size
    final = order.size - 1
    for t in range(order.size):
        prefetch(starts, order[min(t + LATER, final)])
        i, following = order[t], order[min(t + SOON, final)]
        # unsigned, since Numba lets signed places count from an array's end
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        margin = bias_of(constant, count, slowness) * biases[t]
        for k in range(first, last):
            margin += weight_of(sums[slots[k]], count, slowness, l1, rho) * values[k]
        if not math.isfinite(margin):
            learned = t
            break
        prefetch_span(slots, starts[following], starts[following + 1])
        prefetch_span(values, starts[following], starts[following + 1])
        slope = importance[i] * slope_of(loss, margin, targets[i])
        for k in range(first, last):
            sums[slots[k]] += slope * values[k]
        constant += slope * biases[t]
        count += 1
        slowness = 1.0 / steps[t]
    bias_sum[0], done[0], gamma[0] = constant, count, slowness
    return learned
