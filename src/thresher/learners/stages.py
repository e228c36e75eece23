"""What the learners of several paths share: stages, bursts, and the average over paths."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.bursts import run_bursts
from thresher.kernels.rows import Rows, Updates
from thresher.kernels.units import AVERAGE, Burst
from thresher.learners.paths import Paths, Stage, lanes_for
from thresher.learners.protocol import Overflow
from thresher.randomness import burst_weights
from thresher.workers import Workers

# A path on a shared stream takes part in four bursts of five.
KEEP = 0.8


@dataclass(frozen=True)
class StageLearner(ABC):
    """A learner whose paths go their own ways in bursts, and meet at the ends of stages."""

    loss: int
    n_paths: int
    shared: bool
    seed: int
    shrinkage: int
    rejection_rate: float

    @abstractmethod
    def first_burst(self) -> int:
        """Return the length of the first stage's bursts."""

    @abstractmethod
    def event(self, paths: Paths) -> int:
        """Return what the end of a burst is asked in the current stage."""

    @abstractmethod
    def stage_bursts(self, paths: Paths) -> int:
        """Return the number of bursts in the current stage."""

    @abstractmethod
    def close_stage(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """Judge the stage, purge, and set the rules of the next."""

    def probabilities(self, paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
        """Return how surely each feature is selected, by slot: the share of ends of bursts."""
        return paths.feature("probability")

    @property
    def n_orders(self) -> int:
        """Return how many orders of the rows it reads at once."""
        return 1 if self.shared else self.n_paths

    @property
    def streams(self) -> bool:
        """Return whether all it knows of the rows is what has come so far."""
        return self.shared

    def start(self) -> Paths:
        """Return the state before the first row: no gravity, nothing known."""
        stage = Stage(self.first_burst(), rejection_rate=self.rejection_rate)
        return Paths(lanes_for(self.n_paths, self.shared), stage)

    def resume(self, paths: Paths) -> None:
        """Go on as if there had been no pause."""
        if paths.n_paths != self.n_paths:
            raise ValueError(
                f"n_paths={self.n_paths}, but {paths.n_paths} paths have been trained, and a warm "
                "start goes on with as many. Set n_paths back, or warm_start=False."
            )
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

    def _burst(self, paths: Paths, first: int) -> Burst:
        """Return the rules of the bursts from number ``first`` of the stage on."""
        size, gravity = paths.stage.burst_size, paths.stage.gravity
        event, n_bursts = self.event(paths), self.stage_bursts(paths)
        return Burst(self.loss, size, gravity, self.shrinkage, event, first, n_bursts)

    def advance(self, paths: Paths, rows: Rows, updates: list[Updates], run_all: Workers) -> None:
        """Give every path its next updates, all within the stage, or raise an Overflow."""
        stage = paths.stage
        mine = updates if len(updates) > 1 else updates * len(paths.units)
        first = stage.done // stage.burst_size
        count = mine[0].order.size
        last = (stage.done + count - 1) // stage.burst_size
        takes = takes_for(self, paths, stage.bursts + first, last - first + 1)
        burst = self._burst(paths, first)
        stable = paths.stable
        if burst.event != AVERAGE:
            make_room(paths, rows, mine, last - first + 1)

        def run(number: int) -> int:
            unit, tally = paths.units[number].kernel_views()
            done = stage.done % stage.burst_size
            return run_bursts(rows, mine[number], burst, done, takes[number], stable, unit, tally)

        for number, learnt in enumerate(run_all(run, range(len(paths.units)))):
            if learnt < count:
                raise Overflow(int(mine[number].order[learnt]))
        stage.done += count
        stage.rows_seen += count


def takes_for(learner: StageLearner, paths: Paths, first: int, n_bursts: int) -> list[np.ndarray]:
    """Return each unit's weights for some bursts of the run, by burst and lane."""
    if not learner.shared:  # a path of its own misses nothing
        return [np.ones((n_bursts, 1))] * len(paths.units)
    weights = burst_weights(learner.seed, first, n_bursts, paths.n_paths, KEEP)
    ends = np.cumsum([unit.lanes for unit in paths.units])[:-1]
    return [np.ascontiguousarray(part) for part in np.split(weights, ends, axis=1)]


def make_room(paths: Paths, rows: Rows, updates: list[Updates], n_bursts: int) -> None:
    """Make the pools large enough for what the next updates can touch."""
    for unit, mine in zip(paths.units, updates, strict=True):
        most = n_bursts * paths.n_slots
        if unit.pool.room < most:
            lengths = rows.starts[mine.order + 1] - rows.starts[mine.order]
            touched = unit.burst.length[0] + lengths.sum()
            unit.pool.grow(unit.pool.length[0] + min(touched, most))


def mean_weights(learner: StageLearner, paths: Paths) -> tuple[np.ndarray, float]:
    """Return the average over paths, a burst still open being truncated for show."""
    stage = paths.stage
    takes = takes_for(learner, paths, stage.bursts + stage.done // stage.burst_size, 1)
    total = np.zeros(paths.n_slots)
    bias = 0.0
    for unit, weights in zip(paths.units, takes, strict=True):
        shown = unit.shown_weights(weights[0], learner.shrinkage, stage.gravity)
        for lane in range(unit.lanes):
            total += shown[: paths.n_slots, lane]
        bias += unit.arrays["bias"].sum()
    return total / paths.n_paths, bias / paths.n_paths
