"""What the end of a burst tells the statistics of a stage.

Where a weight counts at every end of a burst at which it is not zero, only changes are taken down,
of those that the burst has touched: a weight that is there from an end on misses the ends before
it, one that is gone has had them, and those that are there get all of them when others look.
"""

import numpy as np

from thresher.jit import jit
from thresher.kernels.units import dose_of


@jit
def pool_ratios(unit, takes, shrinkage, tally):
    """Note how far each touched weight moved in the burst, per unit of dose."""
    first = tally.pooled[0]
    for n in range(unit.cursor[0]):
        j = unit.touched[n]
        dose = dose_of(shrinkage, unit.touches[j])
        tally.owners[first + n] = j
        for lane in range(takes.size):
            moved = abs(unit.weights[j, lane] - unit.before[n, lane]) / dose
            tally.ratios[first + n, lane] = moved if takes[lane] > 0.0 else np.nan
    tally.pooled[0] = first + unit.cursor[0]


@jit
def count_informative(unit, takes, tally):
    """Count, for touched slots, the paths on which the weight survived (eq_sel_prob_2)."""
    for n in range(unit.cursor[0]):
        j = unit.touched[n]
        for lane in range(takes.size):
            if takes[lane] > 0.0:
                tally.evidence[j] += 1
                tally.selected[j] += unit.weights[j, lane] != 0.0


@jit
def count_changes(unit, takes, ends, tally):
    """Count the paths on which weights came or went at the end of a burst (Definition 1).

    ``ends`` are those that each path has had in the stage; it has another one now.
    """
    for n in range(unit.cursor[0]):
        j = unit.touched[n]
        for lane in range(takes.size):
            there = unit.weights[j, lane] != 0.0
            if takes[lane] > 0.0 and there != (unit.before[n, lane] != 0.0):
                tally.selected[j] += -ends[lane] if there else ends[lane]
    for lane in range(takes.size):
        ends[lane] += takes[lane] > 0.0


@jit
def count_standing(weights, ends, selected):
    """Count the weights that are there for all ends that each path has had."""
    for j in range(selected.size):
        for lane in range(ends.size):
            selected[j] += ends[lane] if weights[j, lane] != 0.0 else 0
