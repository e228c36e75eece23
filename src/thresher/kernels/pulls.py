"""What rows say of each feature alone: how far their targets are from the mean, by its values."""

import numpy as np

from thresher.jit import jit

ROWS, TOTAL, SQUARES = range(3)  # of targets so far: how many, their sum, and that of their squares


@jit
def add_pulls(rows, targets, importance, facts, pulls):
    """Add what a stream's next rows say to every slot's sum, and their targets to the facts.

    Each target is seen from the mean of those so far; rows of no importance say nothing.
    """
    starts, slots, values = rows
    for i in range(targets.size):
        if importance[i] > 0.0:
            facts[ROWS] += 1.0
            facts[TOTAL] += targets[i]
            facts[SQUARES] += targets[i] * targets[i]
            away = targets[i] - facts[TOTAL] / facts[ROWS]
            # unsigned, since Numba lets signed places count from an array's end
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                pulls[slots[k]] += away * values[k]
