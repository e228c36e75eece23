"""FTRL-proximal with a step per feature (McMahan et al. 2013)."""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of


@jit
def weight_of(z, n, alpha, beta, l1, l2):
    """Return the weight as a closed form of the feature's two sums."""
    if abs(z) <= l1:
        return 0.0
    pull = z - math.copysign(l1, z)
    return -pull / ((beta + math.sqrt(n)) / alpha + l2)


@jit
def weights_of(z, n, alpha, beta, l1, l2):
    """Return the weights of many features."""
    weights = np.empty_like(z)
    for j in range(z.size):
        weights[j] = weight_of(z[j], n[j], alpha, beta, l1, l2)
    return weights


@jit
def accumulate(z, n, j, gradient, weight, alpha):
    """Add a gradient to a feature's sums; sigma is the growth of its inverse step."""
    grown = n[j] + gradient * gradient
    sigma = (math.sqrt(grown) - math.sqrt(n[j])) / alpha
    z[j] += gradient - sigma * weight
    n[j] = grown


@jit
def follow_leader(rows, updates, loss, z, n, bias_z, bias_n, alpha, beta, l1, l2):
    """Learn from the rows in turn; return how many were learnt before the numbers overflowed."""
    for t in range(updates.order.size):
        i = updates.order[t]
        first, last = rows.starts[i], rows.starts[i + 1]
        slots, values = rows.slots[first:last], rows.values[first:last]
        size = updates.biases[t]
        bias = weight_of(bias_z[0], bias_n[0], alpha, beta, 0.0, 0.0)
        margin = bias * size
        for k in range(slots.size):
            margin += weight_of(z[slots[k]], n[slots[k]], alpha, beta, l1, l2) * values[k]
        if not math.isfinite(margin):
            return t
        slope = updates.importance[i] * slope_of(loss, margin, updates.targets[i])
        for k in range(slots.size):
            j = slots[k]
            weight = weight_of(z[j], n[j], alpha, beta, l1, l2)
            accumulate(z, n, j, slope * values[k], weight, alpha)
        accumulate(bias_z, bias_n, 0, slope * size, bias, alpha)
    return updates.order.size
