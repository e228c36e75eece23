"""Bursts of SGD updates on several paths at once (Algorithm 3)."""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.losses import slope_of
from thresher.kernels.rows import dot
from thresher.kernels.shrink import soft_threshold
from thresher.kernels.tallies import count_every, count_informative, pool_ratios
from thresher.kernels.units import INFORMATIVE, dose_of


@jit
def margins_of(slots, values, size, unit, margins):
    """Write the row's margin on every path."""
    for lane in range(margins.size):
        margins[lane] = size * unit.bias[lane]
    for k in range(slots.size):
        j = slots[k]
        x = values[k]
        for lane in range(margins.size):
            margins[lane] += unit.weights[j, lane] * x


@jit
def add_row(slots, values, stable, unit, changes):
    """Add ``changes[lane]`` times the row to the paths' weights, noting the slots it touches."""
    n = unit.cursor[0]
    for k in range(slots.size):
        j = slots[k]
        if not stable[j]:
            continue
        x = values[k]
        if unit.touches[j] == 0:
            unit.touched[n] = j
            for lane in range(changes.size):
                unit.before[n, lane] = unit.weights[j, lane]
            n += 1
        unit.touches[j] += 1
        for lane in range(changes.size):
            unit.weights[j, lane] += changes[lane] * x
    unit.cursor[0] = n


@jit
def learn_row(slots, values, target, rate, size, loss, takes, stable, unit, scratch):
    """Make one SGD update on every path; return whether the numbers are still finite."""
    margins_of(slots, values, size, unit, scratch)
    for lane in range(scratch.size):
        if not math.isfinite(scratch[lane]):
            return False
        scratch[lane] = -rate * takes[lane] * slope_of(loss, scratch[lane], target)
        unit.bias[lane] += scratch[lane] * size
    add_row(slots, values, stable, unit, scratch)
    return True


@jit
def learn_row_alone(slots, values, target, rate, size, loss, take, stable, unit):
    """Make one SGD update on a path that is alone: the same without loops over lanes."""
    weights = unit.weights.ravel()
    margin = dot(slots, values, weights) + size * unit.bias[0]
    if not math.isfinite(margin):
        return False
    change = -rate * take * slope_of(loss, margin, target)
    unit.bias[0] += change * size
    before = unit.before.ravel()
    n = unit.cursor[0]
    for k in range(slots.size):
        j = slots[k]
        if stable[j]:
            # noted on every visit, but it stays noted only if the slot was untouched so far
            unit.touched[n] = j
            before[n] = weights[j]
            n += unit.touches[j] == 0
            unit.touches[j] += 1
            weights[j] += change * values[k]
    unit.cursor[0] = n
    return True


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
def close_burst(burst, takes, stable, unit, tally):
    """Truncate, and take down what the stage's statistics need at the end of its burst."""
    pool_ratios(unit, takes, burst.shrinkage, tally)
    truncate(unit, takes, burst.shrinkage, burst.gravity)
    if burst.event == INFORMATIVE:
        count_informative(unit, takes, tally)
    else:
        count_every(unit, takes, stable, tally)
    forget_touches(unit)


@jit
def run_bursts(rows, updates, burst, done, takes, stable, unit, tally):
    """Learn from the rows in turn, closing bursts as they fill.

    ``done`` updates of the first burst came before; burst b has the weight ``takes[b, lane]`` on
    each path, 0 where the path lets it pass. Returns how many rows were learnt before the numbers
    overflowed.
    """
    scratch = np.empty(unit.bias.size)
    for t in range(updates.order.size):
        number = (done + t) // burst.size
        if takes[number].any():
            i = updates.order[t]
            first, last = rows.starts[i], rows.starts[i + 1]
            rate = updates.steps[t] * updates.importance[i]
            slots, values = rows.slots[first:last], rows.values[first:last]
            target, size, loss = updates.targets[i], updates.biases[t], burst.loss
            if scratch.size == 1:
                take = takes[number, 0]
                finite = learn_row_alone(
                    slots, values, target, rate, size, loss, take, stable, unit
                )
            else:
                finite = learn_row(
                    slots, values, target, rate, size, loss, takes[number], stable, unit, scratch
                )
            if not finite:
                return t
        if (done + t + 1) % burst.size == 0:
            close_burst(burst, takes[number], stable, unit, tally)
    return updates.order.size
