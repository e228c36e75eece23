"""The rows and the state a learner works on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.leaving import much_smaller
from thresher.kernels.masks import places_of, sum_of
from thresher.kernels.rows import Rows
from thresher.kernels.slots import keep_slots, slot_counts
from thresher.learners.paths import Paths
from thresher.train.shedding import shed_in_place
from thresher.workers import Workers


class Work:
    """Rows and state as they came."""

    def __init__(self, rows: Rows, state: Any, vocabulary: Vocabulary) -> None:
        self.rows = rows
        self.state = state
        self.vocabulary = vocabulary

    def shed(self, run_all: Workers) -> None:
        """Throw out what is no longer in play, if there is such a thing."""

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Let the state be looked at with everything in its place."""
        yield

    def finish(self, run_all: Workers) -> None:
        """Bring everything back to its place for good."""


class SheddingWork(Work):
    """Rows and paths that lose their purged features, so that later passes cost a fraction.

    Rows that are ``lent`` belong to others as well: they are copied before anything is lost.
    """

    def __init__(self, rows: Rows, paths: Paths, vocabulary: Vocabulary, lent: bool = True) -> None:
        super().__init__(rows, paths, vocabulary)
        self.lent = lent
        self.counts = slot_counts(rows.slots, paths.n_slots)

    def shed(self, run_all: Workers) -> None:
        """Throw purged features out of rows and state where that makes them much smaller."""
        stable = self.state.stable
        if much_smaller(self.counts, stable, self.rows.slots.size):
            self._shed(stable, run_all)

    def _shed(self, stable: np.ndarray, run_all: Workers) -> None:
        """Let rows and state have the slots of a mask only; the two have nothing in common."""
        places, steps = places_of(stable), self.state.leaving(stable)
        if self.lent:
            self.rows = run_all(lambda step: step(), [lambda: self.rows_with(stable), *steps])[0]
            self.lent = False
        else:
            self.rows = shed_in_place(self.rows, places, steps, run_all)
        self.counts = self.counts[stable]

    def rows_with(self, keep: np.ndarray) -> Rows:
        """Return a copy of the rows with the slots of a mask only, renumbered."""
        (starts, slots, values), n = self.rows, sum_of(self.counts, keep)
        # with one place more, for the kernel writes before it counts
        room = Rows(
            np.empty_like(starts), np.empty(n + 1, slots.dtype), np.empty(n + 1, values.dtype)
        )
        room.starts[-1] = keep_slots(*self.rows, places_of(keep), 0, starts.size - 1, room)
        return Rows(room.starts, room.slots[:n], room.values[:n])

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Let the state be looked at with everything in its place."""
        members = self.state.members
        self.state.spread()
        yield
        if members is not None:
            stable = np.zeros(self.state.n_slots, np.bool_)
            stable[members] = True
            self.state.keep(stable)

    def finish(self, run_all: Workers) -> None:
        """Bring the state back to its place for good."""
        run_all(lambda step: step(), self.state.returning())
