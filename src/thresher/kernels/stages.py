"""The end of a stage of independent paths (Algorithm 4): judging, purging, gravity.

``learners.stabilized`` closes the stages of a shared stream in the same way.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels import annealing
from thresher.kernels.stage_sums import count_nonzero, gather, gravity_of, summed_gravity
from thresher.kernels.units import EVERY

annealed_rejection_rate = jit(annealing.annealed_rejection_rate)
grown_burst_size = jit(annealing.grown_burst_size)

# Whole numbers of a stage, and its rates, as they stand in arrays.
BURST_SIZE, NUMBER, DONE, BURSTS, KNOWN, ROWS_SEEN, ENDS, OVER, CLOSED = range(9)
GRAVITY, REJECTION_RATE = range(2)
# What a record of a stage holds of them.
STAGE, SEEN, STABLE, NONZERO, SIZE = range(5)


class Rules(NamedTuple):
    """The settings of a run; ``hidden`` columns have not occurred, ``growth`` is 0 for none."""

    loss: int
    shrinkage: int
    event: int
    burst_size: int
    bursts: int
    rejection_rate: float
    annealing_rate: float
    threshold: float
    min_evidence: int
    growth: float
    n_columns: int
    hidden: int


class Features(NamedTuple):
    """What is known of features, by all paths.

    Those in play, the first ``in_play[0]``, move up as others leave; ``home`` says where the rest
    is kept of them, which stays where it is. ``counts`` are their nonzeros in the rows.
    """

    in_play: NDArray[np.int64]
    home: NDArray[np.int64]
    stable: NDArray[np.bool_]
    counts: NDArray[np.int64]
    purged_at: NDArray[np.int32]
    evidence: NDArray[np.int64]
    selected: NDArray[np.int64]
    probability: NDArray[np.float64]


class History(NamedTuple):
    """A row for every stage that was closed, ``closed[0]`` of them."""

    counts: NDArray[np.int64]
    rates: NDArray[np.float64]
    closed: NDArray[np.int64]


@jit
def purge(rules, number, features, weights):
    """Judge the features with enough evidence, and let go of those too rarely selected."""
    gone = 0
    for j in range(features.in_play[0]):
        home = features.home[j]
        if features.stable[j] and features.evidence[home] > rules.min_evidence:
            probability = features.selected[home] / features.evidence[home]
            features.probability[home] = probability
            features.evidence[home] = 0
            features.selected[home] = 0
            if probability < rules.threshold:
                gone += 1
                features.stable[j] = False
                features.purged_at[home] = number
                for path in range(weights.shape[0]):
                    weights[path, j] = 0.0
    return gone


@jit
def judge(rules, whole, features, stack, sums):
    """Gather the evidence of a stage and purge; return how many features went."""
    gather(rules.event, whole[NUMBER] > 1, features, sums)
    if whole[NUMBER] == 1:  # it has no gravity, so it can judge nobody
        return 0
    if rules.event == EVERY:
        whole[ENDS] += stack.weights.shape[0] * rules.bursts
        for j in range(features.in_play[0]):
            features.evidence[features.home[j]] = whole[ENDS]
    gone = purge(rules, whole[NUMBER], features, stack.weights)
    if rules.event == EVERY and whole[ENDS] > rules.min_evidence:
        whole[ENDS] = 0
        whole[CLOSED] = rules.threshold > 0.0
    return gone


@jit
def next_gravity(rejection_rate, summed, stable, tallies, sums, keys):
    """Return the gravity of the next stage, from what is ``summed`` up if that is all of it."""
    gravity = summed_gravity(rejection_rate, sums, keys) if summed else -1.0
    sums.low[:, 0] = 0
    sums.known[:, 0] = 0
    return gravity if gravity >= 0.0 else gravity_of(rejection_rate, stable, tallies, keys)


@jit
def record(whole, real, n_stable, n_nonzero, history):
    """Write down the stage that ends, with what will rule the next."""
    counts, rates = history.counts[history.closed[0]], history.rates[history.closed[0]]
    counts[STAGE], counts[SEEN] = whole[NUMBER], whole[ROWS_SEEN]
    counts[STABLE], counts[NONZERO], counts[SIZE] = n_stable, n_nonzero, whole[BURST_SIZE]
    rates[GRAVITY], rates[REJECTION_RATE] = real[GRAVITY], real[REJECTION_RATE]
    history.closed[0] += 1


@jit
def close_stage(rules, summed, whole, real, features, stack, tallies, sums, keys, history):
    """Judge and purge; then anneal, adapt gravity to the new rate, and lengthen bursts.

    ``summed`` says that the whole stage has been summed up; ``keys`` is room for its ratios.
    Returns how many features were purged.
    """
    gone = judge(rules, whole, features, stack, sums)
    n_slots = features.in_play[0]
    n_stable = np.int64(0) if whole[CLOSED] else np.int64(rules.hidden)
    for j in range(n_slots):
        n_stable += features.stable[j]
    share = n_stable / rules.n_columns
    whole[OVER] = n_stable == 0
    real[REJECTION_RATE] = annealed_rejection_rate(
        share, rules.rejection_rate, rules.annealing_rate
    )
    real[GRAVITY] = next_gravity(
        real[REJECTION_RATE], summed and gone == 0, features.stable, tallies, sums, keys
    )
    if rules.growth == 0.0:
        whole[BURST_SIZE] = rules.burst_size
    elif n_stable > 0:
        whole[BURST_SIZE] = grown_burst_size(rules.burst_size, share, rules.growth)
    n_nonzero = count_nonzero(features.stable[:n_slots], stack.weights, sums)
    record(whole, real, n_stable, n_nonzero, history)
    whole[NUMBER] += 1
    whole[BURSTS] += rules.bursts
    whole[DONE] = 0
    whole[KNOWN] = features.home[n_slots - 1] + 1 if n_slots else 0
    tallies.pooled[:] = 0
    return gone
