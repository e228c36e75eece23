"""The flagship: the same parts, put together so that they work on real data.

Differences from the paper: every path takes random bursts of one shared stream; each feature's
steps shorten with the squared gradients it has had, and gravity follows those; a stage keeps the
features whose mean weight is most salient, fewer and fewer on a geometric way to the wanted number,
with ever longer steps; the survivors are then fitted without truncation.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thresher.data.scattered import Scattered
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.adaptive import run_bursts
from thresher.kernels.bundle import Rules
from thresher.kernels.parted import run_parted
from thresher.kernels.rows import Rows, Updates
from thresher.learners import alone
from thresher.learners.adaptive_independent import run_independent
from thresher.learners.adaptive_paths import (
    bias_total,
    forget_sums,
    gather,
    has_fitting,
    mean_weights,
    note_sums,
    refuse_other_dtype,
    units_of,
)
from thresher.learners.adaptive_unit import AdaptiveUnit, line_width
from thresher.learners.calibration import (
    CONSTANTS,
    STREAM_CONSTANTS,
    Standing,
    refit_probabilities,
    weighed_probabilities,
)
from thresher.learners.judge import DOUBTFUL, SALIENCE, Judge
from thresher.learners.pace import Pace, Schedule
from thresher.learners.paths import Paths
from thresher.learners.stages import RunUnit, StageLearner
from thresher.learners.striding import SHORT, let_lead, strides
from thresher.learners.timetable import Timetable
from thresher.workers import Workers

# A feature's steps have halved where the root of its squared gradients' sum is this: early while
# selecting, so that frequent features do not run ahead of rare ones.
SELECTING_HALVING, REFITTING_HALVING = 0.5, 1.0


@dataclass(frozen=True)
class Thresher(StageLearner):
    """Stages of selection, then a refit in two: one to settle, one to average.

    ``selecting`` are the steps of the first stage, which grow by ``growth`` until the last. On a
    stream half of the paths fit what the others have selected so far, so that there is a model
    whenever somebody looks, with steps ``fitting`` times as long. Rows that are all at hand may let
    features that went come back (``exchanges``), weigh all against each other where only few speak
    (``weighs``), and insist on the likeliest weights (``settles``). Steps that are ``short`` are so
    long beside the others of a stream; for ``waits`` and ``doubtful`` see ``Judge``.
    """

    selecting: Schedule
    growth: float
    refitting: Schedule
    n_features: int | float | None
    timetable: Timetable
    dtype: np.dtype
    fitting: float = 1.0
    halving: float = SELECTING_HALVING
    salience: tuple[float, float] = SALIENCE
    exchanges: bool = True
    weighs: bool = True
    settles: bool = True
    short: float = SHORT
    waits: bool = True
    doubtful: float = DOUBTFUL

    means: ClassVar[tuple[str, ...]] = ("mean", "fitted")
    few: ClassVar[tuple[str, ...]] = ("fitted",)

    @property
    def judge(self) -> Judge:
        """Return what says, at the ends of stages, which features stand out."""
        return Judge(self.n_features, self.timetable, self.salience, self.waits, self.doubtful)

    @property
    def most_lanes(self) -> int:
        """Return how many paths go side by side: a cache line of weights."""
        return line_width(self.dtype)

    def new_unit(self, lanes: int) -> AdaptiveUnit:
        """Return a bundle of so many paths before the first row."""
        return AdaptiveUnit(lanes, self.dtype)

    def first_burst(self) -> int:
        """Return the length of the first stage's bursts."""
        return self.timetable.burst_size(0)

    def schedule(self, paths: Paths) -> Schedule:
        """Return how long steps are: short ones regularise the selection, most of all early."""
        stage = paths.stage.number
        if not self.timetable.selects(stage):
            return self.refitting.longer(self.short if paths.stage.careful else 1.0)
        way = (stage - 1) / max(self.timetable.n_stages - 1, 1)
        return self.selecting.longer(self.growth**way)

    def stage_bursts(self, paths: Paths) -> int:
        """Return the number of bursts in the current stage."""
        return self.timetable.bursts(paths.stage.number)

    def finished(self, paths: Paths) -> bool:
        """Return whether the last stage has been closed; a stream has none."""
        return not self.timetable.endless and paths.stage.number > self.timetable.last_stage

    def hear(self, paths: Paths, rows: Rows, targets: np.ndarray, importance: np.ndarray) -> None:
        """Take down what new rows say of each feature alone."""
        alone.hear(paths, rows, targets, importance)

    def has_selected(self, paths: Paths) -> bool:
        """Return whether features have been selected, and are about to be refitted."""
        return not self.timetable.selects(paths.stage.number) and not self.finished(paths)

    def selected(self, paths: Paths, pace: Pace) -> np.ndarray:
        """Return the mean weights of the stable features, and the intercept last."""
        weights, bias = mean_weights(paths)
        return np.append(weights[paths.stable], bias * self.refitting.constant(pace))

    def exchange(
        self, paths: Paths, vocabulary: Vocabulary, before: np.ndarray, after: np.ndarray
    ) -> None:
        """Let the features of some slots be others."""
        self.judge.level(paths, vocabulary, before, after)
        paths.exchange(np.setdiff1d(before, after), np.setdiff1d(after, before))

    def shows_fitted(self, paths: Paths) -> bool:
        """Return whether a stream's model is what its fitting paths have had, if they have."""
        streams = self.timetable.endless and paths.stage.number > 1 and has_fitting(paths)
        return streams and paths.scattered["fitted"].slots.size > 0

    def show(self, paths: Paths, pace: Pace, slots: np.ndarray, weights: np.ndarray) -> None:
        """Let whoever looks into a stream see some weights, the intercept last, until the next."""
        if self.shows_fitted(paths):
            constant = self.refitting.constant(pace)
            paths.scattered["fitted"] = Scattered(slots.astype(np.uint32), weights[:-1])
            paths.features["bias_fitted"][0] = weights[-1] / constant if constant > 0 else 0.0

    def stand(self, paths: Paths, certainties: np.ndarray) -> None:
        """Let features stand where weighing them has put each, in standard deviations."""
        paths.feature("mean")[...] = certainties

    def settle(self, paths: Paths, pace: Pace, weights: np.ndarray) -> None:
        """Let all paths have the given weights, as of ``selected``, for good."""
        forget_sums(paths)
        paths.begin_tallies()
        paths.stage.done = 0
        stable, constant = np.flatnonzero(paths.stable), self.refitting.constant(pace)
        bias = weights[-1] / constant if constant > 0 else 0.0
        for unit in units_of(paths):
            unit.set_weights(stable, weights[:-1], bias)
        paths.stage.number = self.timetable.last_stage + 1

    def has_settled(self, paths: Paths) -> bool:
        """Return whether the weights are those that were given, and not what descent came to."""
        return self.finished(paths) and paths.stage.done == 0

    def shown(self, paths: Paths, pace: Pace, vocabulary: Vocabulary) -> np.ndarray:
        """Return the model's weights of what is stable, and its intercept last."""
        weights, bias = self.weights(paths, vocabulary)
        return np.append(weights[paths.stable], bias * self.refitting.constant(pace))

    def may_stop(self, paths: Paths) -> bool:
        """Return whether weights that no longer change may end the training."""
        return paths.stage.number >= self.timetable.averaging

    def prepare(self, paths: Paths, rows: Rows, updates: list[Updates]) -> RunUnit:
        """Return what gives the unit of a number its updates, and returns how many it learnt."""
        units, done = units_of(paths), paths.stage.done % paths.stage.burst_size
        rules = self._begin(paths, updates[0].order.size)
        takes = self.takes(paths, updates[0].order.size)

        def run(number: int) -> int:
            unit = units[number]
            own = [strides(unit, self.short, self.fitting)] if rules.parted else []
            shares, bundle = unit.shares(takes[number], *own), unit.kernel_view()
            learn = run_parted if rules.parted else run_bursts
            return learn(rows, updates[number], rules, done, shares, bundle)

        return run

    def run_units(
        self, paths: Paths, rows: Rows, updates: list[Updates], run_all: Workers
    ) -> list[int]:
        """Give every unit its updates; return how many each learnt before numbers overflowed."""
        units, count = units_of(paths), updates[0].order.size
        if not self.shared:
            rules, done = self._begin(paths, count), paths.stage.done % paths.stage.burst_size
            shares = units[0].shares(self.takes(paths, count)[0])  # all miss nothing
            return run_independent(units, rows, updates, rules, done, shares, run_all)
        if count < self.room(paths) or not self.judge.sums_up(paths):
            return super().run_units(paths, rows, updates, run_all)
        run = self.prepare(paths, rows, updates)
        both = run_all(lambda number: (run(number), units[number].sums()), range(len(units)))
        note_sums(paths, [sums for _, sums in both])
        return [learnt for learnt, _ in both]

    def _begin(self, paths: Paths, n_updates: int) -> Rules:
        """Make units ready for the next updates; return the rules of those."""
        refuse_other_dtype(paths, self.dtype)
        forget_sums(paths)
        stage, selects = paths.stage, self.timetable.selects(paths.stage.number)
        rules = Rules(
            self.loss,
            stage.burst_size,
            stage.gravity,
            self.halving if selects else REFITTING_HALVING,
            not selects,
            stage.done // stage.burst_size,
            self.stage_bursts(paths),
            selects and self.rejection_rate > 0,
            self.timetable.endless and selects and has_fitting(paths),
        )
        ends = stage.done % stage.burst_size + n_updates >= stage.burst_size
        for unit in units_of(paths):
            unit.make_ready(ends, rules.asks, rules.averages, rules.parted)
        return rules

    def close_stage(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """Keep the features that stood out, and set gravity and steps for the next stage."""
        again = not self.timetable.goes_on(paths.stage.number, paths.stage.new_rows)
        if self.timetable.selects(paths.stage.number):
            paths.stage.streamed = self.timetable.endless
            self.judge.judge(paths, vocabulary, self.rejection_rate, again)
            let_lead(paths)
        if paths.stage.number == self.timetable.averaging:
            paths.stage.number += 1  # the end: what this stage gathered is the model
            return
        open_stage = paths.open_stage_again if again else paths.open_next_stage
        open_stage(self.timetable.bursts(paths.stage.number))
        if not self.timetable.selects(paths.stage.number):
            paths.stage.gravity = 0.0
        if paths.stage.number == self.timetable.n_stages + 1:
            if self.timetable.endless and has_fitting(paths):
                gather(paths)
            for unit in units_of(paths):
                unit.step_anew()
        if paths.stage.number <= self.timetable.last_stage:
            while self.timetable.bursts(paths.stage.number) == 0:
                paths.stage.number += 1
        paths.stage.burst_size = self.timetable.burst_size(paths.stage.new_rows)

    def resume(self, paths: Paths) -> None:
        """Begin another selection among the features that are left, from their weights."""
        super().resume(paths)
        refuse_other_dtype(paths, self.dtype)
        paths.forget_bursts()
        paths.stage = self.start().stage
        paths.begin_tallies()
        paths.note_known()
        for unit in units_of(paths):
            unit.step_anew()

    def weights(self, paths: Paths, vocabulary: Vocabulary) -> tuple[np.ndarray, float]:
        """Return the model by slot: the refit's average, or the strongest features until then."""
        stage = paths.stage
        ends = paths.n_paths * (stage.done // stage.burst_size)
        if stage.number >= self.timetable.averaging and ends:
            weights = self.judge.within_size(paths, vocabulary, paths.tallied("total") / ends)
            return weights, bias_total(paths) / ends
        if self.shows_fitted(paths):
            # whoever looks into a stream sees the running mean: single weights swing too much
            fitted = paths.scattered["fitted"].spread(paths.n_slots)
            return fitted, float(paths.features["bias_fitted"][0])
        weights, bias = mean_weights(paths)
        keep = self.judge.strongest(paths, vocabulary, weights, self.judge.wanted(vocabulary))
        return np.where(keep, weights, 0.0), bias

    def probabilities(self, paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
        """Return the chances that refits on random halves of the rows select each feature."""
        standing = self.standing(paths, vocabulary)
        if paths.stage.few_speak:
            return weighed_probabilities(standing)
        constants = STREAM_CONSTANTS if paths.stage.streamed else CONSTANTS
        return refit_probabilities(standing, constants)

    def standing(self, paths: Paths, vocabulary: Vocabulary) -> Standing:
        """Return how the features stood when they were last judged."""
        kept = min(int(paths.stable.sum()), self.judge.wanted(vocabulary))
        scores = self.judge.standing(paths, vocabulary)
        return Standing(scores, alone.certainties(paths, vocabulary), kept)

    def leaders(self, paths: Paths, vocabulary: Vocabulary, n: int) -> np.ndarray:
        """Return the mask of the n stable features with the most salient mean weights."""
        return self.judge.strongest(paths, vocabulary, paths.shown("mean"), n)
