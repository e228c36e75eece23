"""Rows and paths that exchange features, or settle weights, once they have selected."""

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.kernels.losses import LOG_LOSS
from thresher.kernels.rows import Rows
from thresher.kernels.slots import slot_counts
from thresher.learners.alone import ask, few_speak, note
from thresher.learners.paths import Paths
from thresher.learners.protocol import Learner
from thresher.learners.stabilized import StabilizedTruncatedSGD
from thresher.learners.thresher import Thresher
from thresher.train.exchange import (
    MOST_FEATURES,
    MOST_WEIGHED,
    Exchanged,
    Terms,
    exchanged,
    freely,
    insisting,
    said_inside,
)
from thresher.train.feed import Batch
from thresher.train.likeliest import insisted_on
from thresher.train.problem import Problem
from thresher.train.self_led import SelfLedWork
from thresher.train.settling import (
    Lesson,
    Table,
    best_of,
    lesson_of,
    of_usual_effects,
)
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
        lesson = lesson_of(learner, batch.importance, batch.mean_norm, targets)
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
        self.standing: np.ndarray | None = None  # of all slots, once they have been weighed
        self.heard = ask(given, lesson.targets, lesson.importance)
        self.state.stage.few_speak = self._may_weigh() and few_speak(self.heard, self.vocabulary)

    def shed(self, run_all: Workers) -> None:
        """Exchange features where it is due, and throw out what is no longer in play."""
        if self.due and self.learner.has_selected(self.state):
            self.due = False
            if self.state.stage.few_speak:
                self._weigh(run_all)
            elif self.learner.exchanges:
                self._exchange(run_all)
            if self.lesson.of_numbers:
                self._settle()
        super().shed(run_all)

    def _may_weigh(self) -> bool:
        """Return whether features are to be weighed against each other if only few speak."""
        learner, timetable = self.learner, self.learner.timetable
        refits = timetable.last_stage > timetable.n_stages
        if not (learner.exchanges and learner.weighs and refits and self.lesson.loss == LOG_LOSS):
            return False
        return self._may_exchange(learner.judge.wanted(self.vocabulary), MOST_WEIGHED)

    def _may_exchange(self, n_kept: int, most: int) -> bool:
        """Return whether some are left, but not too many, and others that could come for them."""
        return 0 < n_kept <= min(most, int(np.count_nonzero(self.open_to)) - 1)

    def _exchange(self, run_all: Workers) -> None:
        """Let features come back that rows insist on."""
        slots = self._slots()
        if not self._may_exchange(slots.size, MOST_FEATURES):
            return
        terms = insisting(int(np.count_nonzero(self.open_to)))
        kept = self._exchanged(self.lesson, slots, terms, run_all).slots
        if not np.array_equal(kept, slots):
            self._have(kept, slots, self.given.with_slots(kept))

    def _weigh(self, run_all: Workers) -> None:
        """Let the features be left whose best weights lower the loss most; all stand by that."""
        slots, lesson = self._slots(), of_usual_effects(self.lesson, self.vocabulary)
        kept, here, said = self._exchanged(lesson, slots, freely(slots.size), run_all)
        rows = self.given.with_slots(kept)
        said[kept] = said_inside(Table(lesson.of_slots(kept), rows), here)
        if np.isfinite(said).all():
            self.standing = np.sqrt(said)
            self._have(kept, slots, rows)

    def _exchanged(
        self, lesson: Lesson, slots: np.ndarray, terms: Terms, run_all: Workers
    ) -> Exchanged:
        start = self.learner.selected(self.state, self.pace)
        return exchanged(self.given, lesson, slots, start, self.open_to, terms, run_all.check)

    def _have(self, kept: np.ndarray, slots: np.ndarray, rows: Rows) -> None:
        """Go on with some slots, and rows of them, instead of those that were left."""
        self.state.spread()
        self.learner.exchange(self.state, self.vocabulary, slots, kept)
        self.state.keep(self.state.stable)
        self.rows, self.lent = rows, False
        self.counts = slot_counts(rows.slots, kept.size)

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
        note(self.state, self.heard)
        if self.standing is not None:
            self.learner.stand(self.state, self.standing)
        self.state.stage.few_speak = self.standing is not None

    def _settle_chances(self, run_all: Workers) -> None:
        start = self.learner.shown(self.state, self.pace, self.vocabulary)
        rows, weighed = self._rows_left(), self.state.stage.few_speak
        likeliest = insisted_on(self.lesson, rows, start, run_all.check, weighed)
        if likeliest is not None:
            self.learner.settle(self.state, self.pace, likeliest.weights)
            self.state.stage.held_back = likeliest.held_back

    def _rows_left(self) -> Rows:
        """Return the rows with the features that are left and no others."""
        return self.rows if self.state.stable.all() else self.given.with_slots(self._slots())

    def _slots(self) -> np.ndarray:
        """Return the vocabulary's slots of the features that are left."""
        return self.state.slots(np.flatnonzero(self.state.stable))
