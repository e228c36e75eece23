"""Regularized dual averaging, l1, enhanced (Xiao 2010).

Weights are a closed form of the mean subgradient, so nothing is ever overdue: only the sums of
subgradients are kept, and the weights of a row's features are evaluated when the row comes.
"""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import LATER, SOON, prefetch, prefetch_span
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
    """Learn from the rows in turn; the steps are 1/gamma, and ``gamma[0]`` is the last one's.

    One function: arrays handed to others would be counted by Numba for every row.
    """
    starts, slots, values = rows
    order, steps, biases, _, targets, importance = updates
    final = order.size - 1
    for t in range(order.size):
        later = order[min(t + LATER, final)]
        prefetch(starts, later)
        prefetch(targets, later)
        prefetch(importance, later)
        following = order[min(t + SOON, final)]
        i, count, slowness = order[t], done[0], gamma[0]
        # unsigned, since Numba lets signed places count from an array's end
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        margin = bias_of(bias_sum[0], count, slowness) * biases[t]
        for k in range(first, last):
            margin += weight_of(sums[slots[k]], count, slowness, l1, rho) * values[k]
        if not math.isfinite(margin):
            return t
        slope = importance[i] * slope_of(loss, margin, targets[i])
        prefetch_span(slots, starts[following], starts[following + 1])
        prefetch_span(values, starts[following], starts[following + 1])
        for k in range(first, last):
            sums[slots[k]] += slope * values[k]
        bias_sum[0] += slope * biases[t]
        done[0] += 1
        gamma[0] = 1.0 / steps[t]
    return order.size
