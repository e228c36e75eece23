"""What the flagship makes of weights between bursts: of those of bursts, and of the paths'."""

import numpy as np

from thresher.jit import jit
from thresher.kernels.bundle import RATE

BLOCK = 1024  # slots whose sums stay in the cache while path after path is added


@jit
def pad_takes(takes, padded, parts):
    """Write the weights of bursts into lines of zeros, and 1 for each part; return how many."""
    active = np.zeros(takes.shape[0], np.int64)
    for burst in range(takes.shape[0]):
        for lane in range(takes.shape[1]):
            padded[burst, lane] = takes[burst, lane]
            if takes[burst, lane] > 0.0:
                parts[burst, lane] = 1.0
                active[burst] += 1
    return active


@jit
def lane_sums(weights, first, last, sums):
    """Add to every slot's sum its weights on the lanes from ``first`` to ``last``."""
    for j in range(sums.size):
        mine = 0.0
        for lane in range(first, last):
            mine += np.float64(weights[j, lane])  # as it is when compiled
        sums[j] += mine


@jit
def path_sums(weights, sums):
    """Add to every slot's sum its weights on paths that are alone, in their order."""
    for first in range(0, sums.size, BLOCK):
        some = sums[first : first + BLOCK]
        for path in range(weights.shape[0]):
            mine = weights[path].reshape(-1)[first : first + BLOCK]
            for j in range(some.size):
                some[j] += np.float64(mine[j])  # as it is when compiled


@jit
def clear_slots(weights, pace, gone):
    """Let slots lose their weights on all paths, and the length of their steps."""
    for j in gone:
        weights[j] = 0.0
        pace[j, RATE] = 0.0


@jit
def follow_weights(weights, stable, newest, means):
    """Let the running means of stable features follow their newest weights."""
    for j in range(means.size):
        followed = means[j] + newest * (weights[j] - means[j])
        means[j] = followed if stable[j] else means[j]


@jit
def salient(weights, saliences):
    """Return how much weights stand out: |w_j| c_j."""
    scores = np.empty(weights.size)
    for j in range(weights.size):
        scores[j] = abs(weights[j]) * saliences[j]
    return scores


@jit
def follow_members(slots, numbers, chosen, weights, newest):
    """Return running means that have followed the newest weights, and at which slots they are.

    Those that are 0 are left out. Chosen slots without one begin with their weight, and slots that
    are not chosen with 0.
    """
    before = np.zeros(chosen.size)
    before[slots] = numbers
    n = 0
    for j in range(chosen.size):
        n += chosen[j] or weights[j] != 0.0
    new_slots, new_numbers = np.empty(n, np.uint32), np.empty(n)
    n = 0
    for j in range(chosen.size):
        if chosen[j] or weights[j] != 0.0:
            mean = before[j] if chosen[j] else 0.0
            mean = weights[j] if chosen[j] and mean == 0.0 else mean
            mean += newest * (weights[j] - mean)
            new_slots[n], new_numbers[n] = j, mean
            n += mean != 0.0
    return new_slots[:n], new_numbers[:n]
