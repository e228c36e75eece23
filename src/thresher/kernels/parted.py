"""The same bursts where half of the paths fit what the others have selected so far.

Lines of weights are parted (see ``Bundle``): a path that fits has weights at few slots, and half a
line is all that the others take. Lane by lane the arithmetic is that of whole lines.
"""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.adaptive import LEAST, ONE, PACES, slopes_of
from thresher.kernels.bundle import FRESH, RATE
from thresher.kernels.burst_ends import end_burst
from thresher.kernels.lanes import (
    LINE,
    load,
    load_half,
    plus,
    scaled,
    store,
    store_half,
    times,
    total,
)
from thresher.kernels.prefetch import LATER, SOON, prefetch, prefetch_span


@jit
def parted_sums(weights, fits, places, fitting, first, last, sums):
    """Add to every slot's sum its weights on the paths from ``first`` to ``last``.

    Those from ``fitting`` on fit.
    """
    for j in range(sums.size):
        mine = 0.0
        for lane in range(first, min(last, fitting)):
            mine += np.float64(weights[j, lane])  # as it is when compiled
        if places[j] != 0:
            for lane in range(max(first, fitting), last):
                mine += np.float64(fits[abs(places[j]), lane - fitting])
        sums[j] += mine


@jit
def choose_members(places, fits, chosen, weights, fitting):
    """Let the chosen slots be the members; return the fits, of so many paths, in their new places.

    New members begin with their weights. Slots that are members no longer lose their fits; what
    other slots have stays.
    """
    n = 1
    for j in range(chosen.size):
        n += chosen[j] or places[j] < 0
    renewed = np.zeros((n, fits.shape[1]), fits.dtype)
    n = 0
    for j in range(chosen.size):
        place = places[j]
        places[j] = 0
        if chosen[j] or place < 0:
            n += 1
            for lane in range(fitting):
                fresh = chosen[j] and place <= 0
                renewed[n, lane] = weights[j] if fresh else fits[abs(place), lane]
            places[j] = n if chosen[j] else -n
    return renewed


@jit
def run_parted(rows, updates, rules, done, shares, bundle):
    """Learn from the rows in turn, on all paths of parted lines; see ``run_bursts``.

    One long function, as ``run_lanes`` is.
    """
    starts, slots, values = rows
    order, steps, biases, norms, targets, importance = updates
    weights, places, fits, push = bundle.weights, bundle.places, bundle.fits, bundle.push
    pace = bundle.pace.reshape(-1)
    bias, bias_facts, behind = bundle.bias, bundle.bias_facts, bundle.behind
    takes, active, fitting = shares.takes, shares.active, shares.fitting
    half = np.uint64(LINE // 2 // weights.itemsize)  # known when this is compiled
    line, whole = np.empty_like(takes[:1]), np.empty_like(takes[:1])
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
            first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
            size, norm = biases[t], norms[t]
            store(whole, 0, scaled(load(bias, 0), size))
            selecting, fitted = load_half(whole, 0), load_half(whole, fitting)
            for k in range(first, last):
                j = np.uint64(slots[k])
                x = values[k]
                place = np.uint64(abs(places[j]))
                selecting = plus(selecting, scaled(load_half(weights, half * j), x))
                fitted = plus(fitted, scaled(load_half(fits, half * place), x))
            prefetch_span(slots, starts[following], starts[following + 1])
            prefetch_span(values, starts[following], starts[following + 1])
            store_half(whole, 0, selecting)
            store_half(whole, fitting, fitted)  # over what is of fitting paths in the other half
            sums = load(whole, 0)
            if not math.isfinite(total(sums)):
                return t
            slopes = slopes_of(rules.loss, sums, targets[i], line)
            errors = times(slopes, slopes)
            slopes = scaled(times(slopes, load(takes, number)), importance[i])
            square = number_type(total(times(slopes, slopes)) / (active[number] * norm))
            if not math.isfinite(square):
                return t
            behind[0] += importance[i] * total(times(errors, load(shares.steps, 2)))
            if square > 0.0:
                moves = times(scaled(slopes, -steps[t]), load(shares.steps, 0))
                store(whole, 0, moves)
                of_fitting = load_half(whole, fitting)
                store(whole, 0, times(moves, load(shares.steps, 1)))
                of_selecting = load_half(whole, 0)
                for k in range(first, last):
                    j = np.uint64(slots[k])
                    x = values[k]
                    length = x * pace[PACES * j]
                    pace[PACES * j + ONE] += max(square * x * x, least)
                    mine = half * j
                    move = scaled(of_selecting, length)
                    store_half(weights, mine, plus(load_half(weights, mine), move))
                    if places[j] > 0:
                        mine = half * np.uint64(places[j])
                        move = scaled(of_fitting, length)
                        store_half(fits, mine, plus(load_half(fits, mine), move))
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
