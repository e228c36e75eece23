"""Losses of margins that bend: how large they are, how steep, and how curved."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels.losses import HUBER, SQUARED_ERROR


class Bends(NamedTuple):
    """The loss of every row, and its first and second derivative by the margin."""

    losses: NDArray[np.float64]
    slopes: NDArray[np.float64]
    curvatures: NDArray[np.float64]


@jit
def bend_of(loss, margin, target):
    """Return a loss, its slope and its curvature; that of classes is always the log loss.

    A margin's hinge says nothing of chances, and does not bend.
    """
    if loss in (SQUARED_ERROR, HUBER):
        error = margin - target
        if loss == SQUARED_ERROR or abs(error) <= 1.0:
            return error * error / 2.0, error, 1.0
        return abs(error) - 0.5, math.copysign(1.0, error), 0.0
    agreement = margin * target
    small = math.exp(-abs(agreement))
    doubt = (small if agreement > 0.0 else 1.0) / (1.0 + small)
    return math.log1p(small) - min(agreement, 0.0), -target * doubt, doubt * (1.0 - doubt)


@jit
def look_at(rows, loss, targets, importance, weights, bends, slopes):
    """Write how weights, the intercept last, bend every row's loss; return what all rows lose.

    How steep that is along each weight is added to ``slopes``. Rows of no importance, as a fold's
    held ones are, are passed over.
    """
    starts, slots, values = rows
    losses, row_slopes, curvatures = bends
    constant = weights.size - 1
    lost = 0.0
    last = np.uint64(starts[0])
    for i in range(targets.size):
        # unsigned, since Numba lets signed places count from an array's end
        first, last = last, np.uint64(starts[i + 1])
        if importance[i] == 0.0:
            losses[i] = row_slopes[i] = curvatures[i] = 0.0
            continue
        margin = weights[constant]
        for k in range(first, last):
            margin += values[k] * weights[slots[k]]
        losses[i], row_slopes[i], curvatures[i] = bend_of(loss, margin, targets[i])
        pull = importance[i] * row_slopes[i]
        for k in range(first, last):
            slopes[slots[k]] += pull * values[k]
        slopes[constant] += pull
        lost += importance[i] * losses[i]
    return lost


@jit
def add_curvatures(rows, bends, squares, levels):
    """Add rows' bends times the squares of each slot's values, and times those."""
    starts, slots, values = rows
    last = np.uint64(starts[0])
    for i in range(bends.size):
        first, last = last, np.uint64(starts[i + 1])
        for k in range(first, last):
            bent = bends[i] * values[k]
            levels[slots[k]] += bent
            squares[slots[k]] += bent * values[k]
