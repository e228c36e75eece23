"""What a size is worth: folds, calibrated margins, and the rule that picks one."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from cases import labelled_rows
from size_cases import FEW
from thresher import ThresherClassifier
from thresher.data.vocabulary import Vocabulary
from thresher.estimators.decisions.sizing import usual_sizes
from thresher.learners.timetable import fixed_timetable
from thresher.train import Passes
from thresher.train.feed import Batch
from thresher.train.folds import stratified_folds
from thresher.train.judges import ClassJudge
from thresher.train.platt import calibrated, log_losses
from thresher.train.shrinking import Plan, ShrinkingRun, Sight
from thresher.train.size_rule import Leniency, Losses, smallest_good
from thresher.train.sizing import Trial, judge_size
from thresher.workers import Workers


class TestCalibration:
    margins = np.random.default_rng(0).normal(size=20_000)
    chance = np.random.default_rng(1).random(20_000)

    def test_scale_and_shift_are_found(self):
        targets = np.where(self.chance < expit(2 * self.margins - 1), 1.0, -1.0)
        found = calibrated(self.margins, targets, np.ones(targets.size))
        assert_allclose(found, 2 * self.margins - 1, atol=0.2)

    def test_units_of_margins_do_not_matter(self):
        targets = np.where(self.chance < expit(self.margins), 1.0, -1.0)
        weights = np.ones(targets.size)
        found = calibrated(self.margins, targets, weights)
        assert_allclose(calibrated(1e-6 * self.margins, targets, weights), found, atol=1e-3)

    def test_a_weight_of_two_counts_as_two_rows(self):
        targets = np.where(self.chance < expit(self.margins), 1.0, -1.0)
        weights = 1.0 + (np.arange(targets.size) % 3 == 0)
        twice = np.repeat(np.arange(targets.size), weights.astype(int))
        once = calibrated(self.margins, targets, weights)[twice]
        assert_allclose(
            calibrated(self.margins[twice], targets[twice], np.ones(twice.size)), once, atol=1e-3
        )

    @pytest.mark.parametrize("margins", [[-3.0, -1, 1, 3], [0.0, 0, 0, 0], [3.0, 1, -1, -3]])
    def test_perfect_and_empty_margins_stay_finite(self, margins):
        targets = np.array([-1.0, -1, 1, 1])
        found = calibrated(np.array(margins), targets, np.ones(4))
        assert np.isfinite(found).all()
        # it knows at least as much as a coin, and margins never speak for the other class
        assert (np.diff(found) * np.diff(margins) >= 0).all()
        assert log_losses(found, targets).mean() <= np.log(2) + 1e-9


class TestFolds:
    labels = np.repeat([0, 1, 2], [41, 17, 2])

    def test_every_row_is_held_out_once(self):
        folds = stratified_folds(self.labels, 4, seed=5)
        assert_array_equal(np.sort(np.concatenate([f.held for f in folds])), np.arange(60))
        for fold in folds:
            assert_array_equal(np.sort(np.r_[fold.training, fold.held]), np.arange(60))

    def test_classes_are_dealt_out_evenly(self):
        counts = [np.bincount(self.labels[f.held], minlength=3) for f in self.folds()]
        assert np.ptp(counts, axis=0).max() <= 1
        assert np.ptp(np.sum(counts, axis=1)) <= 1

    def test_the_seed_decides(self):
        assert_array_equal(self.folds()[0].held, self.folds()[0].held)
        assert not np.array_equal(self.folds()[0].held, stratified_folds(self.labels, 4, 6)[0].held)

    def folds(self):
        return stratified_folds(self.labels, 4, seed=5)


ROWS = 400
NOISE = np.where(np.arange(ROWS) % 2, 1.0, -1.0)  # what hard rows lose more than easy ones
OTHER_NOISE = np.where(np.arange(ROWS) % 4 < 2, 1.0, -1.0)  # has nothing to do with that
ONE_ERROR = Leniency(errors=1.0, paired=False)


def losses(means, shared=0.4, own=0.0, nothing=0.7):
    """Return losses with such means; sizes but the best differ from it by noise of their own."""
    means = np.array(means)
    by_size = means[:, np.newaxis] + shared * NOISE + own * OTHER_NOISE
    by_size[means.argmin()] -= own * OTHER_NOISE
    return Losses(by_size, np.full(ROWS, nothing), np.ones(ROWS))


class TestTheRule:
    means = (0.5, 0.321, 0.319, 0.3, 0.31)

    def test_one_standard_error_is_that_of_the_best_loss(self):
        verdict = smallest_good(losses(self.means), ONE_ERROR)  # 0.4 / 20
        assert (verdict.best, verdict.chosen, verdict.share) == (3, 2, None)
        assert verdict.margin == pytest.approx(0.02)
        assert smallest_good(losses([0.31, 0.5, 0.3]), ONE_ERROR).chosen == 0

    def test_what_all_sizes_lose_on_the_same_rows_says_nothing_of_them(self):
        paired = Leniency(errors=2.0, paired=True)
        assert smallest_good(losses(self.means), paired).chosen == 3
        verdict = smallest_good(losses(self.means, own=0.2), paired)  # 2 * 0.2 / 20
        assert (verdict.chosen, verdict.share) == (2, None)
        assert verdict.margin == pytest.approx(0.02)

    def test_it_has_words(self):
        assert ONE_ERROR.named == "a standard error"
        assert Leniency(2.0, paired=True).named == "2 standard errors of the difference"

    def test_a_share_of_what_is_explained_may_be_lost(self):
        verdict = smallest_good(losses(self.means), Leniency(2.0, paired=True, least=0.1))
        assert (verdict.chosen, verdict.share) == (1, 0.1)
        assert verdict.margin == pytest.approx(0.04)

    def test_no_more_than_a_share_may_be_lost_whatever_the_errors(self):
        verdict = smallest_good(losses(self.means, own=4.0), Leniency(2.0, paired=True, most=0.05))
        assert (verdict.chosen, verdict.share) == (2, 0.05)
        assert verdict.margin == pytest.approx(0.02)

    def test_where_nothing_is_known_the_smallest_will_do(self):
        lenient = Leniency(2.0, paired=True, least=0.01, most=0.05)
        unsure = losses((0.69, 0.695, 0.68), own=1.0)  # less than nothing by 0.02, error 0.02
        assert smallest_good(unsure, lenient).chosen == 0
        assert smallest_good(replace(unsure, nothing=np.full(ROWS, 0.75)), lenient).chosen == 2

    def test_how_much_better_than_nothing_the_best_must_be_is_a_matter_of_doubts(self):
        lenient = Leniency(2.0, paired=True, least=0.01, most=0.05)
        surer = losses((0.69, 0.695, 0.68), own=1.0, nothing=0.715)  # by 0.035, error 0.02
        assert smallest_good(surer, lenient).chosen == 2
        assert smallest_good(surer, replace(lenient, doubts=2.0)).chosen == 0

    def test_rows_count_by_their_weight(self):
        twice = np.repeat(np.arange(ROWS), 1 + np.arange(ROWS) % 3)
        all_rows = losses(self.means, own=0.2)
        weighted = replace(all_rows, weights=1.0 + np.arange(ROWS) % 3)
        repeated = Losses(all_rows.by_size[:, twice], all_rows.nothing[twice], np.ones(twice.size))
        assert weighted.best == repeated.best
        assert weighted.beyond(0, 3)[0] == pytest.approx(repeated.beyond(0, 3)[0])


def test_rows_count_by_their_weight():
    targets, weights = np.array([1.0, 1, -1, -1]), np.array([3.0, 3, 1, 1])
    batch = Batch(None, np.ones(4), weights)
    folds = stratified_folds(np.array([1, 1, 0, 0]), 2, seed=0)
    trial = Trial(range(7), batch, [targets], folds, ClassJudge())
    entropy = -0.75 * np.log(0.75) - 0.25 * np.log(0.25)
    lost, pooled = trial.nothing()  # as sure as few rows let it be
    assert np.average(lost, weights=pooled) == pytest.approx(entropy, abs=0.02)
    wrong = Sight(np.arange(2), np.array([-1.0, -1.0]))  # both rows of a fold are taken for -1
    judged, rows = judge_size(trial, [wrong, wrong], 2)
    assert judged["error"] == pytest.approx(0.75)
    assert judged["error_se"] == pytest.approx(np.sqrt(2 * 0.75**2 + 2 * 0.75**2) / 8)
    assert judged["log_loss"] == pytest.approx(np.average(rows, weights=pooled))
    assert_allclose(rows, lost)  # margins that are alike tell nothing
    assert (judged["nonzeros"], judged["stability"]) == (2, 1)


@pytest.mark.parametrize("sizes", [[1], [3, 40, 117], [3, 4, 5, 6, 120]])
def test_every_size_is_looked_at_once_and_while_there_are_enough_features(sizes):
    due = Plan(sizes, 10, 100).due(120)
    assert len(due) == 11
    assert sorted(size for some in due for size in some) == sizes
    assert due[0] == [size for size in sizes if size == 120]


def test_sizes_suit_the_number_of_columns():
    assert usual_sizes(2) == ([1, 2], 1)
    assert usual_sizes(30)[0][:3] == [1, 2, 3]
    sizes, least = usual_sizes(50_000)
    assert (sizes[:6], sizes[-1], least) == ([1, 2, 3, 5, 7, 10], 1_500, 10)
    assert usual_sizes(123)[0][-1] == 123


@pytest.mark.jit
def test_what_is_held_out_has_no_say():
    rows, labels = labelled_rows(n=80)
    targets = np.where(labels > 0, 1.0, -1.0)
    fold = stratified_folds(labels, 4, seed=0)[1]
    upside_down = targets.copy()
    upside_down[fold.held] *= -1
    seen = [shrunk(rows, mine, fold) for mine in (targets, upside_down)]
    for size in (3, 10, 38):
        assert_array_equal(seen[0][size].margins, seen[1][size].margins)
        assert_array_equal(seen[0][size].slots, seen[1][size].slots)
        assert seen[0][size].slots.size == size
        assert seen[0][size].margins.size == fold.held.size
    flipped = targets.copy()
    flipped[fold.training] *= -1
    assert not np.array_equal(shrunk(rows, flipped, fold)[10].margins, seen[0][10].margins)


def shrunk(rows, targets, fold):
    """Return what one run sees on its way to three features."""
    estimator = ThresherClassifier(**FEW, n_features_to_select=3)
    estimator._seed = 1
    learner = replace(estimator._learner(60), timetable=fixed_timetable(500, 8, 0.0))
    vocabulary = Vocabulary(rows.shape[1], True)
    vocabulary.learn_by_frequency(rows)
    batch = Batch(*vocabulary.absorb(rows, np.dtype(np.float32)), np.ones(targets.size))
    passes = Passes(None, 0.0, True, 1)
    plan = Plan([3, 10, 38], 8, 200)
    return ShrinkingRun(learner, plan, vocabulary, batch, targets, fold, passes).run(Workers())
