"""A stream's long and short steps, which features it judges, and what counts for less there."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import log_loss

import thresher
from cases import make_streaming
from golden.make import golden_rows
from test_golden_files import GOLDEN
from thresher import ThresherClassifier
from thresher.kernels.bundle import Rules
from thresher.kernels.losses import LOG_LOSS
from thresher.kernels.parted import run_parted
from thresher.kernels.rows import Rows, Updates
from thresher.learners import alone
from thresher.learners.adaptive_paths import gather, mean_weights, units_of
from thresher.learners.adaptive_unit import AdaptiveUnit
from thresher.learners.judge import COLUMN_SALIENCE, DOUBTFUL
from thresher.learners.striding import MEMORY, SHORT, let_lead, strides

FAMILY = [16, 8, 5, 4, 3, 2, 1]


def unit_of(lanes, dtype="float32", n_slots=6):
    unit = AdaptiveUnit(lanes, np.dtype(dtype))
    unit.grow(n_slots, False)
    return unit


def words(n=2000, p=400, wrong=0.0, seed=0):
    """Return rows of ten marks each, a few of which tell their class, and some labels wrong."""
    rng = np.random.default_rng(seed)
    columns = rng.choice(p, (n, 10), p=np.arange(1.0, p + 1)[::-1] / np.arange(1, p + 1).sum())
    rows = sparse.csr_array(
        (np.ones(10 * n), columns.ravel(), np.arange(0, 10 * n + 1, 10)), (n, p)
    )
    rows.sum_duplicates()
    margins = rows @ rng.normal(0, 2, p)
    labels = np.where(margins > np.median(margins), 1, 0)
    return rows, np.where(rng.random(n) < wrong, 1 - labels, labels)


def state_of(model):
    return model._model.problems[0].state


# ------------------------------------------------------------------------------------------- steps


@pytest.mark.parametrize("lanes", FAMILY)
def test_half_of_those_that_select_take_short_steps_and_half_of_those_that_fit(lanes):
    unit = unit_of(lanes)
    lengths, counts = strides(unit, 0.25, 2.0)
    fitting = unit.fitting.start
    for half, usual in ((slice(fitting), 1.0), (slice(fitting, None), 2.0)):
        mine, theirs = lengths[half], counts[half]
        assert set(mine) <= {usual, usual * 0.25}
        assert np.count_nonzero(mine == usual) - np.count_nonzero(mine != usual) in (0, 1)
        assert theirs.sum() == pytest.approx(0)
        if mine.size > 1:
            assert_array_equal(theirs > 0, mine == usual)
        else:
            assert not theirs.any()  # who is alone is compared with nobody


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lanes", [5, 4, 3])
def test_every_row_is_judged_by_all_paths_before_it_is_learnt(lanes, dtype):
    rng = np.random.default_rng(1)
    unit = unit_of(lanes, dtype)
    unit.arrays["weights"][:6, :lanes] = rng.normal(size=(6, lanes))
    unit.arrays["places"][:6] = 1
    unit.arrays["bias"][0, :lanes] = rng.normal(size=lanes)
    weights, bias = unit.arrays["weights"][:6, :lanes].copy(), unit.arrays["bias"][0, :lanes]
    dense = rng.normal(size=(20, 6)).astype(dtype)
    rows = Rows(np.arange(21) * 6, np.tile(np.arange(6, dtype=np.uint32), 20), dense.ravel())
    ones, targets = np.ones(20), np.where(rng.random(20) < 0.5, -1.0, 1.0)
    importance = rng.random(20)
    still = Updates(np.arange(20), 0.0 * ones, ones, ones, targets, importance)  # nobody moves
    unit.make_ready(True, False, False, True)
    takes = np.full((4, lanes), 1.25)
    takes[:, 1] = 0.0  # who lets a burst pass judges its rows all the same
    lengths, counts = strides(unit, SHORT, 2.0)
    shares = unit.shares(takes, (lengths, counts))
    rules = Rules(LOG_LOSS, 5, 0.0, 0.5, False, 0, 4, False, True)
    assert run_parted(rows, still, rules, 0, shares, unit.kernel_view()) == 20
    slopes = expit(-targets[:, None] * (dense @ weights + bias))
    expected = importance @ (slopes**2 @ counts)
    assert_allclose(unit.arrays["behind"][0], expected, rtol=1e-4)


def test_who_erred_less_leads_and_what_was_long_ago_is_forgotten():
    learner = ThresherClassifier(random_state=0)
    learner.partial_fit(*words(50), classes=[0, 1])
    paths = state_of(learner)
    (unit,) = units_of(paths)
    unit.arrays["weights"][...] = np.arange(unit.arrays["weights"].shape[1])
    for behind, careful, mean in ((3.0, True, 5.5), (-0.5, False, 1.5)):
        unit.arrays["behind"][0] = behind
        let_lead(paths)
        assert paths.stage.careful == careful
        assert unit.arrays["behind"][0] == MEMORY * behind
        assert_allclose(mean_weights(paths, selecting=True)[0], mean)


@pytest.mark.jit
@pytest.mark.parametrize(("wrong", "careful"), [(0.0, False), (0.35, True)])
def test_short_steps_lead_where_rows_are_noisy(wrong, careful):
    model = make_streaming("ThresherClassifier", n_paths=16, n_features_to_select=100)
    model.partial_fit(*words(8000, wrong=wrong), classes=[0, 1])
    assert state_of(model).stage.careful == careful


@pytest.mark.jit
def test_noisy_rows_are_learnt_better_than_by_long_steps():
    class Bold(ThresherClassifier):
        def _learner(self, n_rows):
            return replace(super()._learner(n_rows), short=1.0)

    rows, labels = words(8000, wrong=0.15)
    losses = []
    for kind in (ThresherClassifier, Bold):
        model = kind(n_features_to_select=200, random_state=0)
        model.partial_fit(rows[:4000], labels[:4000], classes=[0, 1])
        losses.append(log_loss(labels[4000:], model.predict_proba(rows[4000:])))
    assert losses[0] < losses[1] - 0.02


def test_all_paths_go_on_from_those_that_lead_when_the_selection_ends():
    model = ThresherClassifier(n_features_to_select=5, random_state=0)
    paths = state_of(model.partial_fit(*words(300), classes=[0, 1]))
    paths.stage.careful = True
    expected, bias = mean_weights(paths, fitting=True)
    gather(paths)
    (unit,) = units_of(paths)
    lines = unit.arrays["weights"][: unit.arrays.n_slots]
    assert_array_equal(lines, np.repeat(expected.astype(np.float32)[:, None], 16, axis=1))
    assert np.count_nonzero(lines[:, 0]) == 5
    assert_allclose(unit.arrays["bias"][0], bias)


def test_a_fit_that_knows_its_rows_compares_nothing():
    model = make_streaming("ThresherClassifier").fit(*words(120))
    assert not state_of(model).stage.careful
    assert not any(unit.arrays["behind"].any() for unit in units_of(state_of(model)))


@pytest.mark.parametrize("version", [2, 3, 4, 5, 6])
def test_older_states_go_on_with_long_steps_in_the_lead(version):
    model = thresher.load(GOLDEN / f"flagship-state-v{version}.thresher")
    assert not state_of(model).stage.careful
    assert not units_of(state_of(model))[0].arrays["behind"].any()
    model.partial_fit(golden_rows()[50:], np.arange(10) % 2)
    assert np.isfinite(model.decision_function(golden_rows())).all()


# ----------------------------------------------------------------------------------------- judging


def test_features_are_judged_when_they_have_occurred_in_enough_rows():
    rows, labels = words(600, seed=1)
    labels[::3] = 0  # the other class is rarer
    model = make_streaming("ThresherClassifier").partial_fit(rows, labels, classes=[0, 1])
    inner = model._model
    known = alone.can_be_judged(state_of(model), inner.vocabulary)
    counts = np.diff(rows.tocsc().indptr)[inner.vocabulary["columns"]]
    assert_array_equal(known, counts * labels.mean() >= alone.ENOUGH_ROWS)
    assert 0 < np.count_nonzero(known) < known.size


@pytest.mark.parametrize("waits", [True, False])
def test_rare_features_stay_until_they_can_be_judged(waits):
    class Stream(ThresherClassifier):
        def _learner(self, n_rows):
            return replace(super()._learner(n_rows), waits=waits)

    rows, labels = words(900, p=1000)
    model = Stream(n_features_to_select=5, random_state=0)
    model.partial_fit(rows, labels, classes=[0, 1])
    assert state_of(model).stage.number > 5
    counts = np.diff(rows.tocsc().indptr)
    rare = (counts > 0) & (counts * min(labels.mean(), 1 - labels.mean()) < alone.ENOUGH_ROWS)
    assert 50 < np.count_nonzero(rare) < 900
    assert model.stable_[rare].all() == waits
    assert not model.stable_[~rare].all()


def test_when_the_selection_ends_all_are_judged():
    rows, labels = words(1000, p=1000)
    model = ThresherClassifier(n_features_to_select=5, n_stages=2, random_state=0)
    model.partial_fit(rows, labels, classes=[0, 1])
    assert state_of(model).stage.number > 2
    seen = np.diff(rows[:100].tocsc().indptr) > 0
    assert np.count_nonzero(seen) > 300
    assert 0 < np.count_nonzero(model.stable_ & seen) <= 5


def test_what_might_be_chance_counts_for_less_on_a_stream():
    rows, labels = words(300)
    model = make_streaming("ThresherClassifier").partial_fit(rows, labels, classes=[0, 1])
    paths, vocabulary, judge = state_of(model), model._model.vocabulary, model._model.learner.judge
    ones = np.ones(len(vocabulary))
    known = vocabulary["squares"] ** COLUMN_SALIENCE
    said = alone.certainties(paths, vocabulary)
    assert said.min() < 0.2
    assert said.max() > 3
    expected = known * np.maximum(said, 0.01) / np.hypot(said, DOUBTFUL)
    assert_allclose(judge.scores(paths, vocabulary, ones), expected, rtol=1e-3)
    paths.features["pull_facts"][0] -= 1  # somebody has not been heard
    assert_array_equal(judge.scores(paths, vocabulary, ones), known)


def test_where_short_steps_lead_frequent_features_count_for_more():
    rows, labels = words(300)
    model = make_streaming("ThresherClassifier").partial_fit(rows, labels, classes=[0, 1])
    paths, vocabulary, judge = state_of(model), model._model.vocabulary, model._model.learner.judge
    ones = np.ones(len(vocabulary))
    usual = judge.scores(paths, vocabulary, ones)
    paths.stage.careful = True
    ratios = judge.scores(paths, vocabulary, ones) / usual
    assert_allclose(ratios, vocabulary["squares"] ** 0.3)
