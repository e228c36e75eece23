"""Masks of features, gone through once where NumPy would go through them several times."""

import numpy as np

from thresher.jit import jit


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
