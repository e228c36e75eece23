"""What the end of a burst tells the statistics of a stage."""

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
def count_every(unit, takes, stable, tally):
    """Count, for every stable slot, the paths on which the weight is not zero (Definition 1)."""
    for j in range(stable.size):
        if stable[j]:
            for lane in range(takes.size):
                if takes[lane] > 0.0:
                    tally.selected[j] += unit.weights[j, lane] != 0.0


@jit
def stands_out(weight, salience, bar):
    """Return 1 for a weight whose saliency exceeds the bar, else 0."""
    return 1 if abs(weight) * salience > bar else 0


@jit
def count_standing(unit, n_slots, n_bursts, tally):
    """Sum weights, and count those that stand out, as if no burst of the stage changed any."""
    for j in range(n_slots):
        for lane in range(tally.bar.size):
            weight = unit.weights[j, lane]
            tally.total[j] += n_bursts * weight
            tally.selected[j] += n_bursts * stands_out(weight, tally.salience[j], tally.bar[lane])


@jit
def count_changes(unit, left, tally):
    """Sum weights, and count those that stand out, by what the burst has changed.

    A slot that no burst touches stays what it was when the stage began, and was counted then for
    all of its bursts. A change counts for the ``left`` ends of bursts from this one on.
    """
    for n in range(unit.cursor[0]):
        j = unit.touched[n]
        c = tally.salience[j]
        for lane in range(tally.bar.size):
            now, before, bar = unit.weights[j, lane], unit.before[n, lane], tally.bar[lane]
            tally.total[j] += left * (now - before)
            tally.selected[j] += left * (stands_out(now, c, bar) - stands_out(before, c, bar))


@jit
def add_weights(unit, stable, tally):
    """Sum the weights over paths and ends of bursts."""
    for j in range(stable.size):
        if stable[j]:
            for lane in range(unit.bias.size):
                tally.total[j] += unit.weights[j, lane]


@jit
def add_bias(unit, tally):
    """Sum the constant input's weights over paths and ends of bursts."""
    for lane in range(unit.bias.size):
        tally.bias_total[0] += unit.bias[lane]
