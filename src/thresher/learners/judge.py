"""How the flagship judges features where a stage ends: which stay, and what gravity they meet."""

from dataclasses import dataclass

import numpy as np

from thresher.data.scattered import Scattered
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.adaptive import LEAST as LEAST_SQUARE
from thresher.kernels.annealing import annealed_rejection_rate
from thresher.kernels.judging import follow_members, follow_weights, salient
from thresher.kernels.masks import count_both
from thresher.learners import alone
from thresher.learners.adaptive_paths import columns_in, has_fitting, mean_weights, units_of
from thresher.learners.gravity import gravity_for
from thresher.learners.paths import Paths
from thresher.learners.selection import shrinking_size, strongest, wanted_features
from thresher.learners.timetable import Timetable

# Of earlier stages, in the running means over stages. A stream's stages lengthen, and the last ones
# say most.
MEMORY, STREAM_MEMORY = 0.8, 0.5
HARDLY = 1e-6  # the share by which who went stands lower than the last; who came, by half of it
# Exponents in c_j: of the squared gradients that a feature has had, and of its column's sum of
# squares. Streams have only the latter, and another where short steps lead. By columns it is told,
# too, how features stood that are judged no more.
SALIENCE = (0.2, 0.1)
COLUMN_SALIENCE, CAREFUL_SALIENCE = 0.2, 0.5
OF_COLUMNS = (0.0, COLUMN_SALIENCE)
# Standard deviations of chance below which what a feature says counts for less; nobody says less
# than the least.
DOUBTFUL, LEAST = 4.0, 0.01


@dataclass(frozen=True)
class Judge:
    """Judges by running means over stages of the weights, and by what features say (``salience``).

    On a stream half of the paths fit what the others select, and are told what that is. Features
    are not judged there before they occur in enough rows (``waits``), and what might be chance
    counts for less, if it is less than ``doubtful``.
    """

    n_features: int | float | None
    timetable: Timetable
    salience: tuple[float, float] = SALIENCE
    waits: bool = True
    doubtful: float = DOUBTFUL

    def wanted(self, vocabulary: Vocabulary) -> int:
        """Return how many features are to be left in the end."""
        return wanted_features(self.n_features, len(vocabulary), vocabulary.n_columns)

    def sums_up(self, paths: Paths) -> bool:
        """Return whether it asks for the sums of all paths' weights where the stage ends."""
        return self._has_all_rows(paths)

    def judge(
        self, paths: Paths, vocabulary: Vocabulary, rejection_rate: float, again: bool
    ) -> None:
        """Purge the features that did not stand out, unless the stage is to go on ``again``."""
        stable = paths.stable
        weights = self._average(paths, stable)
        if not again:
            stable = self._purge(paths, vocabulary, stable)
            n_stable = int(np.count_nonzero(stable))
            stage = paths.stage
            stage.rejection_rate, stage.gravity = self._gravity(
                paths, stable, n_stable / max(len(vocabulary), 1), rejection_rate
            )
            paths.record(int(count_both(stable, weights)), n_stable)
        if self.timetable.endless and has_fitting(paths):
            self._choose_members(paths, vocabulary)

    def scores(self, paths: Paths, vocabulary: Vocabulary, weights: np.ndarray) -> np.ndarray:
        """Return how much weights stand out: |w_j| c_j, more of a feature that says more."""
        return salient(weights, self._saliences(paths, vocabulary))

    def standing(self, paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
        """Return the scores of all features when each was last judged."""
        mean = paths.shown("mean")
        told = salient(mean, self._of_columns(paths, vocabulary))
        if not self._has_all_rows(paths):
            return told
        return np.where(paths.stable, self.scores(paths, vocabulary, mean), told)

    def strongest(
        self, paths: Paths, vocabulary: Vocabulary, weights: np.ndarray, n: int
    ) -> np.ndarray:
        """Return the mask of the n stable features whose weights stand out most."""
        scores = self.scores(paths, vocabulary, weights)
        return strongest(scores, paths.stable, columns_in(paths, vocabulary), n)

    def within_size(self, paths: Paths, vocabulary: Vocabulary, weights: np.ndarray) -> np.ndarray:
        """Return weights of no more features than are wanted.

        Features that appear in a single pass after the selection are there beside those it kept:
        the strongest of all are the model.
        """
        wanted = self.wanted(vocabulary)
        if count_both(paths.stable, weights) <= wanted:
            return weights
        return np.where(self.strongest(paths, vocabulary, weights, wanted), weights, 0.0)

    def level(
        self, paths: Paths, vocabulary: Vocabulary, before: np.ndarray, after: np.ndarray
    ) -> None:
        """Let slots that went and those that came for them stand where the last one stood before.

        Refits on other rows take now the ones, now the others.
        """
        saliences, mean = self._of_columns(paths, vocabulary), paths.feature("mean")
        cut = float(salient(mean, saliences)[before].min(initial=np.inf))
        gone, back = np.setdiff1d(before, after), np.setdiff1d(after, before)
        for slots, share in ((gone, 1 - HARDLY), (back, 1 - HARDLY / 2)):
            mine = saliences[slots]  # 0 where values are so small that their squares vanish
            means = np.divide(share * cut, mine, out=np.zeros_like(mine), where=mine > 0)
            mean[slots] = np.copysign(means, mean[slots])

    def _average(self, paths: Paths, stable: np.ndarray) -> np.ndarray:
        """Update the running means; return the mean weights of the stage."""
        selecting = self.timetable.endless and has_fitting(paths)
        weights, bias = mean_weights(paths, selecting=selecting)
        newest = self._newest(paths.stage.number)
        follow_weights(weights, stable, newest, paths.feature("mean"))
        bias_mean = paths.features["bias_mean"]
        bias_mean += newest * (bias - bias_mean)
        return weights

    def _newest(self, stage: int) -> float:
        """Return the share of the newest stage in running means."""
        memory = STREAM_MEMORY if self.timetable.endless else MEMORY
        return max(1.0 - memory, 1.0 / stage)

    def _purge(self, paths: Paths, vocabulary: Vocabulary, stable: np.ndarray) -> np.ndarray:
        """Purge all but the most salient of the stable features; return the mask of those."""
        mean, saliences = paths.feature("mean"), self._saliences(paths, vocabulary)
        kept = self._kept(paths, vocabulary, stable, salient(mean, saliences))
        gone = stable > kept
        if self._has_all_rows(paths):
            last = paths.stage.number == self.timetable.n_stages
            self._note(paths, vocabulary, np.flatnonzero(stable if last else gone), saliences)
        paths.purge(gone)
        return kept

    def _note(
        self, paths: Paths, vocabulary: Vocabulary, judged: np.ndarray, saliences: np.ndarray
    ) -> None:
        """Let the means of features that are judged for the last time tell how they stood.

        Nobody will know the gradients that they have had: scores are told by columns from now on.
        """
        if not paths.stage.few_speak:
            of_columns = paths.of(vocabulary["squares"])[judged] ** COLUMN_SALIENCE
            said = of_columns > 0  # or squares are too small to be told from none
            paths.feature("mean")[judged[said]] *= saliences[judged[said]] / of_columns[said]

    def _kept(
        self, paths: Paths, vocabulary: Vocabulary, stable: np.ndarray, scores: np.ndarray
    ) -> np.ndarray:
        """Return the mask of the features with the highest scores, and of those not judged yet."""
        stage, n_stages = paths.stage.number, self.timetable.n_stages
        size = shrinking_size(len(vocabulary), self.wanted(vocabulary), stage, n_stages)
        judged = self._judged(paths, vocabulary, stable)
        kept = strongest(scores, judged, columns_in(paths, vocabulary), size)
        return kept if judged is stable else kept | (stable > judged)

    def _judged(self, paths: Paths, vocabulary: Vocabulary, stable: np.ndarray) -> np.ndarray:
        """Return the mask of the features that have had their chance.

        One that appeared during the stage has not, nor has one of a stream that occurs in so few
        rows that nobody could tell, unless the selection ends.
        """
        first_fresh = paths.first_fresh
        early = paths.stage.number < self.timetable.n_stages
        waits = self.waits and self.timetable.endless and early
        if not waits and first_fresh == stable.size:
            return stable
        judged = stable & alone.can_be_judged(paths, vocabulary) if waits else stable.copy()
        judged[first_fresh:] = False
        return judged

    def _saliences(self, paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
        """Return c_j of every feature, as it is judged now: 1 where few speak.

        Squared gradients are small on rows that others tell already, and large on those that nobody
        does: what a feature says counts where it is needed.
        """
        if not self._has_all_rows(paths):
            return self._of_columns(paths, vocabulary)
        if paths.stage.few_speak:
            return np.ones(paths.n_slots)
        of_gradients, of_columns = self.salience
        if "columns" not in paths.notes:  # of rows that have been counted once and for all
            paths.notes["columns"] = paths.of(vocabulary["squares"]) ** of_columns
        gradients = np.maximum(paths.tallied("squares").astype(np.float64), LEAST_SQUARE)
        return gradients**of_gradients * paths.notes["columns"]

    def _has_all_rows(self, paths: Paths) -> bool:
        """Return whether features are being selected on rows that are known to the last one."""
        return not self.timetable.endless and self.timetable.selects(paths.stage.number)

    def _of_columns(self, paths: Paths, vocabulary: Vocabulary) -> np.ndarray:
        """Return c_j of every feature by its column: 1 where frequent ones have no more to say.

        A stream's steps are long, and single rows make weights of features that say nothing. Less
        counts what might be chance, if all rows have been asked what each feature says alone; and
        where rows are noisy, so that short steps lead, more counts how often features say it.
        """
        salience = CAREFUL_SALIENCE if paths.stage.careful else COLUMN_SALIENCE
        saliences = paths.of(vocabulary["squares"]) ** (0.0 if paths.stage.few_speak else salience)
        if self.timetable.endless and alone.have_all_told(paths):
            said = np.maximum(alone.certainties(paths, vocabulary), LEAST)
            saliences *= said / np.hypot(said, self.doubtful)
        return saliences

    def _gravity(
        self, paths: Paths, stable: np.ndarray, share: float, rate: float
    ) -> tuple[float, float]:
        """Return the rejection rate of the next stage, and the gravity that gives it."""
        # a stream passes once, and cannot spare what gravity takes from every update
        if self.timetable.endless or rate == 0:
            return 0.0, 0.0
        rate = annealed_rejection_rate(share, rate, 0.0)
        ratios = [unit.pooled_ratios(stable) for unit in units_of(paths)]
        return rate, gravity_for(np.concatenate(ratios), rate)

    def _choose_members(self, paths: Paths, vocabulary: Vocabulary) -> None:
        """Tell the paths that fit which features are the strongest now; note what they have."""
        mean = paths.feature("mean")
        chosen = self.strongest(paths, vocabulary, mean, self.wanted(vocabulary))
        for unit in units_of(paths):
            unit.set_members(chosen, mean)
        weights, bias = mean_weights(paths, fitting=True)
        newest, fitted = self._newest(paths.stage.number), paths.scattered["fitted"]
        followed = follow_members(fitted.slots, fitted.numbers, chosen, weights, newest)
        paths.scattered["fitted"] = Scattered(*followed)
        bias_fitted = paths.features["bias_fitted"]
        bias_fitted += newest * (bias - bias_fitted)
