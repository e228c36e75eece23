"""What the training loop knows of a learner, and of its state."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar

import numpy as np

from thresher.losses import Loss
from thresher.online.arrays import Arrays
from thresher.online.passes import Updates
from thresher.online.steps import Steps
from thresher.rows import Rows
from thresher.threads import Threads
from thresher.validation import Parameters

if TYPE_CHECKING:
    from thresher.online.paths import PathState

ENDLESS = 1 << 60
HEAVY = 1e6  # times that a row counts, from which on its weight may be what overflows
SHORTER = {"eta0": "lower", "alpha": "lower", "gamma": "raise"}  # ways to shorter steps


class Overflow(ArithmeticError):
    """The numbers of a model became too large to be represented, at row ``row`` of those given.

    The row is -1 where only the last update made them so.
    """

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row

    def explained(
        self,
        parameters: Mapping[str, Any],
        numbers: Sequence[int] | np.ndarray,
        importance: np.ndarray,
        where: str = "",
    ) -> ValueError:
        """Return an error with what may help; users know the rows by these numbers."""
        row, heaviest = int(numbers[self.row]), float(importance.max())
        heavy = [f"lower the weights of rows or classes (one is {heaviest:.3g})"]
        lengths = [name for name in SHORTER if isinstance(parameters.get(name), int | float)]
        helps = [
            *(heavy if heaviest >= HEAVY else []),
            *(f"{SHORTER[name]} {name}" for name in lengths),
            "multiply X by a number that brings its values nearer to 1",
        ]
        advice = f"{', '.join(helps)}, or bring its columns to similar scales (MaxAbsScaler)."
        return ValueError(
            f"The numbers overflowed while learning row {row:,}{where}. "
            f"{advice[0].upper()}{advice[1:]}"
        )


# All that a learner changes: numbers by slot that grow, and can be put back.
State: TypeAlias = "Arrays | PathState"
S = TypeVar("S", bound="Arrays | PathState")


@dataclass(frozen=True)
class Online(ABC, Generic[S]):
    """One algorithm: its settings are its fields; everything that changes is in the state.

    The loop asks for ``room``, gives no more than so many updates to ``advance``, and calls
    ``close`` once there is no room left, until the learner is ``finished``. A learner without
    stages inherits what concerns them.
    """

    loss: int  # its code
    steps: Steps

    parameters: ClassVar[Parameters] = ()

    @property
    def n_orders(self) -> int:
        """Return how many orders of rows at hand it reads at once: one, or one for every path."""
        return 1

    @abstractmethod
    def start(self, n_columns: int) -> S:
        """Return the state before the first row."""

    def room(self, state: S) -> int:
        """Return how many more updates it can take before it has to close a stage."""
        return ENDLESS

    @abstractmethod
    def advance(self, state: S, rows: Rows, updates: list[Updates], threads: Threads) -> None:
        """Learn from the rows in turn, for which there must be room, or raise an Overflow.

        ``updates`` has an entry for every order.
        """

    def close(self, state: S) -> None:
        """Do what is due at the end of a stage."""

    def active(self, state: S) -> np.ndarray | None:
        """Return the slots that can still have a weight; None if all can."""
        return None

    def finished(self, state: S) -> bool:
        """Return whether nothing is left to learn."""
        return False

    def settles(self, state: S) -> bool:
        """Return whether weights that no longer change may end the training."""
        return True

    @abstractmethod
    def weights(self, state: S) -> tuple[np.ndarray, np.ndarray | float]:
        """Return the weights by slot, all shrinkage paid, and the weight of the constant input.

        Both have a first axis of outputs where there are several.
        """


@dataclass(frozen=True)
class RowLearner(Online[Arrays]):
    """A learner without stages: an update for a row, and a way to read weights."""

    by_slot: ClassVar[dict[str, type]]  # arrays with an entry per slot
    whole: ClassVar[dict[str, type]]  # single numbers, kept as arrays of one for kernels to change

    @classmethod
    @abstractmethod
    def of(cls, loss: Loss, fit_intercept: bool, values: Mapping[str, Any]) -> Self:
        """Return the learner that a user's parameters describe."""

    def start(self, n_columns: int) -> Arrays:
        """Return the state before the first row."""
        return Arrays(
            {name: np.zeros(0, kind) for name, kind in self.by_slot.items()},
            {name: np.zeros(1, kind) for name, kind in self.whole.items()},
        )

    def advance(self, state: Arrays, rows: Rows, updates: list[Updates], threads: Threads) -> None:
        """Learn from the rows in turn, all of them, or raise an Overflow."""
        learned = self.learn(state, rows, updates[0])
        if learned < updates[0].order.size:
            raise Overflow(int(updates[0].order[learned]))

    @abstractmethod
    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learned before an overflow."""
