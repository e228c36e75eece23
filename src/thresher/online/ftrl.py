"""FTRL-proximal with a step per feature (McMahan et al. 2013).

Of the sum n of squared gradients only the root is kept: a row needs it twice for each of its
features, and taking it is the dearest thing here.
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
from thresher.validation import Number, Parameter, Parameters

TINY = 1e-300
ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@dataclass(frozen=True)
class FTRL(RowLearner):
    """Every feature has its own step, which falls with the gradients it has seen."""

    alpha: float
    beta: float
    l1: float
    l2: float

    parameters: ClassVar[Parameters] = (
        Parameter(
            "alpha",
            0.3,
            (Number(0, open_low=True),),
            "float",
            "Length of the steps. Very sparse models on rows of unit length do best with 3 to 100.",
        ),
        Parameter("beta", 1.0, (Number(0),), "float", "Damps the first steps of a feature."),
        Parameter(
            "l1",
            1.0,
            (Number(0),),
            "float",
            "A feature whose adjusted gradient sum is no larger has weight 0.",
        ),
        Parameter("l2", 0.0, (Number(0),), "float", "Ridge penalty."),
    )
    by_slot: ClassVar[dict[str, type]] = {"z": np.float64, "roots": np.float64}
    whole: ClassVar[dict[str, type]] = {"bias_z": np.float64, "bias_root": np.float64}

    @classmethod
    def of(cls, loss: Loss, fit_intercept: bool, values: Mapping[str, Any]) -> Self:
        """Return the learner that a user's parameters describe."""
        numbers = (float(values[name]) for name in ("alpha", "beta", "l1", "l2"))
        return cls(loss.code, Steps(1.0, fit_intercept=fit_intercept), *numbers)

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learned before an overflow."""
        numbers = self.alpha, self.beta, self.l1, self.l2
        return follow_leader(rows, updates, self.loss, state.values(), numbers)

    def weights(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the closed form of the sums so far."""
        numbers = self.alpha, self.beta, self.l1, self.l2
        (z, roots, bias_z, bias_root), n = state.values(), state.n_slots
        weights = weights_of(z[:n], roots[:n], *numbers)
        bias = weights_of(bias_z, bias_root, self.alpha, self.beta, 0.0, 0.0)
        return weights, float(bias[0])


@jit
def weight_of(z, root, slowness, beta, l1, l2):
    """Return the weight as a closed form of the feature's two sums; the slowness is 1/alpha.

    TINY counts only where no gradient has come yet, and there the weight is 0.
    """
    return soft_threshold(-z, l1) / max((beta + root) * slowness + l2, TINY)


@jit
def weights_of(z, roots, alpha, beta, l1, l2):
    """Return the weights of many features."""
    weights = np.empty(z.size)
    for j in range(z.size):
        weights[j] = weight_of(z[j], roots[j], 1.0 / alpha, beta, l1, l2)
    return weights


@jit
def accumulate(z, root, gradient, weight, slowness):
    """Return a feature's sums with a gradient added; sigma is the growth of its inverse step."""
    grown = math.sqrt(root * root + gradient * gradient)
    sigma = (grown - root) * slowness
    return z + (gradient - sigma * weight), grown


@jit
def longest(starts):
    """Return the number of nonzeros of the longest row."""
    most = 0
    for i in range(starts.size - 1):
        most = max(most, starts[i + 1] - starts[i])
    return most


@jit
def follow_leader(rows, updates, loss, arrays, numbers):
    """Learn from the rows in turn; return how many were learned before the numbers overflowed.

    A row's sums are brought together first: side by side, several are divided and rooted at once.
    One function: arrays handed to others would be counted by Numba for every row.
    """
    starts, slots, values = rows
    order, _, biases, _, targets, importance = updates
    (z, roots, bias_z, bias_root), (alpha, beta, l1, l2) = arrays, numbers
    slowness = 1.0 / alpha
    most = longest(starts)
    near_z, near_roots, weights = np.empty(most), np.empty(most), np.empty(most)
    final = order.size - 1
    for t in range(order.size):
        prefetch(starts, order[min(t + LATER, final)])
        following = order[min(t + SOON, final)]
        i, size = order[t], biases[t]
        # unsigned, since Numba lets signed places count from an array's end
        first, count = np.uint64(starts[i]), np.uint64(starts[i + 1] - starts[i])
        for k in range(count):
            j = slots[first + k]
            near_z[k] = z[j]
            near_roots[k] = roots[j]
        prefetch_span(slots, starts[following], starts[following + 1])
        for k in range(count):
            weights[k] = weight_of(near_z[k], near_roots[k], slowness, beta, l1, l2)
        a = b = c = d = 0.0
        k = np.uint64(0)
        while k + THREE < count:  # by turns, so that no sum need wait for the one before
            a += weights[k] * values[first + k]
            b += weights[k + ONE] * values[first + k + ONE]
            c += weights[k + TWO] * values[first + k + TWO]
            d += weights[k + THREE] * values[first + k + THREE]
            k += FOUR
        while k < count:
            a += weights[k] * values[first + k]
            k += ONE
        bias = weight_of(bias_z[0], bias_root[0], slowness, beta, 0.0, 0.0)
        margin = bias * size + ((a + b) + (c + d))
        if not math.isfinite(margin):
            return t
        slope = importance[i] * slope_of(loss, margin, targets[i])
        prefetch_span(values, starts[following], starts[following + 1])
        for k in range(count):
            near_z[k], near_roots[k] = accumulate(
                near_z[k], near_roots[k], slope * values[first + k], weights[k], slowness
            )
        for k in range(count):
            j = slots[first + k]
            z[j] = near_z[k]
            roots[j] = near_roots[k]
        bias_z[0], bias_root[0] = accumulate(bias_z[0], bias_root[0], slope * size, bias, slowness)
    return order.size
