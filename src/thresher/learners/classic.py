"""What the classic online learners share: one weight vector, one row after another."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thresher.data.growth import Arrays
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.rows import Rows, Updates
from thresher.learners.pace import Schedule
from thresher.learners.protocol import ENDLESS, Overflow
from thresher.workers import Workers

Kinds = dict[str, type]


@dataclass(frozen=True)
class ClassicLearner(ABC):
    """A learner that never has to stop and think: it is a row update and a way to read weights."""

    pace: Schedule
    loss: int

    by_slot: ClassVar[Kinds]  # arrays with an entry per feature
    whole: ClassVar[Kinds]  # single numbers, kept as arrays of one so that kernels can change them
    dtype: ClassVar[np.dtype] = np.dtype(np.float64)
    n_orders: ClassVar[int] = 1
    streams: ClassVar[bool] = True
    rehearses: ClassVar[bool] = False

    @abstractmethod
    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learnt before an overflow."""

    @abstractmethod
    def settled(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the weights by slot, all shrinkage paid, and the constant input's weight."""

    def rehearsals(self, first: int, n_rows: int) -> np.ndarray:
        """Return how many rows are learnt again: none."""
        return np.zeros(n_rows, np.int64)

    def rehearsed(self, rows: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return which row is learnt again: the same, if any were."""
        return rows

    def start(self) -> Arrays:
        """Return the state before the first row."""
        return Arrays(
            {name: np.zeros(0, kind) for name, kind in self.by_slot.items()},
            {name: np.zeros(1, kind) for name, kind in self.whole.items()},
        )

    def resume(self, state: Arrays) -> None:
        """Go on as if there had been no pause."""
        return

    def schedule(self, state: Arrays) -> Schedule:
        """Return how long steps are."""
        return self.pace

    def room(self, state: Arrays) -> int:
        """Return how many more updates it can take: as many as there are."""
        return ENDLESS

    def calm(self, state: Arrays) -> int:
        """Return how many more updates change only the features of their own rows: all."""
        return ENDLESS

    def repeat(self, state: Arrays, count: int) -> None:
        """Do nothing: an update is an update."""
        return

    def hear(self, state: Arrays, rows: Rows, targets: np.ndarray, importance: np.ndarray) -> None:
        """Do nothing: what rows say is in the weights."""
        return

    def advance(
        self,
        state: Arrays,
        vocabulary: Vocabulary,
        rows: Rows,
        updates: list[Updates],
        run_all: Workers,
    ) -> None:
        """Learn from the rows in turn, all of them, or raise an Overflow."""
        learnt = self.learn(state, rows, updates[0])
        if learnt < updates[0].order.size:
            raise Overflow(int(updates[0].order[learnt]))

    def meet(self, state: Arrays, vocabulary: Vocabulary) -> None:
        """Do nothing: there is always room."""
        return

    def finished(self, state: Arrays) -> bool:
        """Return whether there is nothing more to learn: never."""
        return False

    def may_stop(self, state: Arrays) -> bool:
        """Return whether weights that no longer change may end the training."""
        return True

    def weights(self, state: Arrays, vocabulary: Vocabulary) -> tuple[np.ndarray, float]:
        """Return the model by slot, and the constant input's weight."""
        weights, bias = self.settled(state)
        return weights[: len(vocabulary)], bias
