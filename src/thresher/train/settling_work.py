"""Rows and paths that exchange features, or settle weights, once they have selected."""

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.kernels.losses import LOG_LOSS
from thresher.kernels.rows import Rows
from thresher.kernels.slots import slot_counts
from thresher.learners.alone import ask
from thresher.learners.paths import Paths
from thresher.learners.protocol import Learner
from thresher.learners.stabilized import StabilizedTruncatedSGD
from thresher.learners.thresher import Thresher
from thresher.train.exchange import MOST_FEATURES, exchanged
from thresher.train.feed import Batch
from thresher.train.likeliest import insisted_on
from thresher.train.problem import Problem
from thresher.train.self_led import SelfLedWork
from thresher.train.settling import Lesson, best_of, lesson_of
from thresher.train.work import SheddingWork, Work
from thresher.workers import Workers


def work_on(
    learner: Learner,
    problem: Problem,
    given: GivenRows,
    batch: Batch,
    targets: np.ndarray,
    lent: bool,
) -> Work:
    """Return rows and state as what the learner does with them needs it.

    The batch's rows were made of those ``given``; where they are ``lent`` they stay as they are.
    """
    if not isinstance(problem.state, Paths):
        return Work(batch.rows, problem.state, given.vocabulary)
    if isinstance(learner, Thresher):
        lesson = lesson_of(learner, batch, targets)
        return SettlingWork(batch.rows, problem, lent, learner, given, lesson)
    if isinstance(learner, StabilizedTruncatedSGD) and learner.leads_itself:
        return SelfLedWork(batch.rows, problem.state, given.vocabulary, lent, learner)
    return SheddingWork(batch.rows, problem.state, given.vocabulary, lent)


class SettlingWork(SheddingWork):
    """Sheds what is purged; between selection and refit, what went may come back.

    ``given`` are the rows with all that they had. The best weights of numbers are found at once:
    steps that whole rows bear are short for a few of their features. Those of classes are refitted,
    and go on to the likeliest if the rows insist on it.
    """

    def __init__(
        self,
        rows: Rows,
        problem: Problem,
        lent: bool,
        learner: Thresher,
        given: GivenRows,
        lesson: Lesson,
    ) -> None:
        super().__init__(rows, problem.state, given.vocabulary, lent)
        self.learner, self.pace, self.given, self.lesson = learner, problem.pace, given, lesson
        self.open_to = problem.state.stable  # what earlier fits have purged stays so
        self.due = True

    def shed(self, run_all: Workers) -> None:
        """Exchange features where it is due, and throw out what is no longer in play."""
        if self.due and self.learner.has_selected(self.state):
            self.due = False
            if self.learner.exchanges:
                self._exchange(run_all)
            if self.lesson.of_numbers:
                self._settle()
        super().shed(run_all)

    def _exchange(self, run_all: Workers) -> None:
        slots, most = self._slots(), int(np.count_nonzero(self.open_to)) - 1
        if not 0 < slots.size <= min(MOST_FEATURES, most):
            return
        start = self.learner.selected(self.state, self.pace)
        kept = exchanged(self.given, self.lesson, slots, start, self.open_to, run_all.check)
        if np.array_equal(kept, slots):
            return
        self.state.spread()
        gone, back = np.setdiff1d(slots, kept), np.setdiff1d(kept, slots)
        self.learner.exchange(self.state, self.vocabulary, gone, back)
        self.state.keep(self.state.stable)
        self.rows, self.lent = self.given.with_slots(kept), False
        self.counts = slot_counts(self.rows.slots, kept.size)

    def _settle(self) -> None:
        """Let the best weights of what is left be the model; it is refitted if there are none."""
        start = self.learner.selected(self.state, self.pace)
        weights = best_of(self.lesson, self._rows_left(), start, exactly=True)
        if weights is not None:
            self.learner.settle(self.state, self.pace, weights)

    def finish(self, run_all: Workers) -> None:
        """Let weights that rows insist on be the model, and bring everything back to its place."""
        refitted = not self.due and self.learner.finished(self.state)
        if refitted and self.learner.settles and self.lesson.loss == LOG_LOSS:
            self._settle_chances(run_all)
        super().finish(run_all)
        ask(self.state, self.given, self.lesson.targets, self.lesson.importance)

    def _settle_chances(self, run_all: Workers) -> None:
        weights, bias = self.learner.weights(self.state, self.vocabulary)
        constant = self.learner.refitting.constant(self.pace)
        start = np.append(weights[self.state.stable], bias * constant)
        likeliest = insisted_on(self.lesson, self._rows_left(), start, run_all.check)
        if likeliest is not None:
            self.learner.settle(self.state, self.pace, likeliest)

    def _rows_left(self) -> Rows:
        """Return the rows with the features that are left and no others."""
        return self.rows if self.state.stable.all() else self.given.with_slots(self._slots())

    def _slots(self) -> np.ndarray:
        """Return the vocabulary's slots of the features that are left."""
        return self.state.slots(np.flatnonzero(self.state.stable))
