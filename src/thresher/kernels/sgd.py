"""Plain stochastic gradient descent: w <- w - eta g x."""

import math

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import prefetch_next
from thresher.kernels.rows import add, dot


@jit
def descend(rows, updates, loss, weights, bias):
    """Learn from the rows in turn; return how many were learnt before the numbers overflowed."""
    for t in range(updates.order.size):
        i = updates.order[t]
        first, last = rows.starts[i], rows.starts[i + 1]
        slots, values = rows.slots[first:last], rows.values[first:last]
        prefetch_next(rows, updates.order, t)
        size = updates.biases[t]
        margin = dot(slots, values, weights) + size * bias[0]
        if not math.isfinite(margin):
            return t
        slope = updates.importance[i] * slope_of(loss, margin, updates.targets[i])
        step = updates.steps[t]
        add(slots, values, weights, -step * slope)
        bias[0] -= step * slope * size
    return updates.order.size
