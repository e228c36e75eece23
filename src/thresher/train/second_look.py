"""Features of a source that is learnt in chunks come back, where some of its rows insist on it.

Rows that are all at hand are asked again what each feature says beside the few that are left. Of
those that do not fit into memory some do: what thousands of rows insist on, the others will hardly
deny. The refit that follows is that of all rows, or of those that are yet to come.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
    """Some rows with the targets of every problem, and how much each counts."""

    rows: sparse.csr_array
    targets: list[np.ndarray]
    importance: np.ndarray

    def only(self, taken: np.ndarray) -> "Sample":
        """Return some of the rows."""
        targets = [mine[taken] for mine in self.targets]
        return Sample(self.rows[taken], targets, self.importance[taken])


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
    if isinstance(learner, Thresher):
        due = [number for number in before if learner.has_selected(problems[number].state)]
        look = _Look(learner, vocabulary, check)
        for problem, slots, kept, weights in look.changes(problems, due, recall):
            learner.exchange(problem.state, vocabulary, slots, kept)
            learner.show(problem.state, problem.pace, kept, weights)


def look_at_the_end(
    learner: Learner,
    problems: list[Problem],
    vocabulary: Vocabulary,
    recall: Recall,
    check: Callable[[], None],
) -> None:
    """Show other features of a stream that has ended amid its selection, where rows insist.

    They are the model, but nothing is purged for them, and nothing comes back: more rows may come.
    """
    if isinstance(learner, Thresher):
        look, still = _Look(learner, vocabulary, check, purged=False), selecting(learner, problems)
        due = [number for number in still if learner.shows_fitted(problems[number].state)]
        for problem, slots, kept, weights in look.changes(problems, due, recall):
            learner.judge.level(problem.state, vocabulary, slots, kept)
            learner.show(problem.state, problem.pace, kept, weights)


class Change(NamedTuple):
    """A problem's features by slot as they are, and as they should be, with the best weights."""

    problem: Problem
    slots: np.ndarray
    kept: np.ndarray
    weights: np.ndarray  # of those kept, and the intercept last


@dataclass(frozen=True)
class _Look:
    """A look at rows that were learnt, for what they make of the features that lead.

    It is open to all others, ``purged`` or not.
    """

    learner: Thresher
    vocabulary: Vocabulary
    check: Callable[[], None]
    purged: bool = True

    def changes(self, problems: list[Problem], due: list[int], recall: Recall) -> Iterator[Change]:
        """Give what should change about the problems of some numbers."""
        wanted = self.learner.judge.wanted(self.vocabulary)
        if not due or not 0 < wanted <= min(MOST_FEATURES, len(self.vocabulary) - 1):
            return
        sample = recall(problems[due[0]].state.stage.new_rows)
        if sample is None:
            return
        given = GivenRows(sample.rows, self.vocabulary, self.learner.dtype)
        for number in due:
            problem = problems[number]
            slots, start = self._leading(problem, wanted)
            known = sample.importance, problem.pace.mean_norm, sample.targets[number]
            lesson, open_to = lesson_of(self.learner, *known), self._open_to(problem)
            terms = insisting(int(np.count_nonzero(open_to)))
            kept, here, _ = exchanged(given, lesson, slots, start, open_to, terms, self.check)
            if not np.array_equal(kept, slots):
                yield Change(problem, slots, kept, here.weights)

    def _open_to(self, problem: Problem) -> np.ndarray:
        """Return the mask of the slots whose features may lead."""
        stable: np.ndarray = problem.state.stable
        return np.ones_like(stable) if self.purged else stable

    def _leading(self, problem: Problem, wanted: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the slots of the features that lead, and their weights, the intercept last.

        A stream has others beside them, which have only just appeared.
        """
        paths = problem.state
        leading = self.learner.leaders(paths, self.vocabulary, wanted)
        weights = self.learner.selected(paths, problem.pace)
        return np.flatnonzero(leading), weights[np.append(leading[paths.stable], True)]
