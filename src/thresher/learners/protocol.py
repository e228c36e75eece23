"""What the training loop knows of a learner, and of its state."""

from typing import Any, Protocol, TypeVar

import numpy as np

from thresher.data.growth import Restore
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.rows import Rows, Updates
from thresher.learners.pace import Schedule
from thresher.workers import Workers

ENDLESS = 1 << 60


class Overflow(ArithmeticError):
    """The numbers of a model grew beyond what can be represented, at row ``row`` of the batch."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


class State(Protocol):
    """Numbers by slot that grow with the vocabulary and can be brought back."""

    def grow(self, n_slots: int) -> None:
        """Make room for the features that have appeared."""
        ...

    def finite(self, slots: np.ndarray) -> bool:
        """Return whether all numbers of the given slots, and of none in particular, are finite."""
        ...

    def savepoint(self, slots: np.ndarray | None) -> Restore:
        """Return what brings the state back if only the given slots change; None means any."""
        ...

    def tree(self) -> dict[str, Any]:
        """Return all of it as a tree of plain values (see ``thresher.files.tree``)."""
        ...

    def from_tree(self, tree: dict[str, Any]) -> "State":
        """Return the state that gave a tree; it must be of the same kind as this one."""
        ...


S = TypeVar("S", bound=State)


class Learner(Protocol[S]):
    """One algorithm: its settings are its fields; everything that changes is in the state."""

    @property
    def loss(self) -> int:
        """Return the code of the loss that it makes small."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """Return the type that the rows' values are to have."""
        ...

    @property
    def n_orders(self) -> int:
        """Return how many orders of the rows it reads at once: one, or one for every path."""
        ...

    @property
    def streams(self) -> bool:
        """Return whether all it knows of the rows is what has come so far."""
        ...

    @property
    def rehearses(self) -> bool:
        """Return whether the first rows of a stream are learnt again."""
        ...

    def rehearsals(self, first: int, n_rows: int) -> np.ndarray:
        """Return how many rows are learnt again after each of a stream's from ``first`` on."""
        ...

    def rehearsed(self, rows: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return which row is learnt again, after given rows, as their first, second, ... one."""
        ...

    def start(self) -> S:
        """Return the state before the first row."""
        ...

    def resume(self, state: S) -> None:
        """Make a state that has been trained ready for more passes (a warm start)."""
        ...

    def schedule(self, state: S) -> Schedule:
        """Return how long steps are now."""
        ...

    def room(self, state: S) -> int:
        """Return how many more updates it can take before it has to meet."""
        ...

    def calm(self, state: S) -> int:
        """Return how many more updates change only the features of their own rows."""
        ...

    def repeat(self, state: S, count: int) -> None:
        """Know that so many of the updates that come are no new rows."""
        ...

    def hear(self, state: S, rows: Rows, targets: np.ndarray, importance: np.ndarray) -> None:
        """Take down what new rows of a stream say, which are about to be learnt."""
        ...

    def advance(
        self,
        state: S,
        vocabulary: Vocabulary,
        rows: Rows,
        updates: list[Updates],
        run_all: Workers,
    ) -> None:
        """Learn from the rows in turn, which there must be room for, or raise an Overflow."""
        ...

    def meet(self, state: S, vocabulary: Vocabulary) -> None:
        """Do what is due once there is no room left."""
        ...

    def finished(self, state: S) -> bool:
        """Return whether there is nothing more to learn."""
        ...

    def may_stop(self, state: S) -> bool:
        """Return whether weights that no longer change may end the training."""
        ...

    def weights(self, state: S, vocabulary: Vocabulary) -> tuple[np.ndarray, float]:
        """Return the model by slot, and the constant input's weight."""
        ...
