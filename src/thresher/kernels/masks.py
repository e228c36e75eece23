"""Masks of features, gone through once where NumPy would go through them several times."""

import numpy as np

from thresher.jit import jit
from thresher.kernels.quantile import kth_smallest


@jit
def picked(numbers, mask):
    """Return the numbers of a mask."""
    found = np.empty_like(numbers)
    n = 0
    for j in range(mask.size):
        found[n] = numbers[j]
        n += mask[j]
    return found[:n]


@jit
def above(scores, mask, bar):
    """Return which scores of a mask lie above the bar, and the places of those that lie on it."""
    higher = np.empty_like(mask)
    n = 0
    for j in range(mask.size):
        higher[j] = mask[j] and scores[j] > bar
        n += mask[j] and scores[j] == bar
    level = np.empty(n, np.int64)
    n = 0
    for j in range(mask.size):
        if mask[j] and scores[j] == bar:
            level[n] = j
            n += 1
    return higher, level


@jit
def highest(scores, mask, n):
    """Return which of a mask have the n highest scores, but for those with the lowest of these.

    Then come the places of the latter, and how many of them are among the n. If a mask has no more
    than n, they are all.
    """
    mine = picked(scores, mask)
    if mine.size <= n:
        return mask.copy(), np.empty(0, np.int64), 0
    bar = kth_smallest(mine, mine.size - n + 1) if n > 0 else 0.0
    higher, level = above(scores, mask, bar)
    return higher, level, n - np.count_nonzero(higher)


@jit
def places_of(mask):
    """Return, for every entry of a mask, its place among those that are true; -1 for the others."""
    places = np.empty(mask.size, np.int32)
    n = 0
    for j in range(mask.size):
        places[j] = n if mask[j] else -1
        n += mask[j]
    return places


@jit
def sum_of(counts, mask):
    """Return the sum of the counts of a mask."""
    total = 0
    for j in range(mask.size):
        total += counts[j] if mask[j] else 0
    return total


@jit
def count_both(mask, numbers):
    """Return how many numbers of a mask are not 0."""
    n = 0
    for j in range(mask.size):
        n += mask[j] and numbers[j] != 0.0
    return n
