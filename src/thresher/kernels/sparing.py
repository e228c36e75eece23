"""Least squares in which a weight costs its size (the lasso), one weight after the other."""

import math

import numpy as np

from thresher.jit import jit


@jit
def add_products(rows, importance, products):
    """Add, for every two slots of a row, the product of their values times its importance.

    Each pair is added once, wherever its first slot stands before the second in its row.
    """
    starts, slots, values = rows
    last = np.uint64(starts[0])
    for i in range(importance.size):
        # unsigned, since Numba lets signed places count from an array's end
        first, last = last, np.uint64(starts[i + 1])
        if importance[i] == 0.0:
            continue
        for k in range(first, last):
            value = importance[i] * values[k]
            for j in range(first, k + np.uint64(1)):
                products[slots[j], slots[k]] += value * values[j]


@jit
def spare(products, left, costs, least, weights, most_rounds, close):
    """Move each weight in turn to where all cost least, until none moves by more than ``close``.

    They cost half of ``weights . products . weights`` less what they explain, and each what it
    costs times its size. A size is a root of a sum of squares that is no smaller than ``least``, so
    that no weight ends at 0: seen from where it is, the cost is a parabola (IRLS). ``left`` is what
    is still to be explained along each weight.
    """
    for _ in range(most_rounds):
        farthest = 0.0
        for j in range(weights.size):
            curvature = products[j, j]
            if not curvature > 0.0:
                continue
            size = max(abs(weights[j]), least[j])
            there = (left[j] + curvature * weights[j]) / (curvature + costs[j] / size)
            move = there - weights[j]
            distance = abs(move) * math.sqrt(curvature)
            farthest = max(farthest, distance)
            if distance <= 0.01 * close:  # not worth a look at all others
                continue
            for k in range(weights.size):
                left[k] -= products[j, k] * move
            weights[j] = there
        if not farthest > close:
            break
