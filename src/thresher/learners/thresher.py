"""The flagship: the same parts, put together so that they work on real data.

Differences from the paper: every path takes random bursts of one shared stream; gravity follows the
square root of the touches; a stage keeps the features whose mean weight is most salient, fewer and
fewer on a geometric way to the wanted number; the survivors are then fitted without truncation.
"""

import math
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.tallies import count_standing
from thresher.kernels.units import AVERAGE, SALIENT
from thresher.learners.annealing import annealed_rejection_rate
from thresher.learners.gravity import gravity_for
from thresher.learners.pace import Schedule
from thresher.learners.paths import Paths
from thresher.learners.selection import bar_at, shrinking_size, strongest
from thresher.learners.stages import StageLearner, mean_weights
from thresher.learners.timetable import Timetable

MEMORY = 0.5  # of earlier stages, in the running means over stages
FEWEST, SHARE = 100, 0.01  # features wanted when the user does not say


def wanted_features(n_features: int | float | None, seen: int, columns: int) -> int:
    """Return how many features to keep: a number, a share of all columns, or one per cent."""
    if n_features is None:
        wanted = max(FEWEST, math.ceil(SHARE * seen))
    elif isinstance(n_features, Integral):
        wanted = int(n_features)
    else:
        wanted = max(1, round(n_features * columns))
    return min(wanted, seen)


@dataclass(frozen=True)
class Thresher(StageLearner):
    """Stages of selection, then a refit in two: one to settle, one to average."""

    selecting: Schedule
    refitting: Schedule
    n_features: int | float | None
    timetable: Timetable

    def first_burst(self) -> int:
        """Return the length of the first stage's bursts."""
        return self.timetable.burst_size(0)

    def schedule(self, paths: Paths) -> Schedule:
        """Return how long steps are: short ones regularise the selection."""
        return self.selecting if self.timetable.selects(paths.stage.number) else self.refitting

    def event(self, paths: Paths) -> int:
        """Return what a burst's end is asked: who stands out, or later just the average."""
        return SALIENT if self.timetable.selects(paths.stage.number) else AVERAGE

    def stage_bursts(self, paths: Paths) -> int:
        """Return the number of bursts in the current stage."""
        return self.timetable.bursts(paths.stage.number)

    def finished(self, paths: Paths) -> bool:
        """Return whether the last stage has been closed; a stream has none."""
        return not self.timetable.endless and paths.stage.number > self.timetable.last_stage

    def may_stop(self, paths: Paths) -> bool:
        """Return whether weights that no longer change may end the training."""
        return paths.stage.number >= self.timetable.averaging

    def close_stage(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """Keep the features that stood out, and set gravity and bars for the next stage."""
        if self.timetable.selects(paths.stage.number):
            self._select(paths, vocabulary)
            paths.record(mean_weights(self, paths)[0], int(paths.stable.sum()))
        if paths.stage.number == self.timetable.averaging:
            paths.stage.number += 1  # the end: what this stage gathered is the model
            return
        paths.open_next_stage(self.timetable.bursts(paths.stage.number))
        if not self.timetable.selects(paths.stage.number):
            paths.stage.gravity = 0.0
        if paths.stage.number <= self.timetable.last_stage:
            while self.timetable.bursts(paths.stage.number) == 0:
                paths.stage.number += 1
        paths.stage.burst_size = self.timetable.burst_size(paths.stage.rows_seen)
        if self.timetable.selects(paths.stage.number):
            self._set_bars(paths, vocabulary)
            self._count_standing(paths)

    def resume(self, paths: Paths) -> None:
        """Begin another selection among the features that are left, from their weights."""
        super().resume(paths)
        paths.forget_bursts()
        paths.stage = self.start().stage
        paths.begin_tallies()
        for unit in paths.units:
            unit.arrays["bar"][...] = 0.0
        self._count_standing(paths)

    def weights(self, paths: Paths, vocabulary: Vocabulary) -> tuple[np.ndarray, float]:
        """Return the model by slot: the refit's average, or the strongest features until then."""
        stage = paths.stage
        ends = paths.n_paths * (stage.done // stage.burst_size)
        if stage.number >= self.timetable.averaging and ends:
            return paths.tallied("total") / ends, self._bias_total(paths) / ends
        weights, bias = mean_weights(self, paths)
        if self.timetable.endless and stage.number > 1:
            # whoever looks into a stream sees the running mean: single weights swing too much
            weights, bias = paths.feature("mean"), paths.features["bias_mean"][0]
        wanted = wanted_features(self.n_features, len(vocabulary), vocabulary.n_columns)
        scores = self._scores(paths, vocabulary, weights)
        columns = vocabulary["columns"][paths.feature("slot")]
        keep = strongest(scores, paths.stable, columns, wanted)
        return np.where(keep, weights, 0.0), bias

    def leaders(self, paths: Paths, vocabulary: Vocabulary, n: int) -> np.ndarray:
        """Return the mask of the n stable features with the most salient mean weights."""
        scores = self._scores(paths, vocabulary, paths.feature("mean"))
        columns = vocabulary["columns"][paths.feature("slot")]
        return strongest(scores, paths.stable, columns, n)

    def _select(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """Update the running means, and purge all but the most salient features."""
        stage, stable = paths.stage, paths.stable
        ends = paths.n_paths * self.timetable.bursts(stage.number)
        newest = max(1.0 - MEMORY, 1.0 / stage.number)
        _blend(paths.feature("mean"), paths.tallied("total") / ends, stable, newest)
        bias = paths.features["bias_mean"]
        bias += newest * (self._bias_total(paths) / ends - bias)
        # in the first stage any weight stands out: it says little of those that stay
        newest = max(1.0 - MEMORY, 1.0 / max(stage.number - 1, 1))
        _blend(paths.feature("probability"), paths.tallied("selected") / ends, stable, newest)
        gone = stable & ~self._kept(paths, vocabulary)
        paths.purge(gone)
        if stage.number == 1:  # ... and nothing of those that go
            paths.feature("probability")[gone] = 0.0
        share = int(paths.stable.sum()) / max(len(vocabulary), 1)
        stage.rejection_rate = annealed_rejection_rate(share, self.rejection_rate, 0.0)
        stage.gravity = gravity_for(paths.pooled_ratios(), stage.rejection_rate)

    def _size(self, paths: Paths, vocabulary: Vocabulary) -> int:
        """Return how many features the current stage is to leave."""
        seen = len(vocabulary)
        wanted = wanted_features(self.n_features, seen, vocabulary.n_columns)
        return shrinking_size(seen, wanted, paths.stage.number, self.timetable.n_stages)

    def _kept(self, paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
        """Return the mask of the features with the most salient mean weights.

        A feature that appeared during the stage has not had its chance yet, and stays.
        """
        fresh = paths.stable & (paths.feature("slot") >= paths.stage.known)
        scores = self._scores(paths, vocabulary, paths.feature("mean"))
        columns = vocabulary["columns"][paths.feature("slot")]
        n = self._size(paths, vocabulary)
        return fresh | strongest(scores, paths.stable & ~fresh, columns, n)

    def _scores(self, paths: Paths, vocabulary: Vocabulary, weights: np.ndarray) -> np.ndarray:
        """Return how much weights stand out."""
        return np.abs(weights) * salience_of(vocabulary["squares"][paths.feature("slot")])

    def _bias_total(self, paths: Paths) -> float:
        """Return the sum over paths and ends of bursts of the constant input's weight."""
        return sum(float(unit.arrays["bias_total"][0]) for unit in paths.units)

    def _set_bars(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """Set what a weight must exceed on each path to be among those the stage will keep."""
        stable, n_kept = paths.stable, self._size(paths, vocabulary)
        salience = salience_of(vocabulary["squares"][paths.feature("slot")])
        for unit in paths.units:
            unit.arrays["salience"][: paths.n_slots] = salience
            for lane in range(unit.lanes):
                weights = unit.arrays["weights"][: paths.n_slots, lane]
                saliency = np.abs(weights[stable]) * salience[stable]
                unit.arrays["bar"][lane] = bar_at(saliency, n_kept)

    def _count_standing(self, paths: Paths) -> None:
        """Count all weights as if the stage changed none; bursts then count what they change."""
        n_bursts = self.timetable.bursts(paths.stage.number)
        for unit in paths.units:
            weights, tally = unit.kernel_views()
            count_standing(weights, paths.n_slots, n_bursts, tally)


def _blend(running: np.ndarray, now: np.ndarray, where: np.ndarray, newest: float) -> None:
    """Move a running mean towards what was found now."""
    running[where] += newest * (now[where] - running[where])


def salience_of(squares: np.ndarray) -> np.ndarray:
    """Return c_j = (sum of x_j^2)^(1/4): a weight counts for more on a column that says more."""
    return np.sqrt(np.sqrt(squares))
