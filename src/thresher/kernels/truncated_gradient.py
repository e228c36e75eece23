"""Truncated gradient (Algorithm 1): after every K updates, w_j <- T(w_j, g_0 K) for every j.

Truncations are lazy. A weight that no row touches only ever shrinks, and n truncations by g are one
by n g; so each slot remembers how many it has been given, and pays the rest when next touched.
"""

import math

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import prefetch_next
from thresher.kernels.rows import add, dot
from thresher.kernels.shrink import truncate_below


@jit
def settle_row(slots, weights, settled, truncations, gravity, ceiling):
    """Bring the row's weights up to date with the truncations so far."""
    for k in range(slots.size):
        j = slots[k]
        overdue = truncations - settled[j]
        weights[j] = truncate_below(weights[j], gravity * overdue, ceiling)
        settled[j] = truncations


@jit
def descend_truncating(rows, updates, loss, weights, bias, settled, clock, gravity, size, ceiling):
    """Learn from the rows in turn; ``clock[0]`` counts updates, a burst has ``size`` of them."""
    per_burst = gravity * size
    for t in range(updates.order.size):
        i = updates.order[t]
        first, last = rows.starts[i], rows.starts[i + 1]
        slots, values = rows.slots[first:last], rows.values[first:last]
        prefetch_next(rows, updates.order, t)
        settle_row(slots, weights, settled, clock[0] // size, per_burst, ceiling)
        margin = dot(slots, values, weights) + updates.biases[t] * bias[0]
        if not math.isfinite(margin):
            return t
        slope = updates.importance[i] * slope_of(loss, margin, updates.targets[i])
        add(slots, values, weights, -updates.steps[t] * slope)
        bias[0] -= updates.steps[t] * slope * updates.biases[t]
        clock[0] += 1
    return updates.order.size
