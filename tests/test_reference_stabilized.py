"""The staged learners' twin by hand, and against plain SGD where the two must agree."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import reference
from reference_stabilized import Stage, stabilized

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
    assert_array_equal(fit.evidence, [1.0, 0.0])
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
    assert_array_equal(informative.evidence, [1.0, 1.0, 1.0])
    assert_array_equal(every.stable, [True, True, False])
    assert_array_equal(every.evidence, [1.0, 1.0, 0.0])


def test_evidence_gathers_over_stages_until_it_suffices():
    settings = {"min_evidence": 1, "burst_growth": None}
    assert fit_tiny([0, 1] * 2, **settings).stable.all()  # one burst after the first stage
    assert_array_equal(fit_tiny([0, 1] * 3, **settings).stable, [True, False])


def test_counts_start_anew_after_a_verdict():
    X, y = np.vstack([TINY[:, :2], [[1.0, 0.0]]]), np.array([1.0, 1.0, -1.0])
    fit = fit_tiny([0, 1, 0, 1, 2, 2], X=X, y=y, burst_growth=None)
    # The first feature was selected in stage 2; the last two rows take its weight back to 0.
    assert [stage.stable for stage in fit.history] == [2, 1, 0]
    assert_array_equal(fit.evidence, [0.0, 0.0])


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
        assert_array_equal(pair.evidence, alone.evidence)
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
