"""Bursts of SGD updates with steps of each feature's own length, on many paths at once.

A feature's step falls with the squared gradients it has had, as in AdaGrad. Paths read the same
rows and get nearly the same gradients, so they have one length of steps between them. It changes at
the ends of bursts only, where every touched weight also pays gravity.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels.lanes import clipped, load, minus, plus, scaled, store, times, total
from thresher.kernels.losses import LOG_LOSS, slope_of
from thresher.kernels.prefetch import prefetch
from thresher.kernels.sigmoid import lane_log_slopes

RATE, FRESH, PUSH, SQUARES = range(4)
FACTS = np.uint64(4)  # of a slot
AHEAD = 16  # numbers in a cache line of the next row, which is asked for while one is learnt
LEAST = 1e-30  # of what a touch adds to the squares, so that a feature touched is seen to be


class Bundle(NamedTuple):
    """The weights of paths that read the same rows, and what is known of every slot.

    ``facts[slot]`` holds how long its steps are relative to others' (0 once it is purged), the
    squared gradients of the burst under way, the gradients if those are asked for, and the squared
    gradients before it; ``bias_facts`` the same of the constant input. Slots touched in the burst
    stand in ``touched[: cursor[0]]``. ``ratios[: pooled[0]]`` are |sum of gradients| / sqrt(sum of
    squares) of the stage's last burst, of the slots in ``owners``. Where some paths do not select
    but fit, those learn only slots that are ``members``.
    """

    weights: NDArray[np.floating]
    facts: NDArray[np.floating]
    members: NDArray[np.bool_]
    bias: NDArray[np.floating]
    bias_facts: NDArray[np.floating]
    total: NDArray[np.float64]
    bias_total: NDArray[np.float64]
    touched: NDArray[np.uint32]
    cursor: NDArray[np.int64]
    owners: NDArray[np.uint32]
    ratios: NDArray[np.float64]
    pooled: NDArray[np.int64]


class Rules(NamedTuple):
    """How long bursts are, and what is done at their ends.

    Weights are summed where it ``averages``. ``first`` is the number, in the stage of ``bursts``
    bursts, of the one under way. Steps have halved where the root of the sum of squared gradients
    is ``halving``. ``asks`` says that a stage's last burst is asked how far gradients went one way;
    ``parted`` that some paths fit while others select.
    """

    loss: int
    size: int
    gravity: float
    halving: float
    averages: bool
    first: int
    bursts: int
    asks: bool
    parted: bool


class Shares(NamedTuple):
    """Who takes part in each burst, a row for each, and in what.

    ``takes`` are the paths' weights, 0 where one lets the burst pass; ``parts`` is 1 where it takes
    part, else 0, and ``active`` counts those. ``steps`` has one row, the length of each path's
    steps relative to others'; ``selects`` one, in which the lengths of paths that fit are 0.
    """

    takes: NDArray[np.floating]
    parts: NDArray[np.floating]
    active: NDArray[np.int64]
    steps: NDArray[np.floating]
    selects: NDArray[np.floating]


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
def shrink(weights, j, pull):
    """Shrink the weight of a path that is alone."""
    weight = weights[j, 0]
    weights[j, 0] = weight - min(max(weight, -pull), pull)


@jit
def shrink_lanes(weights, j, pull, parts, number):
    """Shrink a slot's weights on the paths that took part in the burst."""
    lanes = load(weights, j)
    store(weights, j, minus(lanes, clipped(lanes, scaled(load(parts, number), pull))))


@jit
def slower(facts, j, halving):
    """Add a burst's squared gradients to those before it, and shorten the steps accordingly."""
    facts[j, SQUARES] += facts[j, FRESH]
    facts[j, RATE] = 1.0 / (1.0 + np.float64(np.sqrt(facts[j, SQUARES])) / halving)
    facts[j, FRESH] = 0.0
    facts[j, PUSH] = 0.0


@jit
def close_burst(rules, pools, step, parts, number, bundle):
    """Let touched weights pay gravity by the gradients they have had, and shorten their steps."""
    facts = bundle.facts
    alone = parts.shape[1] == 1
    n = 0
    for k in range(bundle.cursor[0]):
        j = bundle.touched[k]
        if facts[j, RATE] > 0.0:
            spread = np.sqrt(facts[j, FRESH])
            if pools:
                bundle.owners[n] = j
                bundle.ratios[n] = abs(facts[j, PUSH]) / spread
                n += 1
            if rules.gravity > 0.0:
                pull = rules.gravity * step * facts[j, RATE] * spread
                if alone:
                    shrink(bundle.weights, j, pull)
                else:
                    shrink_lanes(bundle.weights, j, pull, parts, number)
            slower(facts, j, rules.halving)
        else:
            facts[j, FRESH] = 0.0
            facts[j, PUSH] = 0.0
    bundle.pooled[0] = n
    bundle.cursor[0] = 0
    slower(bundle.bias_facts, 0, rules.halving)


@jit
def add_weights(bundle):
    """Sum the weights over paths and ends of bursts."""
    for j in range(bundle.total.size):
        if bundle.facts[j, RATE] > 0.0:
            for lane in range(bundle.weights.shape[1]):
                bundle.total[j] += bundle.weights[j, lane]
    for lane in range(bundle.bias.shape[1]):
        bundle.bias_total[0] += bundle.bias[0, lane]


@jit
def end_burst(rules, pools, step, parts, number, bundle):
    """Do what is due at the end of a burst."""
    close_burst(rules, pools, step, parts, number, bundle)
    if rules.averages:
        add_weights(bundle)


@jit
def run_lanes(rows, updates, rules, done, shares, bundle):
    """Learn from the rows in turn, on all paths of a line; see ``run_bursts``.

    One long function: arrays handed to others would be counted by Numba for every row, which costs
    more than the row.
    """
    starts, slots, values = rows
    order, steps, biases, norms, targets, importance = updates
    weights, facts, members, touched = bundle.weights, bundle.facts, bundle.members, bundle.touched
    bias, bias_facts, cursor = bundle.bias, bundle.bias_facts, bundle.cursor
    takes, active = shares.takes, shares.active
    line = np.empty_like(takes[:1])
    number_type = facts.dtype.type
    least = number_type(LEAST)
    for t in range(order.size):
        if t + 1 < order.size:
            following = order[t + 1]
            for k in range(starts[following], starts[following + 1], AHEAD):
                prefetch(slots, k)
                prefetch(values, k)
        number = (done + t) // rules.size
        pools = rules.asks and rules.first + number + 1 == rules.bursts
        if active[number] > 0:
            i = order[t]
            # unsigned, since Numba lets signed places count from an array's end
            first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
            size, norm = biases[t], norms[t]
            sums = scaled(load(bias, 0), size)
            for k in range(first, last):
                sums = plus(sums, scaled(load(weights, slots[k]), values[k]))
            if not math.isfinite(total(sums)):
                return t
            slopes = slopes_of(rules.loss, sums, targets[i], line)
            slopes = scaled(times(slopes, load(takes, number)), importance[i])
            square = number_type(total(times(slopes, slopes)) / (active[number] * norm))
            if not math.isfinite(square):
                return t
            if square > 0.0:
                moves = times(scaled(slopes, -steps[t]), load(shares.steps, 0))
                n = cursor[0]
                if rules.parted:
                    of_selecting = times(moves, load(shares.selects, 0))
                    for k in range(first, last):
                        j = slots[k]
                        x = values[k]
                        mine = moves if members[j] else of_selecting
                        move = scaled(mine, x * facts[j, RATE])
                        touched[n] = j
                        n += facts[j, FRESH] == 0.0
                        facts[j, FRESH] += max(square * x * x, least)
                        store(weights, j, plus(load(weights, j), move))
                else:
                    for k in range(first, last):
                        j = slots[k]
                        x = values[k]
                        move = scaled(moves, x * facts[j, RATE])
                        # noted on every visit; it stays noted only if the slot was untouched so far
                        touched[n] = j
                        n += facts[j, FRESH] == 0.0
                        facts[j, FRESH] += max(square * x * x, least)
                        store(weights, j, plus(load(weights, j), move))
                cursor[0] = n
                if pools:
                    push = number_type(total(slopes) / active[number])
                    for k in range(first, last):
                        facts[slots[k], PUSH] += push * values[k]
                move = scaled(moves, size * bias_facts[0, RATE])
                store(bias, 0, plus(load(bias, 0), move))
                bias_facts[0, FRESH] += square * size * size
        if (done + t + 1) % rules.size == 0:
            end_burst(rules, pools, steps[t], shares.parts, number, bundle)
    return order.size


@jit
def run_alone(rows, updates, rules, done, shares, bundle):
    """Learn from the rows in turn on a path that is alone: the same without lanes."""
    starts, slots, values = rows
    order, steps, biases, norms, targets, importance = updates
    # flat, so that the width of lines is known when this is compiled
    weights, facts, touched = bundle.weights.ravel(), bundle.facts.ravel(), bundle.touched
    bias, bias_facts, cursor, takes = bundle.bias, bundle.bias_facts, bundle.cursor, shares.takes
    number_type = facts.dtype.type
    least = number_type(LEAST)
    rate, fresh = np.uint64(RATE), np.uint64(FRESH)
    number, filled = 0, done
    for t in range(order.size):
        if t + 1 < order.size:
            following = order[t + 1]
            for k in range(starts[following], starts[following + 1], AHEAD):
                prefetch(slots, k)
                prefetch(values, k)
        pools = rules.asks and rules.first + number + 1 == rules.bursts
        i = order[t]
        first, last, size = np.uint64(starts[i]), np.uint64(starts[i + 1]), biases[t]
        margin = size * bias[0, 0]
        for k in range(first, last):
            margin += weights[slots[k]] * values[k]
        if not math.isfinite(margin):
            return t
        slope = importance[i] * takes[number, 0] * slope_of(rules.loss, margin, targets[i])
        square = number_type(slope * slope / norms[t])
        if not math.isfinite(square):
            return t
        if square > 0.0:
            move = number_type(-steps[t] * slope)
            n = np.uint64(cursor[0])
            for k in range(first, last):
                j = slots[k]
                x = values[k]
                at = FACTS * np.uint64(j)
                weights[j] += move * (x * facts[at + rate])
                touched[n] = j
                n += np.uint64(facts[at + fresh] == 0.0)
                facts[at + fresh] += max(square * x * x, least)
            cursor[0] = n
            if pools:
                push = number_type(slope)
                for k in range(first, last):
                    bundle.facts[slots[k], PUSH] += push * values[k]
            bias[0, 0] += move * (size * bias_facts[0, RATE])
            bias_facts[0, FRESH] += square * size * size
        filled += 1
        if filled == rules.size:
            end_burst(rules, pools, steps[t], shares.parts, number, bundle)
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


@jit
def lane_sums(weights, first, last, sums):
    """Write, for every slot, the sum of its weights on the lanes from ``first`` to ``last``."""
    for j in range(sums.size):
        sums[j] = 0.0
        for lane in range(first, last):
            sums[j] += weights[j, lane]
