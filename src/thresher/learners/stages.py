"""What the learners of several paths share: stages, bursts, and who takes part in them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.rows import Rows, Updates
from thresher.learners.paths import Paths
from thresher.learners.protocol import Overflow
from thresher.learners.stage import Stage
from thresher.learners.unit import PathUnit
from thresher.randomness import burst_weights, earlier
from thresher.workers import Workers

# A path on a shared stream takes part in four bursts of five.
KEEP = 0.8

# Where a stream begins, each of its first rows is followed by some of those before it.
REHEARSALS, FEW = 9, 150

RunUnit = Callable[[int], int]


@dataclass(frozen=True)
class StageLearner(ABC):
    """A learner whose paths go their own ways in bursts, and meet at the ends of stages."""

    loss: int
    n_paths: int
    shared: bool
    seed: int
    rejection_rate: float

    rehearses: bool = field(default=False, kw_only=True)

    means: ClassVar[tuple[str, ...]] = ()  # over stages, that it keeps
    few: ClassVar[tuple[str, ...]] = ()  # of them, those of few features

    @property
    @abstractmethod
    def most_lanes(self) -> int:
        """Return how many paths on a shared stream are carried side by side."""

    @abstractmethod
    def new_unit(self, lanes: int) -> PathUnit:
        """Return a bundle of so many paths before the first row."""

    @abstractmethod
    def first_burst(self) -> int:
        """Return the length of the first stage's bursts."""

    @abstractmethod
    def stage_bursts(self, paths: Paths) -> int:
        """Return the number of bursts in the current stage."""

    @abstractmethod
    def close_stage(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """Judge the stage, purge, and set the rules of the next."""

    @abstractmethod
    def prepare(self, paths: Paths, rows: Rows, updates: list[Updates]) -> RunUnit:
        """Return what gives the unit of a number its updates, and returns how many it learnt."""

    def probabilities(self, paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
        """Return how surely each feature is selected, by slot: the share of ends of bursts."""
        return paths.shown("probability")

    @property
    def n_orders(self) -> int:
        """Return how many orders of the rows it reads at once."""
        return 1 if self.shared else self.n_paths

    @property
    def streams(self) -> bool:
        """Return whether all it knows of the rows is what has come so far."""
        return self.shared

    def rehearsals(self, first: int, n_rows: int) -> np.ndarray:
        """Return how many rows are learnt again after each of a stream's from ``first`` on.

        At first it is always as many; then the fewer, the more rows there are.
        """
        return REHEARSALS * FEW // np.maximum(np.arange(first, first + n_rows), FEW)

    def rehearsed(self, rows: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return which row is learnt again, after given rows, as their first, second, ... one."""
        return earlier(self.seed, rows, numbers)

    def repeat(self, paths: Paths, count: int) -> None:
        """Know that so many of the updates that come are no new rows."""
        paths.stage.repeated += count

    def hear(self, paths: Paths, rows: Rows, targets: np.ndarray, importance: np.ndarray) -> None:
        """Do nothing: what rows say is counted at the ends of bursts."""
        return

    def start(self) -> Paths:
        """Return the state before the first row: no gravity, nothing known."""
        stage = Stage(self.first_burst(), rejection_rate=self.rejection_rate)
        lanes = lanes_for(self.n_paths, self.shared, self.most_lanes)
        return Paths(self.new_unit, lanes, stage, self.means, self.few)

    def resume(self, paths: Paths) -> None:
        """Go on as if there had been no pause."""
        if not self.shared:
            paths.unbundle()

    def room(self, paths: Paths) -> int:
        """Return how many updates each path makes before the stage ends."""
        return self.stage_bursts(paths) * paths.stage.burst_size - paths.stage.done

    def calm(self, paths: Paths) -> int:
        """Return how many updates come before the end of the burst, which changes others."""
        return paths.stage.burst_size - paths.stage.done % paths.stage.burst_size - 1

    def meet(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """End the stage."""
        self.close_stage(paths, vocabulary)

    def advance(
        self,
        paths: Paths,
        vocabulary: Vocabulary,
        rows: Rows,
        updates: list[Updates],
        run_all: Workers,
    ) -> None:
        """Give every path its next updates, all within the stage, or raise an Overflow."""
        mine = updates if len(updates) > 1 else updates * len(paths.units)
        count = mine[0].order.size
        for number, learnt in enumerate(self.run_units(paths, rows, mine, run_all)):
            if learnt < count:
                raise Overflow(int(mine[number].order[learnt]))
        paths.stage.done += count
        paths.stage.rows_seen += count

    def run_units(
        self, paths: Paths, rows: Rows, updates: list[Updates], run_all: Workers
    ) -> list[int]:
        """Give every unit its updates; return how many each learnt before numbers overflowed."""
        return run_all(self.prepare(paths, rows, updates), range(len(paths.units)))

    def takes(self, paths: Paths, n_updates: int) -> list[np.ndarray]:
        """Return each unit's weights for the bursts of the next updates, by burst and lane."""
        stage = paths.stage
        first = stage.done // stage.burst_size
        last = (stage.done + n_updates - 1) // stage.burst_size
        return self.takes_of(paths, stage.bursts + first, last - first + 1)

    def takes_of(self, paths: Paths, first: int, n_bursts: int) -> list[np.ndarray]:
        """Return each unit's weights for some bursts of the run, by burst and lane."""
        if not self.shared:  # a path of its own misses nothing
            return [np.ones((n_bursts, 1))] * len(paths.units)
        weights = burst_weights(self.seed, first, n_bursts, paths.n_paths, KEEP)
        if len(paths.units) == 1:
            return [weights]
        ends = accumulate(unit.lanes for unit in paths.units)
        return [
            np.ascontiguousarray(weights[:, end - unit.lanes : end])
            for unit, end in zip(paths.units, ends, strict=True)
        ]


def lanes_for(n_paths: int, shared: bool, most: int) -> list[int]:
    """Return how paths are bundled: alone with their own rows, at most so many on shared ones."""
    if not shared:
        return [1] * n_paths
    n_units = -(-n_paths // most)
    return [len(part) for part in np.array_split(np.arange(n_paths), n_units)]
