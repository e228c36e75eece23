"""Features of a source that is learnt in chunks come back, where some of its rows insist on it.

Rows that are all at hand are asked again what each feature says beside the few that are left. Of
those that do not fit into memory some do: what thousands of rows insist on, the others will hardly
deny. The refit that follows is that of all rows, or of those that are yet to come.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from thresher.data.given_rows import GivenRows
from thresher.data.vocabulary import Vocabulary
from thresher.learners.protocol import Learner
from thresher.learners.thresher import Thresher
from thresher.train.exchange import MOST_FEATURES, exchanged, insisting
from thresher.train.problem import Problem
from thresher.train.settling import lesson_of


class Sample(NamedTuple):
    """Some rows as they are learnt, with the targets of every problem."""

    rows: sparse.csr_array
    targets: list[np.ndarray]
    importance: np.ndarray


# Brings back some of the rows that have been learnt so far, which are so many.
Recall = Callable[[int], Sample | None]


def selecting(learner: Learner, problems: list[Problem]) -> list[int]:
    """Return the numbers of the problems whose features are still being selected."""
    if not isinstance(learner, Thresher) or not learner.exchanges:
        return []
    timetable = learner.timetable
    return [k for k, one in enumerate(problems) if timetable.selects(one.state.stage.number)]


def look_again(
    learner: Learner,
    problems: list[Problem],
    before: list[int],
    vocabulary: Vocabulary,
    recall: Recall,
    check: Callable[[], None],
) -> None:
    """Exchange features of the problems that were selecting ``before`` and have just done so."""
    if not isinstance(learner, Thresher):
        return
    due = [number for number in before if learner.has_selected(problems[number].state)]
    wanted = learner.judge.wanted(vocabulary)
    if not due or not 0 < wanted <= min(MOST_FEATURES, len(vocabulary) - 1):
        return
    sample = recall(problems[due[0]].state.stage.new_rows)
    if sample is None:
        return
    given = GivenRows(sample.rows, vocabulary, learner.dtype)
    for number in due:
        _exchange(learner, problems[number], given, sample, number, check)


def _exchange(
    learner: Thresher,
    problem: Problem,
    given: GivenRows,
    sample: Sample,
    number: int,
    check: Callable[[], None],
) -> None:
    """Let the features stay that a sample insists on; those that a stream has just brought do."""
    paths, pace, n_slots = problem.state, problem.pace, problem.state.n_slots
    chosen = learner.leaders(paths, given.vocabulary, learner.judge.wanted(given.vocabulary))
    slots = np.flatnonzero(chosen)
    start = learner.selected(paths, pace)[np.append(chosen[paths.stable], True)]
    lesson = lesson_of(learner, sample.importance, pace.mean_norm, sample.targets[number])
    open_to, terms = np.ones(n_slots, np.bool_), insisting(n_slots)
    kept, here, _ = exchanged(given, lesson, slots, start, open_to, terms, check)
    gone, back = np.setdiff1d(slots, kept), np.setdiff1d(kept, slots)
    if back.size:
        learner.exchange(paths, given.vocabulary, gone, back)
        learner.show(paths, pace, kept, here.weights)
