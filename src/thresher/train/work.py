"""The rows and the state a learner works on."""

from typing import Any

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.rows import Rows
from thresher.kernels.slots import keep_slots
from thresher.learners.paths import Paths

# Purged features are thrown out of the rows once that makes them this much smaller.
NONZEROS_LEFT, FEATURES_LEFT = 0.9, 0.5


class Work:
    """Rows and state as they came."""

    def __init__(self, rows: Rows, state: Any, vocabulary: Vocabulary) -> None:
        self.rows = rows
        self.state = state
        self.vocabulary = vocabulary

    def shed(self) -> None:
        """Throw out what is no longer in play, if there is such a thing."""

    def finish(self) -> None:
        """Bring everything back to where it came from."""


class SheddingWork(Work):
    """Rows and paths that lose their purged features, so that later passes cost a fraction."""

    def __init__(self, rows: Rows, paths: Paths, vocabulary: Vocabulary) -> None:
        super().__init__(rows, paths, vocabulary)
        self.everything = paths  # what is left of it is the state, a copy from the first loss on
        self.members = np.arange(paths.n_slots)
        self.counts = np.bincount(rows.slots, minlength=paths.n_slots)

    def shed(self) -> None:
        """Throw purged features out of rows and state where that makes them much smaller."""
        stable = self.state.stable
        if stable.all():
            return
        few = np.count_nonzero(stable) < FEATURES_LEFT * stable.size
        if few or self.counts[stable].sum() < NONZEROS_LEFT * self.rows.slots.size:
            if self.state is not self.everything:
                gone = np.flatnonzero(~stable)
                self.everything.put(self.members[gone], self.state.take(gone))
            places = np.where(stable, np.cumsum(stable) - 1, -1)
            self.rows = Rows(*keep_slots(*self.rows, places))
            self.members, self.counts = self.members[stable], self.counts[stable]
            self.state = self.state.take(np.flatnonzero(stable))

    def finish(self) -> None:
        """Write the state of the features in play back among all."""
        if self.state is not self.everything:
            self.everything.put(self.members, self.state)
