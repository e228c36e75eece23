"""Regularized dual averaging, l1, enhanced (Xiao 2010).

Weights are a closed form of the mean subgradient, so nothing is ever overdue: only the sums of
subgradients are kept, and the weights of a row's features are evaluated when the row comes.
"""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import prefetch_next
from thresher.kernels.rows import add
from thresher.kernels.shrink import soft_threshold

# A full-step intercept swings and drowns the shrunken weights.
INTERCEPT_RATE = 0.01


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
    weights = np.empty_like(sums)
    for j in range(sums.size):
        weights[j] = weight_of(sums[j], updates_done, gamma, l1, rho)
    return weights


@jit
def average_gradients(rows, updates, loss, sums, bias_sum, done, gamma, l1, rho):
    """Learn from the rows in turn; the steps are 1/gamma, and ``gamma[0]`` is the last one's."""
    for t in range(updates.order.size):
        i = updates.order[t]
        first, last = rows.starts[i], rows.starts[i + 1]
        slots, values = rows.slots[first:last], rows.values[first:last]
        prefetch_next(rows, updates.order, t)
        margin = bias_of(bias_sum[0], done[0], gamma[0]) * updates.biases[t]
        for k in range(slots.size):
            margin += weight_of(sums[slots[k]], done[0], gamma[0], l1, rho) * values[k]
        if not math.isfinite(margin):
            return t
        slope = updates.importance[i] * slope_of(loss, margin, updates.targets[i])
        add(slots, values, sums, slope)
        bias_sum[0] += slope * updates.biases[t]
        done[0] += 1
        gamma[0] = 1.0 / updates.steps[t]
    return updates.order.size
