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
