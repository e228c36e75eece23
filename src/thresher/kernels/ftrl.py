"""FTRL-proximal with a step per feature (McMahan et al. 2013).

Of the sum n of squared gradients only the root is kept: a row needs it twice for each of its
features, and taking it is the dearest thing here.
"""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import prefetch_next
from thresher.kernels.shrink import soft_threshold

TINY = 1e-300


@jit
def weight_of(z, root, slowness, beta, l1, l2):
    """Return the weight as a closed form of the feature's two sums; the slowness is 1/alpha.

    TINY counts only where no gradient has come yet, and there the weight is 0.
    """
    return soft_threshold(-z, l1) / max((beta + root) * slowness + l2, TINY)


@jit
def weights_of(z, roots, alpha, beta, l1, l2):
    """Return the weights of many features."""
    weights = np.empty_like(z)
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
def margin_of(slots, values, z, roots, weights, slowness, beta, l1, l2):
    """Return the row's inner product with the weights, and write them down one by one."""
    total = 0.0
    for k in range(slots.size):
        j = slots[k]
        weights[k] = weight_of(z[j], roots[j], slowness, beta, l1, l2)
        total += weights[k] * values[k]
    return total


@jit
def follow_leader(rows, updates, loss, z, roots, bias_z, bias_root, alpha, beta, l1, l2):
    """Learn from the rows in turn; return how many were learnt before the numbers overflowed."""
    slowness = 1.0 / alpha
    weights = np.empty(longest(rows.starts))
    for t in range(updates.order.size):
        i = updates.order[t]
        first, last = rows.starts[i], rows.starts[i + 1]
        slots, values = rows.slots[first:last], rows.values[first:last]
        prefetch_next(rows, updates.order, t)
        size = updates.biases[t]
        bias = weight_of(bias_z[0], bias_root[0], slowness, beta, 0.0, 0.0)
        margin = bias * size
        margin += margin_of(slots, values, z, roots, weights, slowness, beta, l1, l2)
        if not math.isfinite(margin):
            return t
        slope = updates.importance[i] * slope_of(loss, margin, updates.targets[i])
        for k in range(slots.size):
            j = slots[k]
            z[j], roots[j] = accumulate(z[j], roots[j], slope * values[k], weights[k], slowness)
        bias_z[0], bias_root[0] = accumulate(bias_z[0], bias_root[0], slope * size, bias, slowness)
    return updates.order.size
