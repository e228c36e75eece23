"""Whole stages of independent paths in one call (Algorithm 4): bursts, judging, purging, gravity.

Threads lead one path after the other through a stage; whoever ends the last one closes the stage
for all, and the next begins. ``learners.stabilized`` closes stages in the same way, where a call
ends with one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels import annealing
from thresher.kernels.lone_bursts import run_path
from thresher.kernels.rows import Updates
from thresher.kernels.stage_sums import gather, gravity_of, sum_up, summed_gravity
from thresher.kernels.tickets import close_desk, hand_in, open_round, take_ticket
from thresher.kernels.units import EVERY, Burst, Tally, Unit

annealed_rejection_rate = jit(annealing.annealed_rejection_rate)
grown_burst_size = jit(annealing.grown_burst_size)

# Whole numbers of a stage, and its rates, as they stand in arrays. The last three are where the
# stretch under way begins and ends among the updates of a call, and whether it overflowed.
BURST_SIZE, NUMBER, DONE, BURSTS, KNOWN, ROWS_SEEN, ENDS, OVER, CLOSED, BEGIN, END, BROKEN = range(
    12
)
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
    """What is known of every slot, by all paths."""

    slot: NDArray[np.int64]
    stable: NDArray[np.bool_]
    purged_at: NDArray[np.int32]
    evidence: NDArray[np.int64]
    selected: NDArray[np.int64]
    probability: NDArray[np.float64]


class Course(NamedTuple):
    """Where the paths are, and what is written down on their way.

    ``learnt`` is how many rows each path learnt in the last stretch; ``counts`` and ``rates`` have
    a row for every stage that was closed, ``closed[0]`` of them. ``keys`` is room for the ratios of
    a stage.
    """

    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    learnt: NDArray[np.int64]
    counts: NDArray[np.int64]
    rates: NDArray[np.float64]
    closed: NDArray[np.int64]
    keys: NDArray[np.float64]


@jit
def purge(rules, number, features, weights):
    """Judge the slots with enough evidence, and let go of those too rarely selected."""
    gone = 0
    for j in range(features.stable.size):
        if features.stable[j] and features.evidence[j] > rules.min_evidence:
            probability = features.selected[j] / features.evidence[j]
            features.probability[j] = probability
            features.evidence[j] = 0
            features.selected[j] = 0
            if probability < rules.threshold:
                gone += 1
                features.stable[j] = False
                features.purged_at[j] = number
                for path in range(weights.shape[0]):
                    weights[path, j] = 0.0
    return gone


@jit
def judge(rules, whole, features, stack, sums):
    """Gather the evidence of a stage and purge; return how many slots went."""
    gather(whole[NUMBER] > 1, features, sums)
    if whole[NUMBER] == 1:  # it has no gravity, so it can judge nobody
        return 0
    if rules.event == EVERY:
        whole[ENDS] += stack.weights.shape[0] * rules.bursts
        features.evidence[:] = whole[ENDS]
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
def count_nonzero(weights, n_slots):
    """Return of how many slots the mean weight over paths is not zero."""
    means = np.zeros(n_slots)
    for path in range(weights.shape[0]):
        for j in range(n_slots):
            means[j] += weights[path, j]
    count = 0
    for j in range(n_slots):
        count += means[j] / weights.shape[0] != 0.0
    return count


@jit
def close_stage(rules, summed, features, stack, tallies, sums, course):
    """Judge and purge; then anneal, adapt gravity to the new rate, and lengthen bursts.

    ``summed`` says that the whole stage has been summed up. Returns how many slots were purged.
    """
    whole, real = course.whole, course.real
    gone = judge(rules, whole, features, stack, sums)
    n_stable = np.int64(0) if whole[CLOSED] else np.int64(rules.hidden)
    for j in range(features.stable.size):
        n_stable += features.stable[j]
    share = n_stable / rules.n_columns
    whole[OVER] = n_stable == 0
    real[REJECTION_RATE] = annealed_rejection_rate(
        share, rules.rejection_rate, rules.annealing_rate
    )
    real[GRAVITY] = next_gravity(
        real[REJECTION_RATE], summed and gone == 0, features.stable, tallies, sums, course.keys
    )
    if rules.growth == 0.0:
        whole[BURST_SIZE] = rules.burst_size
    elif n_stable > 0:
        whole[BURST_SIZE] = grown_burst_size(rules.burst_size, share, rules.growth)
    record, rates = course.counts[course.closed[0]], course.rates[course.closed[0]]
    record[STAGE], record[SEEN], record[STABLE] = whole[NUMBER], whole[ROWS_SEEN], n_stable
    record[NONZERO] = count_nonzero(stack.weights, features.stable.size)
    record[SIZE] = whole[BURST_SIZE]
    rates[GRAVITY], rates[REJECTION_RATE] = real[GRAVITY], real[REJECTION_RATE]
    course.closed[0] += 1
    whole[NUMBER] += 1
    whole[BURSTS] += rules.bursts
    whole[DONE] = 0
    whole[KNOWN] = features.slot[-1] + 1 if features.slot.size else 0
    tallies.pooled[:] = 0
    return gone


@jit
def entries_needed(rows, order, begin, end, n_touched, most):
    """Return how many entries updates can add to a path's pool: a slot once in every burst."""
    entries = n_touched
    for t in range(begin, end):
        entries += rows.starts[order[t] + 1] - rows.starts[order[t]]
    return min(entries, most)


@jit
def pools_suffice(rules, rows, orders, whole, stable, tallies):
    """Return whether a stage that begins has room for all that it may pool."""
    room, most = tallies.ratios.shape[1], rules.bursts * stable.size
    for path in range(orders.shape[0] if room < most else 0):
        if entries_needed(rows, orders[path], whole[BEGIN], whole[END], 0, most) > room:
            return False
    return True


@jit
def run_share(rows, orders, updates, rules, stable, stack, tallies, course, path):
    """Give one of the paths the updates of the stretch; return how many it learnt."""
    whole, real = course.whole, course.real
    begin, end = whole[BEGIN], whole[END]
    burst = Burst(rules.loss, whole[BURST_SIZE], real[GRAVITY], rules.shrinkage, rules.event)
    done = whole[DONE] % whole[BURST_SIZE]
    takes = np.ones((done + end - begin) // whole[BURST_SIZE] + 1)
    unit = Unit(
        stack.weights[path],
        stack.bias[path],
        stack.touches[path],
        stack.touched[path],
        stack.before[path],
        stack.cursor[path],
    )
    tally = Tally(
        tallies.evidence[path],
        tallies.selected[path],
        tallies.owners[path],
        tallies.ratios[path],
        tallies.pooled[path],
    )
    mine = Updates(
        orders[path],
        updates.steps,
        updates.biases,
        updates.norms,
        updates.targets,
        updates.importance,
    )
    return run_path(rows, mine, begin, end, burst, done, takes, stable, unit, tally)


@jit
def end_stretch(rows, orders, rules, features, stack, tallies, sums, course):
    """Go on from where all paths have come to; return whether they have anything to do there.

    Not so where numbers overflowed, slots were purged, nothing is left to learn, or pools must
    grow. A stage that ends with the updates is left for others to close.
    """
    whole = course.whole
    length = whole[END] - whole[BEGIN]
    if course.learnt.min() < length:
        whole[BROKEN] = 1
        return False
    summed = whole[DONE] == 0
    whole[DONE] += length
    whole[ROWS_SEEN] += length
    whole[BEGIN] = whole[END]
    if whole[END] == orders.shape[1]:
        return False
    gone = close_stage(rules, summed, features, stack, tallies, sums, course)
    stage = rules.bursts * whole[BURST_SIZE]
    whole[END] = min(whole[BEGIN] + stage, orders.shape[1])
    if gone > 0 or whole[OVER]:
        return False
    return pools_suffice(rules, rows, orders, whole, features.stable, tallies)


@jit
def lead(thread, path, rows, orders, updates, rules, features, stack, tallies, sums, course):
    """Lead a path through the stretch under way, and sum up the stage if that ends with it."""
    whole = course.whole
    learnt = run_share(rows, orders, updates, rules, features.stable, stack, tallies, course, path)
    course.learnt[path] = learnt
    if whole[END] < orders.shape[1] and learnt == whole[END] - whole[BEGIN]:
        sum_up(course.real[GRAVITY], thread, path, features.stable.size, tallies, sums)


@jit
def run_stages(thread, desk, rows, orders, updates, rules, features, stack, tallies, sums, course):
    """Lead paths through their updates, stage after stage, as long as the desk has tickets.

    Any number of threads may do so at once. At the end ``course.whole[BEGIN]`` is how many updates
    all paths have made, or what ``course.learnt`` adds to where ``course.whole[BROKEN]``.
    """
    while True:
        path = take_ticket(desk, thread)
        if path < 0:
            return
        lead(thread, path, rows, orders, updates, rules, features, stack, tallies, sums, course)
        if hand_in(desk):
            if end_stretch(rows, orders, rules, features, stack, tallies, sums, course):
                open_round(desk)
            else:
                close_desk(desk)
