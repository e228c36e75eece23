"""What paths tell of a stage, summed up by every thread over the paths it has led through it.

Whoever closes the stage has as many sums to add as there are threads, not paths. They are whole
numbers, and numbers of which only the order matters: who led which path changes nothing.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels.quantile import kth_of
from thresher.kernels.units import EVERY

# Ratios are set aside as they come if the next gravity may be among them: it lies below so many
# times the one before it in all but one of a hundred stages.
LOW = 64.0
LINE = 8  # numbers in a cache line: what two threads write is kept apart
# Sums in another order differ by less than this share of what they are made of.
NEAR = 1e-10


class Sums(NamedTuple):
    """What every thread has summed up: a first axis of threads.

    ``up`` and ``down`` are of each slot's weights, by their signs. The ratios that are low, of
    ``known[thread, 0]`` in all, are ``keys[thread, : low[thread, 0]]``.
    """

    evidence: NDArray[np.int64]
    selected: NDArray[np.int64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    keys: NDArray[np.float64]
    low: NDArray[np.int64]
    known: NDArray[np.int64]


def new_sums(n_threads: int, n_slots: int, n_ratios: int) -> Sums:
    """Return sums that are empty."""
    evidence, selected = np.zeros((2, n_threads, n_slots + LINE), np.int64)
    low, known = np.zeros((2, n_threads, LINE), np.int64)
    up, down = np.zeros((2, n_threads, n_slots + LINE))
    return Sums(evidence, selected, up, down, np.empty((n_threads, n_ratios + LINE)), low, known)


@jit
def sum_up(event, bursts, gravity, thread, path, n_slots, weights, tallies, sums):
    """Add what a path has counted in a stage to its thread's sums, and let it count anew.

    Where every burst counts for every slot alike, none has evidence of its own, and weights that
    are there have been so for all bursts but those that were counted.
    """
    evidence, selected = tallies.evidence[path], tallies.selected[path]
    if event != EVERY:
        for j in range(n_slots):
            sums.evidence[thread, j] += evidence[j]
            evidence[j] = 0
    standing = bursts if event == EVERY else 0
    for j in range(n_slots):
        weight = weights[path, j]
        sums.selected[thread, j] += selected[j] + (standing if weight != 0.0 else 0)
        selected[j] = 0
        sums.up[thread, j] += max(weight, 0.0)
        sums.down[thread, j] += max(-weight, 0.0)
    ratios, keys, bar = tallies.ratios[path], sums.keys[thread], LOW * gravity
    n, known = np.uint64(sums.low[thread, 0]), sums.known[thread, 0]
    for k in range(tallies.pooled[path, 0]):
        ratio = ratios[k]
        # written on every visit, but it stays only if it is low
        keys[n] = ratio
        n += np.uint64(ratio <= bar)
        known += not math.isnan(ratio)
    sums.low[thread, 0], sums.known[thread, 0] = n, known


@jit
def gather(event, judges, features, sums):
    """Add what threads have counted to what is known of each feature, if it is to be judged."""
    for thread in range(sums.low.shape[0]):
        evidence, selected = sums.evidence[thread], sums.selected[thread]
        for j in range(features.in_play[0]):
            if judges:
                features.selected[features.home[j]] += selected[j]
            selected[j] = 0
        if event == EVERY:
            continue
        for j in range(features.in_play[0]):
            if judges:
                features.evidence[features.home[j]] += evidence[j]
            evidence[j] = 0


@jit
def count_nonzero(stable, weights, sums):
    """Return how many stable slots have a mean weight that is not zero, and forget the sums of it.

    The mean is summed in the paths' order. Their weights are far from the core that asks, so only
    those are looked at whose sum is near zero in any order.
    """
    count = 0
    for j in range(stable.size):
        up = down = 0.0
        for thread in range(sums.low.shape[0]):
            up += sums.up[thread, j]
            down += sums.down[thread, j]
            sums.up[thread, j] = sums.down[thread, j] = 0.0
        if not stable[j] or up + down == 0.0:
            continue
        if abs(up - down) > NEAR * (up + down):
            count += 1
        else:
            total = 0.0
            for path in range(weights.shape[0]):
                total += weights[path, j]
            count += total / weights.shape[0] != 0.0
    return count


@jit
def kth_ratio(keys, n, k):
    """Return the k-th smallest of the first ratios, 0 if there is none."""
    if k <= 0:
        return 0.0
    found = np.empty(1, np.uint64)
    found[0] = kth_of(keys.view(np.uint64), n, k)
    return found.view(np.float64)[0]


@jit
def wanted_of(rejection_rate, n):
    """Return how many of so many ratios gravity is to reach."""
    return min(math.ceil(rejection_rate * n), n)


@jit
def gravity_of(rejection_rate, stable, tallies, keys):
    """Return the quantile, over all paths, of what stable slots moved per dose."""
    n = 0
    for path in range(tallies.ratios.shape[0]):
        owners, ratios = tallies.owners[path], tallies.ratios[path]
        for k in range(tallies.pooled[path, 0]):
            keys[n] = ratios[k]
            n += stable[owners[k]] and not math.isnan(ratios[k])
    return kth_ratio(keys, n, wanted_of(rejection_rate, n))


@jit
def summed_gravity(rejection_rate, sums, keys):
    """Return the same where all slots that moved are stable; -1 if it is not among the low ones."""
    wanted = wanted_of(rejection_rate, sums.known[:, 0].sum())
    if wanted > sums.low[:, 0].sum():
        return -1.0
    n = 0
    for thread in range(sums.low.shape[0]):
        for k in range(sums.low[thread, 0]):
            keys[n] = sums.keys[thread, k]
            n += 1
    return kth_ratio(keys, n, wanted)
