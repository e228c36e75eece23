"""FOBOS: an SGD step, then w_j <- T(w_j, eta_t lambda) for every j.

Shrinkage is lazy: ``clock[0]`` is the running total of eta_t, and a slot that last settled at total
s owes lambda times what the total has grown since.
"""

import math

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import prefetch_next
from thresher.kernels.rows import add, dot
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
    """Learn from the rows in turn; return how many were learnt before the numbers overflowed."""
    for t in range(updates.order.size):
        i = updates.order[t]
        first, last = rows.starts[i], rows.starts[i + 1]
        slots, values = rows.slots[first:last], rows.values[first:last]
        prefetch_next(rows, updates.order, t)
        settle_row(slots, weights, settled, clock[0], l1)
        margin = dot(slots, values, weights) + updates.biases[t] * bias[0]
        if not math.isfinite(margin):
            return t
        slope = updates.importance[i] * slope_of(loss, margin, updates.targets[i])
        add(slots, values, weights, -updates.steps[t] * slope)
        bias[0] -= updates.steps[t] * slope * updates.biases[t]
        clock[0] += updates.steps[t]
    return updates.order.size
