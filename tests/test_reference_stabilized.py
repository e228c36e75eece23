"""The staged learners' twin by hand, and against plain SGD where the two must agree."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import reference
from reference_stabilized import Stage, stabilized, thresher

# Two rows of one class. With the hinge loss, step 1/4 and no intercept every number below is a
# fraction that floats hold exactly; the third column never occurs.
TINY = np.array([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0]])
BOTH_POSITIVE = np.array([1.0, 1.0])


def steady(n, eta, bias=0.0):
    return {"etas": np.full(n, eta), "biases": np.full(n, bias)}


def all_ones(n_paths):
    return lambda b: np.ones(n_paths)


# ---------------------------------------------------------------------------------- stabilized

PAPER = {
    "loss": "hinge",
    "burst_size": 2,
    "bursts_per_stage": 1,
    "rejection_rate": 1.0,
    "annealing_rate": 0.0,
    "purge_threshold": 0.7,
    "min_evidence": 0,
    "burst_growth": 0.5,
    "selection": "informative",
    "shrinkage": "linear",
}


def fit_tiny(order, X=TINY[:, :2], y=BOTH_POSITIVE, n_paths=1, burst_weights=None, **changes):
    return stabilized(
        X,
        y,
        [order] * n_paths,
        burst_weights=burst_weights or all_ones(n_paths),
        **steady(len(order), 0.25),
        **PAPER | changes,
    )


def test_stabilized_by_hand():
    fit = fit_tiny([0, 1, 0, 1, 1])
    # Stage 1: w = (1/2, 1/8), ratios 1/4, 1/8; all are rejected, so gravity is 1/4.
    # Stage 2: w = (1, 1/4) shrinks by (2/4, 1/4): the second feature is 0 and is purged, d = 1/2.
    # One row is left in an open burst: 1/2 + 1/4, shown less 1/4.
    assert fit.history == [
        Stage(rows=2, stable=2, nonzero=2, rejection_rate=1.0, gravity=0.25, burst_size=2),
        Stage(rows=4, stable=1, nonzero=1, rejection_rate=0.5, gravity=0.25, burst_size=3),
    ]
    assert_array_equal(fit.coef, [0.5, 0.0])
    assert_array_equal(fit.stable, [True, False])
    assert_array_equal(fit.selection_probability, [1.0, 0.0])
    assert fit.intercept == 0.0


def test_stabilized_pools_only_features_that_are_still_stable():
    # The second stage's ratios are 1/4 and 1/8, and beta is 1/2 in both: with the second feature
    # purged 1/4 is the median of what remains, otherwise 1/8 is that of both.
    purged = fit_tiny([0, 1, 0, 1], rejection_rate=1.0)
    kept = fit_tiny([0, 1, 0, 1], rejection_rate=0.5, purge_threshold=0)
    assert [fit.history[-1].rejection_rate for fit in (purged, kept)] == [0.5, 0.5]
    assert [fit.history[-1].gravity for fit in (purged, kept)] == [0.25, 0.125]


def test_stabilized_pools_one_stage_at_a_time():
    weights = np.array([2.0, 1.0])
    fit = fit_tiny([0, 1, 0, 1], purge_threshold=0, burst_weights=lambda b: weights[[b]])
    # Double steps reach w = (1, 1/4) in the first stage, and the hinge has nothing left to learn.
    assert [stage.gravity for stage in fit.history] == [0.5, 0.0]


def test_stabilized_shrinks_by_the_root_of_touches():
    fit = fit_tiny([0, 1, 0, 1], shrinkage="sqrt")
    # Ratios (1/2) / sqrt(2) and 1/8; the first is the gravity of stage 2, times sqrt(2) on w_0.
    assert_allclose(fit.history[0].gravity, 0.5 / math.sqrt(2))
    assert_allclose(fit.coef, [0.5, 0.0])


def test_selection_every_judges_features_that_never_occur():
    informative, every = (
        fit_tiny([0, 1, 0, 1], X=TINY, purge_threshold=0.0001, rejection_rate=0.5, selection=s)
        for s in ("informative", "every")
    )
    assert_array_equal(informative.stable, [True, True, True])
    assert_array_equal(informative.selection_probability, [1.0, 1.0, 1.0])
    assert_array_equal(every.stable, [True, True, False])
    assert_array_equal(every.selection_probability, [1.0, 1.0, 0.0])


def test_evidence_gathers_over_stages_until_it_suffices():
    settings = {"min_evidence": 1, "burst_growth": None}
    assert fit_tiny([0, 1] * 2, **settings).stable.all()  # one burst after the first stage
    assert_array_equal(fit_tiny([0, 1] * 3, **settings).stable, [True, False])


def test_counts_start_anew_after_a_verdict():
    X, y = np.vstack([TINY[:, :2], [[1.0, 0.0]]]), np.array([1.0, 1.0, -1.0])
    fit = fit_tiny([0, 1, 0, 1, 2, 2], X=X, y=y, burst_growth=None)
    # The first feature was selected in stage 2; the last two rows take its weight back to 0.
    assert [stage.stable for stage in fit.history] == [2, 1, 0]
    assert_array_equal(fit.selection_probability, [0.0, 0.0])


def test_a_probability_at_the_threshold_is_enough():
    assert_array_equal(fit_tiny([0, 1, 0, 1], purge_threshold=1.0).stable, [True, False])


class CountedOnes:
    """Weight 1 for the only path, and a list of the bursts that asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, b):
        self.asked.append(b)
        return np.ones(1)


def test_bursts_are_numbered_over_stages():
    ones = CountedOnes()
    fit_tiny([0, 1] * 3 + [0], burst_weights=ones, burst_growth=None)
    assert ones.asked == [0, 1, 2, 3]


def test_training_stops_when_everything_is_purged():
    ones = CountedOnes()
    fit = fit_tiny([0, 1] * 5, purge_threshold=1.1, burst_weights=ones)
    assert ones.asked == [0, 1]
    assert [stage.rows for stage in fit.history] == [2, 4]
    assert_array_equal(fit.coef, [0.0, 0.0])
    assert fit.history[-1] == Stage(4, 0, 0, rejection_rate=0.0, gravity=0.0, burst_size=2)


def test_a_path_of_weight_zero_stands_still_and_gives_no_evidence():
    order = [0, 1, 0, 1, 1]
    alone = fit_tiny(order)
    for selection in ("informative", "every"):
        pair = fit_tiny(
            order, n_paths=2, burst_weights=lambda b: np.array([1.0, 0.0]), selection=selection
        )
        assert_array_equal(pair.coef, alone.coef / 2)
        assert_array_equal(pair.selection_probability, alone.selection_probability)
        assert pair.history == alone.history


def test_a_bursts_weight_multiplies_its_steps():
    doubled = fit_tiny([0], burst_weights=lambda b: np.array([2.0]))
    assert_array_equal(doubled.coef, [0.5, 0.0])


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_hinge", "modified_huber"])
def test_stabilized_before_its_first_stage_ends_is_the_mean_of_sgd_paths(loss):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 8)), rng.choice([-1.0, 1.0], size=60)
    orders, pace = [rng.permutation(60), rng.permutation(60)], steady(60, 0.1, bias=0.7)
    pace["weights"] = rng.uniform(0.5, 2, size=60)
    settings = PAPER | {"loss": loss, "bursts_per_stage": 31}
    fit = stabilized(X, y, orders, burst_weights=all_ones(2), **pace, **settings)
    paths = [reference.sgd(X, y, o, loss=loss, **pace) for o in orders]
    assert fit.history == []
    assert_allclose(fit.coef, np.mean([coef for coef, _ in paths], axis=0), rtol=1e-12)
    assert_allclose(fit.intercept, np.mean([intercept for _, intercept in paths]), rtol=1e-12)


# ------------------------------------------------------------------------------------ thresher


def fit_thresher(X, y, order, *, refit_eta=0.03125, burst_weights=None, n_paths=1, **settings):
    return thresher(
        X,
        y,
        [order] * n_paths,
        loss="hinge",
        n_features_to_select=1,
        rejection_rate=0.5,
        select_etas=np.full(len(order), 0.25),
        refit_etas=np.full(len(order), refit_eta),
        biases=np.zeros(len(order)),
        burst_weights=burst_weights or all_ones(n_paths),
        **settings,
    )


def test_thresher_selects_by_hand():
    X, y = np.diag([1.0, 0.5, 0.25, 0.125]), np.ones(4)
    fit = fit_thresher(X, y, [0, 1, 2, 3] * 2, n_stages=2, bursts_per_stage=1, refit=0, updates=8)
    # Bursts of 4, each feature touched once; targets 2 and 1; saliency |w_j| sqrt(x_jj).
    # Stage 1: w = (8, 4, 2, 1)/32, two remain, ratios 1/4 and 1/8 at beta 1/4: gravity 1/8.
    # Stage 2: w = (1/2, 1/4) - 1/8; only 3/8 exceeds the threshold 1/4 of the stage's start, and
    # probabilities begin with this stage.
    assert fit.history == [
        Stage(rows=4, stable=2, nonzero=2, rejection_rate=0.25, gravity=0.125, burst_size=4),
        Stage(rows=8, stable=1, nonzero=1, rejection_rate=0.125, gravity=0.25, burst_size=4),
    ]
    assert_array_equal(fit.coef, [0.375, 0.0, 0.0, 0.0])
    assert_array_equal(fit.stable, [True, False, False, False])
    assert_array_equal(fit.selection_probability, [1.0, 0.0, 0.0, 0.0])


def test_thresher_counts_features_that_occur_and_takes_the_root_of_touches():
    settings = {"n_stages": 2, "bursts_per_stage": 1, "refit": 0, "updates": 4}
    first, _ = fit_thresher(TINY, BOTH_POSITIVE, [0, 1] * 2, **settings).history
    assert first.stable == 1  # round(sqrt(2)): the third column is not there to be purged
    assert_allclose(first.gravity, 0.5 / math.sqrt(2))
    assert first.rejection_rate == 0.25


@pytest.mark.parametrize(("rare", "winner"), [(0.9, 1), (1.2, 0)])
def test_saliency_weighs_by_the_root_of_the_columns_norm(rare, winner):
    # A value seen once against 0.1 seen 16 times: |w_j| c_j goes as rare^1.5 to 16^1.25 0.1^1.5,
    # equal at rare = 1.008; |w_j| alone would be equal at 1.6, with the full norm at 0.8.
    X = np.zeros((17, 2))
    X[0, 0], X[1:, 1] = rare, 0.1
    settings = {"n_stages": 1, "bursts_per_stage": 1, "refit": 0, "updates": 17}
    fit = fit_thresher(X, np.ones(17), np.arange(17), **settings)
    assert_array_equal(np.flatnonzero(fit.stable), [winner])


def test_thresher_refit_averages_the_late_bursts():
    settings = {"n_stages": 1, "bursts_per_stage": 1, "refit": 0.8, "updates": 10}
    fit = fit_thresher(TINY, BOTH_POSITIVE, [0, 1] * 5, **settings)
    # Bursts of 2. Selecting ends at w = (1/2, 1/8), of which the first is kept. Four bursts refit
    # it without gravity to 9/16, 10/16, 11/16, 12/16, and the first of them is left out.
    assert_array_equal(fit.coef, [0.6875, 0.0, 0.0])
    assert_array_equal(fit.stable, [True, False, False])


def test_thresher_refits_at_least_one_burst():
    settings = {"n_stages": 1, "bursts_per_stage": 1, "refit": 0.1, "updates": 2}
    fit = fit_thresher(TINY, BOTH_POSITIVE, [0, 1] * 2, **settings)
    assert_array_equal(fit.coef, [0.5625, 0.0, 0.0])


def test_thresher_asks_paths_that_let_a_burst_go_by():
    settings = {"n_stages": 1, "bursts_per_stage": 2, "refit": 0, "updates": 4, "n_paths": 2}
    fit = fit_thresher(
        TINY, BOTH_POSITIVE, [0, 1] * 2, burst_weights=lambda b: np.array([1.0, 0.0]), **settings
    )
    assert_array_equal(fit.selection_probability, [0.5, 0.0, 0.0])
    assert_array_equal(fit.coef, [0.5, 0.0, 0.0])


def test_thresher_breaks_ties_by_column():
    X, y = np.array([[0.0, 1.0, 1.0]]), np.ones(1)
    fit = fit_thresher(X, y, [0], n_stages=1, bursts_per_stage=1, refit=0, updates=1)
    assert_array_equal(fit.stable, [False, True, False])


def test_thresher_that_wants_more_than_occurs_keeps_what_occurs():
    common = {"loss": "hinge", "n_stages": 2, "bursts_per_stage": 1, "rejection_rate": 0.0}
    etas = {"select_etas": np.full(4, 0.25), "refit_etas": np.zeros(4), "biases": np.ones(4)}
    fit = thresher(
        TINY,
        BOTH_POSITIVE,
        [[0, 1, 0, 1]],
        n_features_to_select=3,
        refit=0,
        updates=4,
        burst_weights=all_ones(1),
        **common,
        **etas,
    )
    coef, intercept = reference.sgd(
        TINY, BOTH_POSITIVE, [0, 1, 0, 1], loss="hinge", **steady(4, 0.25, bias=1.0)
    )
    assert_array_equal(fit.stable, [True, True, False])
    assert_allclose(fit.coef, coef)
    assert_allclose(fit.intercept, intercept)
