"""Rows and paths that exchange features once they have selected."""

from typing import Any

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.kernels.rows import Rows
from thresher.kernels.slots import slot_counts
from thresher.learners.paths import Paths
from thresher.learners.protocol import Learner
from thresher.learners.thresher import Thresher
from thresher.train.exchange import MOST_FEATURES, exchanged
from thresher.train.feed import Batch
from thresher.train.settling import Lesson, lesson_of
from thresher.train.work import SheddingWork, Work
from thresher.workers import Workers


def work_on(
    learner: Learner, state: Any, given: GivenRows, batch: Batch, targets: np.ndarray, lent: bool
) -> Work:
    """Return rows and state as what the learner does with them needs it.

    The batch's rows were made of those ``given``; where they are ``lent`` they stay as they are.
    """
    if not isinstance(state, Paths):
        return Work(batch.rows, state, given.vocabulary)
    if isinstance(learner, Thresher) and learner.exchanges:
        lesson = lesson_of(learner, batch, targets)
        return ExchangingWork(batch.rows, state, lent, learner, given, lesson)
    return SheddingWork(batch.rows, state, given.vocabulary, lent)


class ExchangingWork(SheddingWork):
    """Sheds what is purged; between selection and refit, what went may come back.

    ``given`` are the rows with all that they had.
    """

    def __init__(
        self,
        rows: Rows,
        paths: Paths,
        lent: bool,
        learner: Thresher,
        given: GivenRows,
        lesson: Lesson,
    ) -> None:
        super().__init__(rows, paths, given.vocabulary, lent)
        self.learner, self.given, self.lesson = learner, given, lesson
        self.open_to = paths.stable  # what earlier fits have purged stays so
        self.due = True

    def shed(self, run_all: Workers) -> None:
        """Exchange features where it is due, and throw out what is no longer in play."""
        if self.due and self.learner.has_selected(self.state):
            self.due = False
            self._exchange(run_all)
        super().shed(run_all)

    def _exchange(self, run_all: Workers) -> None:
        slots = self.state.slots(np.flatnonzero(self.state.stable))
        if not 0 < slots.size <= min(MOST_FEATURES, np.count_nonzero(self.open_to) - 1):
            return
        start = self.lesson.start(*self.learner.selected(self.state))
        kept = exchanged(self.given, self.lesson, slots, start, self.open_to, run_all.check)
        if np.array_equal(kept, slots):
            return
        self.state.spread()
        gone, back = np.setdiff1d(slots, kept), np.setdiff1d(kept, slots)
        self.learner.exchange(self.state, self.vocabulary, gone, back)
        self.state.keep(self.state.stable)
        self.rows, self.lent = self.given.with_slots(kept), False
        self.counts = slot_counts(self.rows.slots, kept.size)
