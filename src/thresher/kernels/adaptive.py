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
from thresher.kernels.losses import slope_of
from thresher.kernels.prefetch import prefetch_next
from thresher.kernels.sigmoid import log_slopes

RATE, FRESH, PUSH, SQUARES = range(4)
LOG_LOSS = 1
SELECTING, AVERAGING = range(2)
LEAST = 1e-30  # of what a touch adds to the squares, so that a feature touched is seen to be


class Bundle(NamedTuple):
    """The weights of paths that read the same rows, and what is known of every slot.

    ``facts[slot]`` holds how long its steps are relative to others' (0 once it is purged), the
    squared gradients of the burst under way, the gradients if it is a stage's last, and the squared
    gradients before it;
    ``bias_facts`` the same of the constant input. Slots touched in the burst stand in
    ``touched[: cursor[0]]``. ``ratios[: pooled[0]]`` are |sum of gradients| / sqrt(sum of squares)
    of the stage's last burst, of the slots in ``owners``. Where some paths do not select but fit,
    those learn only slots that are ``members``.
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


class Update(NamedTuple):
    """What is to be done with a row: its target, importance, and step; see ``rows.Updates``."""

    target: float
    weight: float
    step: float
    size: float
    norm: float


class Rules(NamedTuple):
    """How long bursts are, and what is done at their ends.

    ``first`` is the number, in the stage of ``bursts`` bursts, of the one under way. Steps have
    halved where the root of the sum of squared gradients is ``halving``. ``parted`` says that some
    paths fit while others select.
    """

    loss: int
    size: int
    gravity: float
    halving: float
    event: int
    first: int
    bursts: int
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
def slopes_of(loss, margins, target, takes, number, slopes):
    """Write the slope of the loss on every path, times the path's weight in the burst."""
    if loss == LOG_LOSS:
        log_slopes(margins, target, slopes)
        for lane in range(slopes.size):
            slopes[lane] *= takes[number, lane]
    else:
        for lane in range(slopes.size):
            slopes[lane] = takes[number, lane] * slope_of(loss, margins[lane], target)


@jit
def learn_apart(rows, first, last, of_selecting, of_all, bundle):
    """Move the weights of all paths on members, those of selecting ones on other slots."""
    weights, facts, members = bundle.weights, bundle.facts, bundle.members
    for k in range(first, last):
        j = rows.slots[k]
        length = rows.values[k] * facts[j, RATE]
        if members[j]:
            store(weights, j, plus(load(weights, j), scaled(of_all, length)))
        else:
            store(weights, j, plus(load(weights, j), scaled(of_selecting, length)))


@jit
def learn_row(rows, i, update, rules, shares, number, pools, bundle, margins, slopes):
    """Make one update on every path; return whether the numbers are still finite."""
    first, last = rows.starts[i], rows.starts[i + 1]
    weights, facts, touched = bundle.weights, bundle.facts, bundle.touched
    sums = scaled(load(bundle.bias, 0), update.size)
    for k in range(first, last):
        sums = plus(sums, scaled(load(weights, rows.slots[k]), rows.values[k]))
    if not math.isfinite(total(sums)):
        return False
    store(margins, 0, sums)
    slopes_of(rules.loss, margins[0], update.target, shares.takes, number, slopes[0])
    pulls = scaled(load(slopes, 0), update.weight)
    number_type = facts.dtype.type
    active = shares.active[number]
    square = number_type(total(times(pulls, pulls)) / (active * update.norm))
    if square == 0.0:
        return True
    push = number_type(total(pulls) / active)
    least = number_type(LEAST)
    moves = times(scaled(pulls, -update.step), load(shares.steps, 0))
    if rules.parted:
        learn_apart(rows, first, last, times(moves, load(shares.selects, 0)), moves, bundle)
    n = bundle.cursor[0]
    for k in range(first, last):
        j = rows.slots[k]
        x = rows.values[k]
        if not rules.parted:
            store(weights, j, plus(load(weights, j), scaled(moves, x * facts[j, RATE])))
        # noted on every visit, but it stays noted only if the slot was untouched so far
        touched[n] = j
        n += facts[j, FRESH] == 0.0
        facts[j, FRESH] += max(square * x * x, least)
    bundle.cursor[0] = n
    if pools:
        for k in range(first, last):
            facts[rows.slots[k], PUSH] += push * rows.values[k]
    move = update.size * bundle.bias_facts[0, RATE]
    store(bundle.bias, 0, plus(load(bundle.bias, 0), scaled(moves, move)))
    bundle.bias_facts[0, FRESH] += square * update.size * update.size
    return True


@jit
def learn_row_alone(rows, i, update, loss, take, pools, bundle):
    """Make one update on a path that is alone: the same without lanes."""
    first, last = rows.starts[i], rows.starts[i + 1]
    weights, facts, touched = bundle.weights, bundle.facts, bundle.touched
    margin = update.size * bundle.bias[0, 0]
    for k in range(first, last):
        margin += weights[rows.slots[k], 0] * rows.values[k]
    if not math.isfinite(margin):
        return False
    slope = update.weight * take * slope_of(loss, margin, update.target)
    number_type = facts.dtype.type
    square = number_type(slope * slope / update.norm)
    if square == 0.0:
        return True
    push, move = number_type(slope), number_type(-update.step * slope)
    least = number_type(LEAST)
    n = bundle.cursor[0]
    for k in range(first, last):
        j = rows.slots[k]
        x = rows.values[k]
        weights[j, 0] += move * (x * facts[j, RATE])
        touched[n] = j
        n += facts[j, FRESH] == 0.0
        facts[j, FRESH] += max(square * x * x, least)
    bundle.cursor[0] = n
    if pools:
        for k in range(first, last):
            facts[rows.slots[k], PUSH] += push * rows.values[k]
    bundle.bias[0, 0] += move * (update.size * bundle.bias_facts[0, RATE])
    bundle.bias_facts[0, FRESH] += square * update.size * update.size
    return True


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
    facts[j, RATE] = 1.0 / (1.0 + math.sqrt(facts[j, SQUARES]) / halving)
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
            spread = math.sqrt(facts[j, FRESH])
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
def run_bursts(rows, updates, rules, done, shares, bundle):
    """Learn from the rows in turn, closing bursts as they fill.

    ``done`` updates of the first burst came before. Returns how many rows were learnt before the
    numbers overflowed.
    """
    takes, parts = shares.takes, shares.parts
    margins, slopes = np.empty_like(takes[:1]), np.empty_like(takes[:1])
    alone = takes.shape[1] == 1
    for t in range(updates.order.size):
        prefetch_next(rows, updates.order, t)
        number = (done + t) // rules.size
        # of the stage's last burst only it is asked how far gradients went one way
        pools = rules.event == SELECTING and rules.first + number + 1 == rules.bursts
        if shares.active[number] > 0:
            i = updates.order[t]
            update = Update(
                updates.targets[i],
                updates.importance[i],
                updates.steps[t],
                updates.biases[t],
                updates.norms[t],
            )
            if alone:
                take = takes[number, 0]
                finite = learn_row_alone(rows, i, update, rules.loss, take, pools, bundle)
            else:
                finite = learn_row(
                    rows, i, update, rules, shares, number, pools, bundle, margins, slopes
                )
            if not finite:
                return t
        if (done + t + 1) % rules.size == 0:
            close_burst(rules, pools, updates.steps[t], parts, number, bundle)
            if rules.event == AVERAGING:
                add_weights(bundle)
    return updates.order.size


@jit
def lane_sums(weights, first, last, sums):
    """Write, for every slot, the sum of its weights on the lanes from ``first`` to ``last``."""
    for j in range(sums.size):
        sums[j] = 0.0
        for lane in range(first, last):
            sums[j] += weights[j, lane]
