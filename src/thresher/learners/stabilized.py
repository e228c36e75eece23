"""Stabilized truncated SGD, the paper's Algorithm 4 with its Practical Remarks."""

from dataclasses import dataclass

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.units import EVERY
from thresher.learners.annealing import annealed_rejection_rate, grown_burst_size
from thresher.learners.gravity import gravity_for
from thresher.learners.pace import Schedule
from thresher.learners.paths import Paths
from thresher.learners.selection import judge
from thresher.learners.stages import StageLearner, mean_weights, takes_for


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

    def first_burst(self) -> int:
        """Return the length of the first stage's bursts."""
        return self.burst_size

    def schedule(self, paths: Paths) -> Schedule:
        """Return how long steps are."""
        return self.pace

    def event(self, paths: Paths) -> int:
        """Return what counts as being selected."""
        return self.selection

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
        return mean_weights(self, paths)

    def close_stage(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """Judge and purge; then anneal, adapt gravity to the new rate, and lengthen bursts."""
        stage = paths.stage
        if stage.number > 1:  # the first stage has no gravity, so it can judge nobody
            self._gather_evidence(paths)
            self._purge(paths)
        unseen = 0 if stage.closed else vocabulary.n_columns - len(vocabulary)
        n_stable = int(paths.stable.sum()) + unseen
        share = n_stable / vocabulary.n_columns
        stage.over = n_stable == 0
        stage.rejection_rate = annealed_rejection_rate(
            share, self.rejection_rate, self.annealing_rate
        )
        stage.gravity = gravity_for(paths.pooled_ratios(), stage.rejection_rate)
        if self.burst_growth is not None and n_stable:
            stage.burst_size = grown_burst_size(self.burst_size, share, self.burst_growth)
        paths.record(mean_weights(self, paths)[0], n_stable)
        paths.open_next_stage(self.bursts_per_stage)

    def _gather_evidence(self, paths: Paths) -> None:
        """Add the stage's counts to those of features not judged yet."""
        paths.feature("selected")[...] += paths.tallied("selected")
        if self.selection == EVERY:
            takes = takes_for(self, paths, paths.stage.bursts, self.bursts_per_stage)
            paths.stage.ends += sum(int(np.count_nonzero(weights)) for weights in takes)
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
