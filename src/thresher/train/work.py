"""The rows and the state a learner works on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.masks import places_of, sum_of
from thresher.kernels.rows import Rows
from thresher.kernels.slots import keep_slots, slot_counts
from thresher.learners.paths import Paths
from thresher.workers import Workers

# Purged features are thrown out of the rows once that makes them this much smaller.
NONZEROS_LEFT, FEATURES_LEFT = 0.9, 0.5


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

    def finish(self) -> None:
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
        if stable.all():
            return
        few = np.count_nonzero(stable) < FEATURES_LEFT * stable.size
        if few or sum_of(self.counts, stable) < NONZEROS_LEFT * self.rows.slots.size:
            # rows and paths have nothing in common
            run_all(lambda shed: shed(stable), (self._shed_rows, self.state.keep))

    def _shed_rows(self, stable: np.ndarray) -> None:
        self.rows = self.rows_with(stable, self.lent)
        self.lent = False
        self.counts = self.counts[stable]

    def rows_with(self, keep: np.ndarray, apart: bool) -> Rows:
        """Return the rows with the slots of a mask only, renumbered; in the same place or apart."""
        room, n = self.rows, sum_of(self.counts, keep)
        if apart:  # with one place more, for the kernel writes before it counts
            starts, slots, values = self.rows
            room = Rows(
                np.empty_like(starts), np.empty(n + 1, slots.dtype), np.empty(n + 1, values.dtype)
            )
        keep_slots(*self.rows, places_of(keep), *room)
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

    def finish(self) -> None:
        """Bring the state back to its place for good."""
        self.state.spread()
