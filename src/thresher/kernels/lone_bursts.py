"""Bursts of SGD updates on a path that is alone (Algorithm 3)."""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import LATER, SOON, prefetch, prefetch_span
from thresher.kernels.shrink import soft_threshold
from thresher.kernels.units import EVERY, dose_of

MOST_DOSES = 256  # that are known beforehand: hardly anything is touched more often in a burst


@jit
def run_path(rows, updates, begin, end, burst, done, takes, ends, stable, path, tally):
    """Learn from the rows of the updates from ``begin`` to ``end``, closing bursts as they fill.

    ``done`` updates of the first burst came before; burst b has the weight ``takes[b]``, 0 where
    the path lets it pass. ``ends`` of bursts it has had in the stage, and counts what changes at
    others (see ``tallies``). Returns how many rows were learnt before the numbers overflowed.

    One long function: arrays handed to others would be counted by Numba for every row, which costs
    more than the row.
    """
    starts, slots, values = rows
    order, steps, biases, _, targets, importance = updates
    weights, bias, touches, touched, before, cursor = path
    evidence, selected, owners, ratios, pooled = tally
    loss, size, gravity, shrinkage, event = burst
    constant, n, pool = bias[0], np.uint64(cursor[0]), np.uint64(pooled[0])
    known = np.uint64(min(size, MOST_DOSES) + 1)
    doses = np.empty(known)
    for k in range(doses.size):
        doses[k] = dose_of(shrinkage, k)
    number, filled, learnt = 0, done, end - begin
    for t in range(begin, end):
        take = takes[number]
        if take > 0.0:
            later = order[min(t + LATER, end - 1)]
            prefetch(starts, later)
            prefetch(targets, later)
            prefetch(importance, later)
            i, following = order[t], order[min(t + SOON, end - 1)]
            # unsigned, since Numba lets signed places count from an array's end
            first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
            margin = 0.0
            for k in range(first, last):
                margin += weights[slots[k]] * values[k]
            prefetch_span(slots, starts[following], starts[following + 1])
            prefetch_span(values, starts[following], starts[following + 1])
            margin += biases[t] * constant
            if not math.isfinite(margin):
                learnt = t - begin
                break
            change = -(steps[t] * importance[i]) * take * slope_of(loss, margin, targets[i])
            constant += change * biases[t]
            for k in range(first, last):
                j = slots[k]
                if stable[j]:
                    # noted on every visit; it stays noted only if the slot was untouched so far
                    touched[n] = j
                    before[n] = weights[j]
                    n += np.uint64(touches[j] == 0)
                    touches[j] += 1
                    weights[j] += change * values[k]
        filled += 1
        if filled == size:
            for m in range(n):
                j = touched[m]
                times = np.uint64(touches[j])
                dose = doses[times] if times < known else dose_of(shrinkage, touches[j])
                owners[pool] = j
                ratios[pool] = abs(weights[j] - before[m]) / dose
                pool += np.uint64(1)
                weight = soft_threshold(weights[j], gravity * dose)
                weights[j] = weight
                touches[j] = 0
                if event == EVERY:
                    if (weight != 0.0) != (before[m] != 0.0):
                        selected[j] += -ends if weight != 0.0 else ends
                else:
                    evidence[j] += 1
                    selected[j] += weight != 0.0
            n = np.uint64(0)
            ends += take > 0.0
            filled = 0
            number += 1
    bias[0], cursor[0], pooled[0] = constant, n, pool
    return learnt
