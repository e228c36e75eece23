"""Learning from rows that are all at hand, in several passes."""

from collections.abc import Callable

import numpy as np

from thresher.learners.protocol import Learner
from thresher.train.feed import Batch, Feed
from thresher.train.follow import follow
from thresher.train.passes import Passes
from thresher.train.problem import Problem
from thresher.train.self_led import SelfLedWork
from thresher.train.work import Work
from thresher.workers import Workers


def fit_problem(
    learner: Learner,
    problem: Problem,
    work: Work,
    batch: Batch,
    targets: np.ndarray,
    passes: Passes,
    run_all: Workers,
    report: Callable[[int, Problem], None],
) -> int:
    """Learn the rows pass by pass; return the number of whole passes, 1 if there was none.

    A timetable's bursts are rounded up, so that a few rows of one more pass may follow.
    """
    work.shed(run_all)  # what earlier fits have purged
    first = problem.pace.updates
    if isinstance(work, SelfLedWork):
        work.fit(problem, batch, targets, passes, run_all, report)
    else:
        _fit_by_pass(learner, problem, work, batch, targets, passes, run_all, report)
    work.finish(run_all)
    return max(1, (problem.pace.updates - first) // batch.norms.size)


def _fit_by_pass(
    learner: Learner,
    problem: Problem,
    work: Work,
    batch: Batch,
    targets: np.ndarray,
    passes: Passes,
    run_all: Workers,
    report: Callable[[int, Problem], None],
) -> None:
    """Learn the rows pass by pass."""
    before, first, n_rows = np.zeros(len(work.vocabulary)), problem.pace.updates, batch.norms.size
    turns = passes.in_turn(n_rows, learner.n_orders, run_all)
    while not learner.finished(work.state) and (turn := next(turns, None)):
        number, orders = turn
        follow(learner, work, Feed(batch, targets, orders, problem.pace, learner.streams), run_all)
        if not (passes.watched or passes.tol > 0):
            continue
        with work.whole():
            if problem.pace.updates - first >= number * n_rows:
                report(number, problem)
            if not (passes.tol > 0 and learner.may_stop(problem.state)):
                continue
            weights, _ = learner.weights(problem.state, work.vocabulary)
        if unchanged(before, weights, passes.tol):
            break
        before = weights


def unchanged(before: np.ndarray, after: np.ndarray, tol: float) -> bool:
    """Return whether no weight changed by more than a share ``tol`` of the largest.

    Where all are zero they may be on their way still: penalties hold small sums back for long.
    """
    largest = np.abs(after).max(initial=0)
    return bool(largest > 0 and np.abs(after - before).max() <= tol * largest)
