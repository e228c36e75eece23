"""Stabilized truncated SGD, the paper's Algorithm 4 with its Practical Remarks."""

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.annealing import annealed_rejection_rate, grown_burst_size
from thresher.kernels.bursts import run_bursts
from thresher.kernels.lone_bursts import run_path
from thresher.kernels.reading import Reading
from thresher.kernels.rows import Rows, Updates
from thresher.kernels.stages import Rules
from thresher.kernels.units import EVERY, Burst
from thresher.learners.counting_unit import CountingUnit
from thresher.learners.gravity import gravity_for
from thresher.learners.independent import WholeFit
from thresher.learners.pace import Schedule
from thresher.learners.paths import Paths
from thresher.learners.selection import judge
from thresher.learners.stages import RunUnit, StageLearner
from thresher.workers import Workers


@dataclass(frozen=True)
class StabilizedTruncatedSGD(StageLearner):
    """A stage is some bursts on every path; at its end features are purged for good."""

    pace: Schedule
    burst_size: int
    bursts_per_stage: int
    annealing_rate: float
    purge_threshold: float
    min_evidence: int
    burst_growth: float | None
    selection: int
    shrinkage: int

    dtype: ClassVar[np.dtype] = np.dtype(np.float64)

    @property
    def most_lanes(self) -> int:
        """Return how many paths go side by side: a cache line of weights."""
        return 8

    def new_unit(self, lanes: int) -> CountingUnit:
        """Return a bundle of so many paths before the first row."""
        return CountingUnit(lanes)

    def first_burst(self) -> int:
        """Return the length of the first stage's bursts."""
        return self.burst_size

    def schedule(self, paths: Paths) -> Schedule:
        """Return how long steps are."""
        return self.pace

    def stage_bursts(self, paths: Paths) -> int:
        """Return the number of bursts in a stage."""
        return self.bursts_per_stage

    def finished(self, paths: Paths) -> bool:
        """Return whether nothing is left to learn: no feature is stable."""
        return paths.stage.over

    def may_stop(self, paths: Paths) -> bool:
        """Return whether weights that no longer change may end the training."""
        return paths.stage.number > 1

    def weights(self, paths: Paths, vocabulary: Vocabulary) -> tuple[np.ndarray, float]:
        """Return the model: the average over paths."""
        return self._mean_weights(paths)

    def close_stage(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """Judge and purge; then anneal, adapt gravity to the new rate, and lengthen bursts."""
        stage = paths.stage
        n_bursts = stage.done // stage.burst_size
        if stage.number > 1:  # the first stage has no gravity, so it can judge nobody
            self._gather_evidence(paths, n_bursts)
            self._purge(paths)
        unseen = 0 if stage.closed else vocabulary.n_columns - len(vocabulary)
        n_stable = int(paths.stable.sum()) + unseen
        share = n_stable / vocabulary.n_columns
        stage.over = n_stable == 0
        stage.rejection_rate = annealed_rejection_rate(
            share, self.rejection_rate, self.annealing_rate
        )
        ratios = [unit.pooled_ratios(paths.stable) for unit in _units(paths)]
        stage.gravity = gravity_for(np.concatenate(ratios), stage.rejection_rate)
        if self.burst_growth is None:
            stage.burst_size = self.burst_size
        elif n_stable:
            stage.burst_size = grown_burst_size(self.burst_size, share, self.burst_growth)
        weights, _ = self._mean_weights(paths)
        paths.record(int(np.count_nonzero(weights)), n_stable)
        paths.open_next_stage(n_bursts)

    def prepare(self, paths: Paths, rows: Rows, updates: list[Updates]) -> RunUnit:
        """Return what gives the unit of a number its updates, and returns how many it learnt."""
        stage, stable, units = paths.stage, paths.stable, _units(paths)
        takes = self.takes(paths, updates[0].order.size)
        n_ends = self._ends(paths, stage.done // stage.burst_size)
        burst = Burst(self.loss, stage.burst_size, stage.gravity, self.shrinkage, self.selection)
        for unit, mine, weights in zip(units, updates, takes, strict=True):
            _make_room(unit, rows, mine, len(weights))

        def run(number: int) -> int:
            mine, weights = updates[number], takes[number]
            unit, tally = units[number].kernel_views()
            done, ends = stage.done % stage.burst_size, n_ends[number]
            if units[number].lanes > 1:
                return run_bursts(rows, mine, burst, done, weights, ends, stable, unit, tally)
            path = unit._replace(weights=unit.weights.ravel(), before=unit.before.ravel())
            tally = tally._replace(ratios=tally.ratios.ravel())
            last, weights = mine.order.size, weights.ravel()
            return run_path(
                rows, mine, 0, last, burst, done, weights, int(ends[0]), stable, path, tally
            )

        return run

    def advance(
        self,
        paths: Paths,
        vocabulary: Vocabulary,
        rows: Rows,
        updates: list[Updates],
        run_all: Workers,
    ) -> None:
        """Give every path its next updates, all within the stage, or raise an Overflow."""
        stage, count = paths.stage, updates[0].order.size
        before, after = (done // stage.burst_size for done in (stage.done, stage.done + count))
        counts = self.selection == EVERY and before < after
        if counts:
            self._count_standing(paths, before, -1)
        super().advance(paths, vocabulary, rows, updates, run_all)
        if counts:
            self._count_standing(paths, after, 1)

    @property
    def leads_itself(self) -> bool:
        """Return whether its paths can be led through whole fits: independent ones can."""
        return not self.shared

    def whole_fit(
        self,
        paths: Paths,
        vocabulary: Vocabulary,
        rows: Rows,
        counts: np.ndarray,
        reading: Reading,
        tol: float,
    ) -> WholeFit:
        """Return what leads its paths through rows, which lose on the way what is purged.

        ``counts`` are the rows' nonzeros by slot.
        """
        while self.room(paths) <= 0 and not self.finished(paths):  # others changed its settings
            self.close_stage(paths, vocabulary)
        rules = self._rules(vocabulary)
        return WholeFit(paths, _units(paths), rows, counts, reading, rules, tol)

    def _rules(self, vocabulary: Vocabulary) -> Rules:
        """Return the settings as the kernel of independent paths knows them."""
        return Rules(
            self.loss,
            self.shrinkage,
            self.selection,
            self.burst_size,
            self.bursts_per_stage,
            float(self.rejection_rate),
            float(self.annealing_rate),
            float(self.purge_threshold),
            self.min_evidence,
            float(self.burst_growth or 0.0),
            vocabulary.n_columns,
            vocabulary.n_columns - len(vocabulary),
        )

    def _mean_weights(self, paths: Paths) -> tuple[np.ndarray, float]:
        """Return the average over paths, a burst still open being truncated for show."""
        stage = paths.stage
        takes = self.takes(paths, 1)
        total, bias = np.zeros(paths.n_slots), 0.0
        for unit, weights in zip(_units(paths), takes, strict=True):
            shown = unit.shown_weights(weights[0], self.shrinkage, stage.gravity)
            for lane in range(unit.lanes):
                total += shown[: paths.n_slots, lane]
            bias += unit.arrays["bias"].sum()
        return total / paths.n_paths, bias / paths.n_paths

    def _ends(self, paths: Paths, n_bursts: int) -> list[np.ndarray]:
        """Return how many ends of the stage's first bursts each unit's paths have, by lane."""
        takes = self.takes_of(paths, paths.stage.bursts, n_bursts)
        return [np.count_nonzero(weights, axis=0) for weights in takes]

    def _count_standing(self, paths: Paths, n_bursts: int, times: int) -> None:
        """Count weights that are there for the stage's first bursts, or take it back."""
        for unit, ends in zip(_units(paths), self._ends(paths, n_bursts), strict=True):
            unit.count_standing(times * ends)

    def _gather_evidence(self, paths: Paths, n_bursts: int) -> None:
        """Add the counts of the stage's bursts to those of features not judged yet."""
        paths.feature("selected")[...] += paths.tallied("selected")
        if self.selection == EVERY:
            paths.stage.ends += sum(int(ends.sum()) for ends in self._ends(paths, n_bursts))
            paths.feature("evidence")[...] = paths.stage.ends
        else:
            paths.feature("evidence")[...] += paths.tallied("evidence")

    def _purge(self, paths: Paths) -> None:
        """Judge the features with enough evidence; their counts start anew."""
        evidence, selected = paths.feature("evidence"), paths.feature("selected")
        judged, probability = judge(evidence, selected, paths.stable, self.min_evidence)
        paths.feature("probability")[judged] = probability
        gone = judged & (paths.feature("probability") < self.purge_threshold)
        paths.purge(gone)
        evidence[judged] = selected[judged] = 0
        if self.selection == EVERY and paths.stage.ends > self.min_evidence:
            # all features are judged together, those that never occurred with the rest
            paths.stage.ends = 0
            paths.stage.closed = self.purge_threshold > 0


def _units(paths: Paths) -> list[CountingUnit]:
    """Return the units as what they are."""
    return cast(list[CountingUnit], paths.units)


def _make_room(unit: CountingUnit, rows: Rows, updates: Updates, n_bursts: int) -> None:
    """Make the pool large enough for what the next updates can touch."""
    most = n_bursts * unit.arrays.n_slots
    if unit.pool.room < most:
        lengths = rows.starts[updates.order + 1] - rows.starts[updates.order]
        touched = unit.burst.length[0] + lengths.sum()
        unit.pool.grow(unit.pool.length[0] + min(touched, most))
