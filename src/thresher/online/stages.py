"""Stages of bursts, compiled (the paper's Algorithm 4).

Paths go through the bursts of a stage independently of each other. When it is closed, features are
purged by what all of its bursts have counted, and the next stage gets its gravity. Rows at hand and
streams share this one loop.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.draws import burst_weights
from thresher.jit import jit
from thresher.online.bursts import (
    EVERY,
    INFORMATIVE,
    PURGED,
    Burst,
    Paths,
    information,
    path_of,
    run_path,
)
from thresher.online.passes import soft_threshold
from thresher.online.quantile import quantile

# A path on a shared stream takes part in four bursts of five.
KEEP = 0.8

# Whole numbers of a run. The stage's number, the size of its bursts, its updates in all and so far;
STAGE, SIZE, LENGTH, DONE = range(4)
# bursts before it, updates of the run, ends of bursts since features were last examined;
BURSTS, SEEN, ENDS = range(4, 7)
# columns, those that have occurred, those of them that are stable, those with a weight;
COLUMNS, SLOTS, IN_PLAY, NONZERO = range(7, 11)
# the stage in which columns that had not occurred were purged, and stages since many others were.
CLOSED, CALM = range(11, 13)
N_COUNTS = 13
GRAVITY, REJECTION_RATE = range(2)

MANY = 0.002  # a share of what bursts have touched


class Rules(NamedTuple):
    """The settings of a run; ``growth`` is 0 for none, ``gravity`` negative if it adapts."""

    loss: int
    shrinkage: int
    selection: int
    burst_size: int
    bursts: int
    rejection_rate: float
    annealing_rate: float
    purge_threshold: float
    min_evidence: int
    growth: float
    gravity: float
    shared: bool
    seed: int


class Schedule(NamedTuple):
    """The updates of all paths; ``orders`` and ``steps`` have one row for all, or one for each."""

    orders: NDArray[np.int64]
    steps: NDArray[np.float64]
    biases: NDArray[np.float64]
    targets: NDArray[np.float64]
    importance: NDArray[np.float64]


class Features(NamedTuple):
    """What is known of every slot: counts since it was last examined, what they said, and so on.

    ``holders`` are the paths on which it has a weight. ``listed[: n_listed[0]]`` has the stable
    slots, and purged ones as long as they are not more.
    """

    listed: NDArray[np.uint32]
    n_listed: NDArray[np.int64]
    evidence: NDArray[np.int64]
    selected: NDArray[np.int64]
    holders: NDArray[np.int32]
    probability: NDArray[np.float64]
    purged_at: NDArray[np.int32]


class History(NamedTuple):
    """An entry for each of the ``n[0]`` stages closed: its rules, and what was left at its end."""

    n: NDArray[np.int64]
    rows_seen: NDArray[np.int64]
    burst_size: NDArray[np.int64]
    gravity: NDArray[np.float64]
    rejection_rate: NDArray[np.float64]
    stable: NDArray[np.int64]
    nonzero: NDArray[np.int64]


class Run(NamedTuple):
    """All that a run changes."""

    counts: NDArray[np.int64]
    rates: NDArray[np.float64]
    paths: Paths
    features: Features
    history: History


@jit
def run_stages(rules, rows, schedule, begin, run, failed):
    """Give all paths their updates from ``begin`` on, closing stages that end before the last one.

    Return up to where all have made them: not to the end if numbers overflowed, at the updates that
    ``failed`` then has, or if there is no room, see ``begin_part``.
    """
    while begin < schedule.biases.size:
        stop = begin_part(rules, rows[0], schedule, begin, run)
        if stop == begin:
            break
        takes = takes_of(rules, run, stop - begin)
        run_paths(0, failed.size, rules, rows, schedule, begin, stop, takes, run, failed)
        if failed.max() >= 0:
            break
        end_part(run, stop - begin)
        begin = stop
    return begin


@jit
def begin_part(rules, starts, schedule, begin, run):
    """Close a stage that is over; return where the updates leave the next, or have an end.

    That is where they begin if the ratios or the history have no room for more.
    """
    counts, history = run.counts, run.history
    if counts[DONE] == counts[LENGTH]:
        if history.n[0] == history.stable.size:
            return begin
        close_stage(rules, run)
    stop = min(schedule.biases.size, begin + counts[LENGTH] - counts[DONE])
    fits = pool_needed(starts, schedule.orders, begin, stop, run) <= run.paths.ratios.shape[1]
    return stop if fits else begin


@jit
def pool_needed(starts, orders, begin, end, run):
    """Return how many ratios a path may have after the updates from ``begin`` to ``end``."""
    most = 0
    for path in range(len(orders)):
        nonzeros = 0
        for t in range(begin, end):
            i = orders[path, t]
            nonzeros += starts[i + 1] - starts[i]
        most = max(most, nonzeros)
    ends = (run.counts[DONE] % run.counts[SIZE] + end - begin) // run.counts[SIZE]
    most = min(most + run.paths.n_touched.max(), ends * run.counts[IN_PLAY])
    return run.paths.n_pooled.max() + most


@jit
def takes_of(rules, run, n_updates):
    """Return the weights of the bursts of the next updates, a row per path."""
    done, size, n_paths = run.counts[DONE], run.counts[SIZE], run.paths.ends.size
    first = done // size
    n_bursts = (done + n_updates - 1) // size - first + 1
    if not rules.shared:
        return np.ones((n_paths, n_bursts))
    return burst_weights(rules.seed, run.counts[BURSTS] + first, n_bursts, n_paths, KEEP)


@jit
def run_paths(first, last, rules, rows, schedule, begin, end, takes, run, failed):
    """Give the paths from ``first`` to ``last`` their updates, all within the stage."""
    orders, steps, biases, targets, importance = schedule
    size, filled = run.counts[SIZE], run.counts[DONE] % run.counts[SIZE]
    burst = Burst(rules.loss, rules.shrinkage, rules.selection, size, run.rates[GRAVITY])
    for m in range(first, last):
        updates = orders[m % len(orders)], steps[m % len(steps)], biases, targets, importance
        path = path_of(run.paths, m)
        failed[m] = run_path(burst, rows, updates, begin, end, filled, takes[m], path)


@jit
def end_part(run, n):
    """Note that all paths have made so many updates."""
    run.counts[DONE] += n
    run.counts[SEEN] += n


@jit
def close_stage(rules, run):
    """Purge (Eq. 8 to 10, 16); then anneal (12), adapt gravity (11), and lengthen bursts.

    A stage without gravity, as the first one is unless it is given, truncates nothing, so that
    nothing can be learned from it of what should be purged.
    """
    counts, before = run.counts, run.counts[IN_PLAY]
    examined = counts[STAGE] > 1 or rules.gravity >= 0.0
    gather(rules.selection, examined, run)
    if examined:
        examine(rules, run)
    many = not examined or (counts[IN_PLAY] < before and forget_purged(run) > MANY)
    counts[CALM] = 0 if many else counts[CALM] + 1
    record(run)
    open_stage(rules, run)


@jit
def listed_slots(run):
    """Return the stable slots, and purged ones as long as they are not more."""
    return run.features.listed[: run.features.n_listed[0]]


@jit
def gather(selection, examined, run):
    """Add what paths have counted to what is known of features, if it counts, and begin anew.

    Only slots that were touched have changed, the owners of ratios, some more than once; where
    every burst counts for every feature, all are looked at.
    """
    paths, listed, nonzero = run.paths, listed_slots(run), run.counts[NONZERO]
    _, _, evidence, selected, holders, _, _ = run.features
    for m in range(paths.ends.size):
        weights, mine, owners = paths.weights[m], paths.selected[m], paths.owners[m]
        touched = owners[: paths.n_pooled[m]]
        standing = paths.ends[m] if selection == EVERY else 0
        for j in listed if selection == EVERY or listed.size < touched.size else touched:
            now, found, before = np.int32(weights[j] != 0.0), mine[j], holders[j]
            mine[j] = now
            holders[j] = before + now - (found & 1)
            nonzero += np.int64(holders[j] > 0) - np.int64(before > 0)
            selected[j] += examined * ((found >> 1) + standing * now)
        if examined and selection == INFORMATIVE:
            for j in touched:
                evidence[j] += 1
    run.counts[NONZERO] = nonzero


@jit
def examine(rules, run):
    """Purge the features with more evidence than delta_K that were too rarely selected (Eq. 16).

    If every burst counts for every feature, all are examined together, columns that have not
    occurred with the rest: no burst has selected those.
    """
    paths, counts, listed = run.paths, run.counts, listed_slots(run)
    if rules.selection == EVERY:
        counts[ENDS] += paths.ends.sum()
        if counts[ENDS] <= rules.min_evidence:
            return
        if counts[CLOSED] == 0 and rules.purge_threshold > 0.0:
            counts[CLOSED] = counts[STAGE]
    if rules.selection == EVERY or listed.size < paths.n_pooled.sum():
        examine_slots(rules, listed, counts[ENDS], run)
    else:
        for m in range(paths.ends.size):
            examine_slots(rules, paths.owners[m, : paths.n_pooled[m]], 0, run)
    counts[ENDS] = 0


@jit
def examine_slots(rules, slots, common, run):
    """Purge slots by their own evidence, or what is ``common`` to all; counts begin anew.

    Evidence of exactly delta_K, for which the paper has no rule, is kept.
    """
    _, _, evidence, selected, holders, probability, purged_at = run.features
    paths, counts = run.paths, run.counts
    for j in slots:
        ends = common if common > 0 else evidence[j]
        if ends <= rules.min_evidence or purged_at[j] > 0:
            continue
        probability[j] = selected[j] / ends
        selected[j] = evidence[j] = 0
        if probability[j] < rules.purge_threshold:
            counts[IN_PLAY] -= 1
            counts[NONZERO] -= holders[j] > 0
            purged_at[j], holders[j] = counts[STAGE], 0
            for m in range(paths.ends.size):
                paths.weights[m, j], paths.selected[m, j] = 0.0, 0
                paths.touches[m, j] = PURGED


@jit
def forget_purged(run):
    """Take purged slots out of the ratios, and out of the list once they are half of it.

    Return the share of ratios that go.
    """
    paths, purged_at, before = run.paths, run.features.purged_at, run.paths.n_pooled.sum()
    for m in range(paths.ends.size):
        n, owners, ratios = 0, paths.owners[m], paths.ratios[m]
        for k in range(paths.n_pooled[m]):
            owners[n], ratios[n] = owners[k], ratios[k]
            n += purged_at[owners[k]] == 0
        paths.n_pooled[m] = n
    listed, n_listed = run.features.listed, run.features.n_listed
    if 2 * run.counts[IN_PLAY] < n_listed[0]:
        n = 0
        for k in range(n_listed[0]):
            listed[n] = listed[k]
            n += purged_at[listed[k]] == 0
        n_listed[0] = n
    return 1.0 - paths.n_pooled.sum() / max(before, 1)


@jit
def n_stable(counts):
    """Return how many columns were not purged, with those that have not occurred yet."""
    return counts[IN_PLAY] + (0 if counts[CLOSED] else counts[COLUMNS] - counts[SLOTS])


@jit
def record(run):
    """Write down the stage that ends."""
    counts, history = run.counts, run.history
    place = history.n[0]
    history.rows_seen[place], history.burst_size[place] = counts[SEEN], counts[SIZE]
    history.gravity[place] = run.rates[GRAVITY]
    history.rejection_rate[place] = run.rates[REJECTION_RATE]
    history.stable[place], history.nonzero[place] = n_stable(counts), counts[NONZERO]
    history.n[0] += 1


@jit
def open_stage(rules, run):
    """Set the rules of the next stage: its rejection rate, gravity (Eq. 11), and bursts.

    As printed, Eq. 11 counts ratios above gravity, and its supremum is infinite; here, it is the
    quantile of the ratios of stable features.
    """
    counts, rates, paths = run.counts, run.rates, run.paths
    share = n_stable(counts) / max(counts[COLUMNS], 1)
    rates[REJECTION_RATE] = annealed_rejection_rate(
        share, rules.rejection_rate, rules.annealing_rate
    )
    if rules.gravity < 0.0:
        rates[GRAVITY] = quantile(paths.ratios, paths.n_pooled, rates[REJECTION_RATE])
    counts[BURSTS] += counts[DONE] // counts[SIZE]
    if rules.growth == 0.0:
        counts[SIZE] = rules.burst_size
    elif share > 0.0:
        counts[SIZE] = grown_burst_size(rules.burst_size, share, rules.growth)
    counts[LENGTH], counts[DONE] = rules.bursts * counts[SIZE], 0
    counts[STAGE] += 1
    paths.ends[:] = 0
    paths.n_pooled[:] = 0


@jit
def annealed_rejection_rate(share, rejection_rate, annealing_rate):
    """Return phi(d), Eq. 12: the share of updates to cancel while a share d of features is stable.

    It falls from ``rejection_rate`` at d = 1 to 0 at d = 0: linearly for an annealing rate of 0,
    faster for a positive one, slower for a negative one. In the paper's formulas d and 1 - d are
    exchanged: as printed, the rate is 0 at d = 1, where the text starts at the maximum.
    """
    gone, speed = 1.0 - share, annealing_rate
    if speed >= 0:
        return rejection_rate * (math.exp(-speed * gone) - gone * math.exp(-speed))
    return rejection_rate * math.log1p(-speed * share) / math.log1p(-speed)


@jit
def grown_burst_size(burst_size, share, growth):
    """Return K_0 log(1 / (alpha d)), rounded up, and never less than one update."""
    return max(1, math.ceil(burst_size * math.log(1.0 / (growth * share))))


@jit
def mean_weights(shrinkage, run, means):
    """Write the means over paths by slot, bursts that are still open being truncated for show."""
    paths, gravity = run.paths, run.rates[GRAVITY]
    for m in range(paths.ends.size):
        weights, touches = paths.weights[m], paths.touches[m]
        for j in listed_slots(run):
            weight = weights[j]
            if touches[j] > 0:
                weight = soft_threshold(weight, gravity * information(shrinkage, touches[j]))
            means[j] += weight / paths.ends.size
