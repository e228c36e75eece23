"""Bursts of SGD updates on several paths at once (Algorithm 3)."""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import prefetch
from thresher.kernels.shrink import soft_threshold
from thresher.kernels.tallies import count_changes, count_informative, pool_ratios
from thresher.kernels.units import INFORMATIVE, dose_of

AHEAD = 8  # values in a cache line of the next row, which is asked for while one is learnt


@jit
def truncate(unit, takes, shrinkage, gravity):
    """Shrink every touched weight by the information it received: w_j <- T(w_j, g_0 dose)."""
    for n in range(unit.cursor[0]):
        j = unit.touched[n]
        pull = gravity * dose_of(shrinkage, unit.touches[j])
        for lane in range(takes.size):
            if takes[lane] > 0.0:
                unit.weights[j, lane] = soft_threshold(unit.weights[j, lane], pull)


@jit
def forget_touches(unit):
    """Make ready for the next burst."""
    for n in range(unit.cursor[0]):
        unit.touches[unit.touched[n]] = 0
    unit.cursor[0] = 0


@jit
def close_burst(burst, takes, ends, unit, tally):
    """Truncate, and take down what the stage's statistics need at the end of its burst."""
    pool_ratios(unit, takes, burst.shrinkage, tally)
    truncate(unit, takes, burst.shrinkage, burst.gravity)
    if burst.event == INFORMATIVE:
        count_informative(unit, takes, tally)
    else:
        count_changes(unit, takes, ends, tally)
    forget_touches(unit)


@jit
def run_bursts(rows, updates, burst, done, takes, ends, stable, unit, tally):
    """Learn from the rows in turn, closing bursts as they fill.

    ``done`` updates of the first burst came before; burst b has the weight ``takes[b, lane]`` on
    each path, 0 where the path lets it pass. ``ends`` are those of bursts that each path has had in
    the stage. Returns how many rows were learnt before the numbers overflowed.

    One long function: arrays handed to others would be counted by Numba for every row, which costs
    more than the row.
    """
    starts, slots, values = rows
    order, steps, biases, _, targets, importance = updates
    weights, bias, touches, touched, before, cursor = unit
    lanes = np.uint64(bias.size)
    sums = np.empty(bias.size)
    number, filled = 0, done
    for t in range(order.size):
        if t + 1 < order.size:
            following = order[t + 1]
            for k in range(starts[following], starts[following + 1], AHEAD):
                prefetch(slots, k)
                prefetch(values, k)
        active = False
        for lane in range(lanes):
            active |= takes[number, lane] > 0.0
        if active:
            i = order[t]
            # unsigned, since Numba lets signed places count from an array's end
            first, last, size = np.uint64(starts[i]), np.uint64(starts[i + 1]), biases[t]
            rate = steps[t] * importance[i]
            for lane in range(lanes):
                sums[lane] = size * bias[lane]
            for k in range(first, last):
                j, x = slots[k], values[k]
                for lane in range(lanes):
                    sums[lane] += weights[j, lane] * x
            for lane in range(lanes):
                if not math.isfinite(sums[lane]):
                    return t
                slope = slope_of(burst.loss, sums[lane], targets[i])
                sums[lane] = -rate * takes[number, lane] * slope
                bias[lane] += sums[lane] * size
            n = np.uint64(cursor[0])
            for k in range(first, last):
                j, x = slots[k], values[k]
                if stable[j]:
                    if touches[j] == 0:
                        touched[n] = j
                        for lane in range(lanes):
                            before[n, lane] = weights[j, lane]
                        n += np.uint64(1)
                    touches[j] += 1
                    for lane in range(lanes):
                        weights[j, lane] += sums[lane] * x
            cursor[0] = n
        filled += 1
        if filled == burst.size:
            close_burst(burst, takes[number], ends, unit, tally)
            number, filled = number + 1, 0
    return order.size
