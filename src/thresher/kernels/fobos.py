"""FOBOS: an SGD step, then w_j <- T(w_j, eta_t lambda) for every j.

Shrinkage is lazy: ``clock[0]`` is the running total of eta_t, and a slot that last settled at total
s owes lambda times what the total has grown since.
"""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import LATER, SOON, prefetch, prefetch_span
from thresher.kernels.shrink import soft_threshold


@jit
def settle_row(slots, weights, settled, total, l1):
    """Bring the row's weights up to date with the shrinkage so far."""
    for k in range(slots.size):
        j = slots[k]
        weights[j] = soft_threshold(weights[j], l1 * (total - settled[j]))
        settled[j] = total


@jit
def descend_shrinking(rows, updates, loss, weights, bias, settled, clock, l1):
    """Learn from the rows in turn; return how many were learnt before the numbers overflowed.

    A row's weights are settled on the way to its margin, in one function: arrays handed to others
    would be counted by Numba for every row.
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
        i, total = order[t], clock[0]
        # unsigned, since Numba lets signed places count from an array's end
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        margin = 0.0
        for k in range(first, last):
            j = slots[k]
            weight = soft_threshold(weights[j], l1 * (total - settled[j]))
            weights[j] = weight
            settled[j] = total
            margin += weight * values[k]
        margin += biases[t] * bias[0]
        if not math.isfinite(margin):
            return t
        slope = importance[i] * slope_of(loss, margin, targets[i])
        change = -steps[t] * slope
        prefetch_span(slots, starts[following], starts[following + 1])
        prefetch_span(values, starts[following], starts[following + 1])
        for k in range(first, last):
            weights[slots[k]] += change * values[k]
        bias[0] -= steps[t] * slope * biases[t]
        clock[0] += steps[t]
    return order.size
