"""Truncated gradient (Algorithm 1): after every K updates, w_j <- T(w_j, g_0 K) for every j.

Truncations are lazy. A weight that no row touches only ever shrinks, and n truncations by g are one
by n g; so each slot remembers how many it has been given, and pays the rest when next touched.
"""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import LATER, SOON, prefetch, prefetch_span
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
    """Learn from the rows in turn; ``clock[0]`` counts updates, a burst has ``size`` of them.

    A row's weights are settled on the way to its margin, in one function: arrays handed to others
    would be counted by Numba for every row.
    """
    starts, slots, values = rows
    order, steps, biases, _, targets, importance = updates
    per_burst = gravity * size
    truncations, filled = clock[0] // size, clock[0] % size
    constant = bias[0]
    learnt = order.size
    final = order.size - 1
    for t in range(order.size):
        later = order[min(t + LATER, final)]
        prefetch(starts, later)
        prefetch(targets, later)
        prefetch(importance, later)
        following = order[min(t + SOON, final)]
        i = order[t]
        # unsigned, since Numba lets signed places count from an array's end
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        margin = 0.0
        for k in range(first, last):
            j = slots[k]
            overdue = truncations - settled[j]
            weight = truncate_below(weights[j], per_burst * overdue, ceiling)
            weights[j] = weight
            settled[j] = truncations
            margin += weight * values[k]
        margin += biases[t] * constant
        if not math.isfinite(margin):
            learnt = t
            break
        slope = importance[i] * slope_of(loss, margin, targets[i])
        change = -steps[t] * slope
        prefetch_span(slots, starts[following], starts[following + 1])
        prefetch_span(values, starts[following], starts[following + 1])
        for k in range(first, last):
            weights[slots[k]] += change * values[k]
        constant -= steps[t] * slope * biases[t]
        filled += 1
        if filled == size:
            truncations, filled = truncations + 1, 0
    bias[0] = constant
    clock[0] += learnt
    return learnt
