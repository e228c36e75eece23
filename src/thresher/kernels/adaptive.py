"""Bursts of SGD updates with steps of each feature's own length, on many paths at once.

A feature's step falls with the squared gradients it has had, as in AdaGrad. Paths read the same
rows and get nearly the same gradients, so they have one length of steps between them. It changes at
the ends of bursts only, where every touched weight also pays gravity.
"""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.bundle import FRESH, RATE
from thresher.kernels.burst_ends import end_burst
from thresher.kernels.lanes import load, plus, scaled, store, times, total
from thresher.kernels.losses import LOG_LOSS, slope_of
from thresher.kernels.prefetch import LATER, SOON, prefetch, prefetch_span
from thresher.kernels.sigmoid import lane_log_slopes

ONE, PACES = np.uint64(FRESH), np.uint64(2)  # of FRESH behind RATE, and from slot to slot
LEAST = 1e-30  # of what a touch adds to the squares, so that a feature touched is seen to be


@jit
def slopes_of(loss, margins, target, line):
    """Return the slope of the loss on every path; ``line`` is a row to write on."""
    if loss == LOG_LOSS and line.itemsize == 4:  # the latter is known when this is compiled
        return lane_log_slopes(margins, target)
    store(line, 0, margins)
    for lane in range(line.size):
        line[0, lane] = slope_of(loss, line[0, lane], target)
    return load(line, 0)


@jit
def run_lanes(rows, updates, rules, done, shares, bundle):
    """Learn from the rows in turn, on all paths of a line; see ``run_bursts``.

    One long function: arrays handed to others would be counted by Numba for every row, which costs
    more than the row.
    """
    starts, slots, values = rows
    order, steps, biases, norms, targets, importance = updates
    weights, push = bundle.weights, bundle.push
    pace = bundle.pace.reshape(-1)  # or places in it would be multiplied by a width
    bias, bias_facts = bundle.bias, bundle.bias_facts
    takes, active = shares.takes, shares.active
    line = np.empty_like(takes[:1])
    number_type = pace.dtype.type
    least = number_type(LEAST)
    number, filled = 0, done
    final = order.size - 1
    for t in range(order.size):
        pools = rules.asks and rules.first + number + 1 == rules.bursts
        if active[number] > 0:
            later = order[min(t + LATER, final)]
            prefetch(starts, later)
            prefetch(targets, later)
            prefetch(importance, later)
            i, following = order[t], order[min(t + SOON, final)]
            # unsigned, since Numba lets signed places count from an array's end
            first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
            size, norm = biases[t], norms[t]
            sums = scaled(load(bias, 0), size)
            for k in range(first, last):
                sums = plus(sums, scaled(load(weights, slots[k]), values[k]))
            prefetch_span(slots, starts[following], starts[following + 1])
            prefetch_span(values, starts[following], starts[following + 1])
            if not math.isfinite(total(sums)):
                return t
            slopes = slopes_of(rules.loss, sums, targets[i], line)
            slopes = scaled(times(slopes, load(takes, number)), importance[i])
            square = number_type(total(times(slopes, slopes)) / (active[number] * norm))
            if not math.isfinite(square):
                return t
            if square > 0.0:
                moves = times(scaled(slopes, -steps[t]), load(shares.steps, 0))
                for k in range(first, last):
                    j = slots[k]
                    x = values[k]
                    move = scaled(moves, x * pace[PACES * j])
                    pace[PACES * j + ONE] += max(square * x * x, least)
                    store(weights, j, plus(load(weights, j), move))
                if pools:
                    mean_slope = number_type(total(slopes) / active[number])
                    for k in range(first, last):
                        push[slots[k]] += mean_slope * values[k]
                move = scaled(moves, size * bias_facts[0, RATE])
                store(bias, 0, plus(load(bias, 0), move))
                bias_facts[0, FRESH] += square * size * size
        filled += 1
        if filled == rules.size:
            end_burst(rules, pools, steps[t], shares, number, bundle)
            number, filled = number + 1, 0
    return order.size


@jit
def run_alone(rows, updates, rules, done, shares, bundle):
    """Learn from the rows in turn on a path that is alone: the same without lanes."""
    starts, slots, values = rows
    order, steps, biases, norms, targets, importance = updates
    weights, pace, push = bundle.weights.reshape(-1), bundle.pace.reshape(-1), bundle.push
    bias, bias_facts, takes = bundle.bias, bundle.bias_facts, shares.takes
    number_type = pace.dtype.type
    least = number_type(LEAST)
    number, filled = 0, done
    final = order.size - 1
    for t in range(order.size):
        pools = rules.asks and rules.first + number + 1 == rules.bursts
        later = order[min(t + LATER, final)]
        prefetch(starts, later)
        prefetch(targets, later)
        prefetch(importance, later)
        i, following = order[t], order[min(t + SOON, final)]
        first, last, size = np.uint64(starts[i]), np.uint64(starts[i + 1]), biases[t]
        margin = size * bias[0, 0]
        for k in range(first, last):
            margin += weights[slots[k]] * values[k]
        prefetch_span(slots, starts[following], starts[following + 1])
        prefetch_span(values, starts[following], starts[following + 1])
        if not math.isfinite(margin):
            return t
        slope = importance[i] * takes[number, 0] * slope_of(rules.loss, margin, targets[i])
        square = number_type(slope * slope / norms[t])
        if not math.isfinite(square):
            return t
        if square > 0.0:
            move = number_type(-steps[t] * slope)
            for k in range(first, last):
                j = slots[k]
                x = values[k]
                weights[j] += move * (x * pace[PACES * j])
                pace[PACES * j + ONE] += max(square * x * x, least)
            if pools:
                for k in range(first, last):
                    push[slots[k]] += number_type(slope) * values[k]
            bias[0, 0] += move * (size * bias_facts[0, RATE])
            bias_facts[0, FRESH] += square * size * size
        filled += 1
        if filled == rules.size:
            end_burst(rules, pools, steps[t], shares, number, bundle)
            number, filled = number + 1, 0
    return order.size


@jit
def run_bursts(rows, updates, rules, done, shares, bundle):
    """Learn from the rows in turn, closing bursts as they fill.

    ``done`` updates of the first burst came before. Returns how many rows were learnt before the
    numbers overflowed.
    """
    if shares.takes.shape[1] == 1:
        return run_alone(rows, updates, rules, done, shares, bundle)
    return run_lanes(rows, updates, rules, done, shares, bundle)
