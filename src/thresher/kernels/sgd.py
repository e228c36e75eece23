"""Plain stochastic gradient descent: w <- w - eta g x."""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import LATER, SOON, prefetch, prefetch_span


@jit
def descend(rows, updates, loss, weights, bias):
    """Learn from the rows in turn; return how many were learnt before the numbers overflowed.

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
        i, size = order[t], biases[t]
        # unsigned, since Numba lets signed places count from an array's end
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        margin = 0.0
        for k in range(first, last):
            margin += weights[slots[k]] * values[k]
        margin += size * bias[0]
        if not math.isfinite(margin):
            return t
        slope = importance[i] * slope_of(loss, margin, targets[i])
        change = -steps[t] * slope
        prefetch_span(slots, starts[following], starts[following + 1])
        prefetch_span(values, starts[following], starts[following + 1])
        for k in range(first, last):
            weights[slots[k]] += change * values[k]
        bias[0] -= steps[t] * slope * size
    return order.size
