"""A whole fit of independent paths in one call per thread: passes, stages, and who leaves them.

Threads lead one path after the other through a stretch of updates; whoever ends the last one closes
the stage for all, and decides what comes next: another stretch, or a round in which rows and paths
lose what was purged, or the end.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels.borrowing import borrowed
from thresher.kernels.leaving import (
    Leaving,
    begin_leaving,
    end_leaving,
    leave_share,
    worth_leaving,
)
from thresher.kernels.reading import Reading, run_share
from thresher.kernels.rows import Rows
from thresher.kernels.shrink import soft_threshold
from thresher.kernels.stage_sums import Sums, sum_up
from thresher.kernels.stages import (
    BURST_SIZE,
    DONE,
    GRAVITY,
    NUMBER,
    OVER,
    ROWS_SEEN,
    Features,
    History,
    Rules,
    close_stage,
)
from thresher.kernels.tickets import close_desk, hand_in, open_round, take_any, take_ticket
from thresher.kernels.units import Burst, Tally, Unit, dose_of

# Updates at which the stretch under way begins and ends, and those up to which a call goes, counted
# from the first pass on; whether features leave instead, numbers overflowed, weights have settled.
BEGIN, END, UNTIL, LEAVE, BROKEN, SETTLED = range(6)


class Course(NamedTuple):
    """Where the paths are on their way.

    ``whole`` and ``real`` are the numbers of the stage, ``way`` those above. ``learnt[:, 0]`` is
    how many rows each path learnt in the last stretch; ``keys`` is room for the ratios of a stage.
    ``before`` are the weights at the end of the pass before, ``lost[0]`` the largest of those that
    have left since: they have settled if none changed by more than a share ``tol`` of the largest.
    """

    whole: NDArray[np.int64]
    real: NDArray[np.float64]
    way: NDArray[np.int64]
    learnt: NDArray[np.int64]
    keys: NDArray[np.float64]
    before: NDArray[np.float64]
    lost: NDArray[np.float64]
    tol: float


class Fit(NamedTuple):
    """All that threads have in common; ``stack`` and ``tallies`` have a first axis of paths."""

    rows: Rows
    reading: Reading
    rules: Rules
    features: Features
    stack: Unit
    tallies: Tally
    sums: Sums
    course: Course
    history: History
    leaving: Leaving


@jit
def shown_means(shrinkage, gravity, stack, n_slots):
    """Return the mean weights over paths, bursts that are still open being truncated for show."""
    means = np.zeros(n_slots)
    for path in range(stack.weights.shape[0]):
        for j in range(n_slots):
            weight, touches = stack.weights[path, j], stack.touches[path, j]
            if touches > 0:
                weight = soft_threshold(weight, gravity * dose_of(shrinkage, touches))
            means[j] += weight
    for j in range(n_slots):
        means[j] /= stack.weights.shape[0]
    return means


@jit
def have_settled(fit):
    """Return whether no weight has changed much since the last look, and remember them.

    Where all are zero they may be on their way still, as in the first stage, which has no gravity.
    """
    course = fit.course
    if course.whole[NUMBER] == 1:
        return False
    n_slots = fit.features.in_play[0]
    means = shown_means(fit.rules.shrinkage, course.real[GRAVITY], fit.stack, n_slots)
    largest, change = 0.0, course.lost[0]
    for j in range(n_slots):
        largest = max(largest, abs(means[j]))
        change = max(change, abs(means[j] - course.before[j]))
        course.before[j] = means[j]
    course.lost[0] = 0.0
    return largest > 0.0 and change <= course.tol * largest


@jit
def ends_here(fit):
    """Return whether nothing more is to be done in this call."""
    way = fit.course.way
    if fit.course.whole[OVER]:
        return True
    if fit.course.tol > 0.0 and way[BEGIN] % fit.reading.orders.shape[1] == 0:
        way[SETTLED] = have_settled(fit)
    full = fit.history.closed[0] == fit.history.counts.shape[0]
    return way[SETTLED] or full or way[BEGIN] == way[UNTIL]


@jit
def next_end(fit):
    """Return where a stretch ends: with its stage, or with a pass after which weights are seen."""
    course, n_rows = fit.course, fit.reading.orders.shape[1]
    begin = course.way[BEGIN]
    end = begin + fit.rules.bursts * course.whole[BURST_SIZE] - course.whole[DONE]
    if course.tol > 0.0:
        end = min(end, (begin // n_rows + 1) * n_rows)
    return min(end, course.way[UNTIL])


@jit
def end_stretch(fit):
    """Note where the paths are, and close a stage that ends there; return how many were purged."""
    whole, way = fit.course.whole, fit.course.way
    summed = whole[DONE] == 0
    whole[DONE] += way[END] - way[BEGIN]
    whole[ROWS_SEEN] += way[END] - way[BEGIN]
    way[BEGIN] = way[END]
    if whole[DONE] < fit.rules.bursts * whole[BURST_SIZE]:
        return 0
    return close_stage(
        fit.rules,
        summed,
        whole,
        fit.course.real,
        fit.features,
        fit.stack,
        fit.tallies,
        fit.sums,
        fit.course.keys,
        fit.history,
    )


@jit
def go_on(fit):
    """Decide what comes next, once all paths are where they should be; return whether anything."""
    course, way = fit.course, fit.course.way
    if way[LEAVE]:
        lost = end_leaving(fit.rows, fit.features, course.before, fit.leaving)
        course.lost[0] = max(course.lost[0], lost)
        way[LEAVE] = 0
    elif course.learnt[:, 0].min() < way[END] - way[BEGIN]:
        way[BROKEN] = 1
        return False
    elif end_stretch(fit) > 0 and worth_leaving(fit.rows, fit.features):
        begin_leaving(fit.rows, fit.features, fit.leaving)
        way[LEAVE] = 1
        return True
    if ends_here(fit):
        return False
    way[END] = next_end(fit)
    return True


@jit
def lead(thread, path, desk, fit):
    """Lead a path through the stretch under way, and sum up the stage if that ends with it."""
    course, rules, n_slots = fit.course, fit.rules, fit.features.in_play[0]
    whole, way, gravity = course.whole, course.way, course.real[GRAVITY]
    if way[LEAVE]:
        leave_share(fit.rows, fit.stack.weights, n_slots, fit.leaving, path)
        return
    begin, end = way[BEGIN], way[END]
    burst = Burst(rules.loss, whole[BURST_SIZE], gravity, rules.shrinkage, rules.event)
    learnt = run_share(
        fit.rows,
        fit.reading,
        burst,
        whole[DONE],
        begin,
        end,
        fit.features.stable[:n_slots],
        fit.stack,
        fit.tallies,
        path,
        desk,
    )
    course.learnt[path, 0] = learnt
    closes = whole[DONE] + end - begin == rules.bursts * whole[BURST_SIZE]
    if closes and learnt == end - begin:
        sum_up(
            rules.event,
            rules.bursts,
            gravity,
            thread,
            path,
            n_slots,
            fit.stack.weights,
            fit.tallies,
            fit.sums,
        )


@jit
def run_fit(thread, desk, shared):
    """Lead paths through their updates, stage after stage, as long as the desk has tickets.

    Any number of threads may do so at once. At the end ``course.way[BEGIN]`` is how many updates
    all paths have made, or what ``course.learnt`` adds to where ``course.way[BROKEN]``.
    """
    fit = borrowed(shared)
    while True:
        path = take_ticket(desk, thread)
        if path < 0:
            return
        pieces = 0
        while path >= 0:
            lead(thread, path, desk, fit)
            pieces += 1
            path = take_any(desk, thread)
        if hand_in(desk, pieces):
            if go_on(fit):
                open_round(desk)
            else:
                close_desk(desk)
