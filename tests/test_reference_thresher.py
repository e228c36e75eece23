"""The flagship's twin, checked by hand: a twin that is wrong in the same way proves nothing."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference_thresher import thresher

TINY = np.array([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0]])
BOTH_POSITIVE = np.ones(2)


def fit(X, y, order, *, refit_eta=0.03125, burst_weights=None, n_paths=1, **settings):
    """A twin whose steps hardly shorten, so that numbers are round."""
    given = {
        "loss": "hinge",
        "n_features_to_select": 1,
        "rejection_rate": 0.5,
        "select_etas": np.full(len(order), 0.25),
        "growth": 1.0,
        "refit_etas": np.full(len(order), refit_eta),
        "biases": np.zeros(len(order)),
        "norms": np.ones(len(order)),
        "bounds": np.full((n_paths, len(order)), np.inf),
        "groups": [np.arange(n_paths)],
        "burst_weights": burst_weights or (lambda b: np.ones(n_paths)),
        "halving": 1e12,
        "powers": (0.0, 0.25),
    }
    return thresher(X, y, [order] * n_paths, **{**given, **settings})


def test_selects_by_hand():
    X, y = np.diag([1.0, 0.5, 0.25, 0.125]), np.ones(4)
    done = fit(X, y, [0, 1, 2, 3] * 2, n_stages=2, bursts_per_stage=1, refit=0, updates=8)
    # Bursts of 4, each feature touched once; targets 2 and 1. Stage 1: w = (8, 4, 2, 1)/32, two
    # remain. A feature touched once has |sum of gradients| / root of squares = 1: gravity 1.
    # Stage 2: w = (1/2, 1/4) pays gravity * eta * |x| = (1/4, 1/8); running means are
    # (1/4, 1/8) twice, and the first stays.
    assert [(s.stable, s.rejection_rate, s.gravity) for s in done.history] == [
        (2, 0.25, 1.0),
        (1, 0.125, 1.0),
    ]
    assert_allclose(done.coef, [0.25, 0.0, 0.0, 0.0])
    assert_array_equal(done.stable, [True, False, False, False])


def test_steps_shorten_with_the_squares_of_earlier_bursts():
    X, y = np.array([[1.0]]), np.ones(1)
    settings = {"n_stages": 1, "bursts_per_stage": 3, "refit": 0, "updates": 3, "halving": 0.5}
    done = fit(X, y, [0] * 3, **settings)
    # Gradients of -1: steps of 1/4, then over 1 + sqrt(1) / .5 = 3, then over 1 + sqrt(2) / .5.
    assert_allclose(done.coef, [0.25 * (1 + 1 / 3 + 1 / (1 + 2 * math.sqrt(2)))])


def test_steps_grow_over_the_stages():
    X, y = np.array([[0.5]]), np.ones(1)
    settings = {"n_stages": 3, "bursts_per_stage": 1, "refit": 0, "updates": 3, "growth": 4.0}
    done = fit(X, y, [0] * 3, rejection_rate=0.0, **settings)
    assert_allclose(done.coef, [0.25 * 0.5 * (1 + 2 + 4)])


def test_paths_that_let_a_burst_go_by_share_the_length_of_steps():
    X, y = np.array([[1.0]]), np.ones(1)
    turns = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    settings = {"n_stages": 1, "bursts_per_stage": 2, "refit": 0, "updates": 2, "halving": 0.5}
    done = fit(X, y, [0] * 2, n_paths=2, burst_weights=lambda b: turns[b], **settings)
    assert_allclose(done.coef, [(0.25 + 0.25 / 3) / 2])
    alone = {"groups": [np.array([0]), np.array([1])]}
    done = fit(X, y, [0] * 2, n_paths=2, burst_weights=lambda b: turns[b], **settings, **alone)
    assert_allclose(done.coef, [0.25])


@pytest.mark.parametrize(("rare", "winner"), [(0.9, 1), (1.2, 0)])
def test_saliency_weighs_by_the_root_of_the_columns_norm(rare, winner):
    # A value seen once against 0.1 seen 16 times: |w_j| c_j goes as rare^1.5 to 16^1.25 0.1^1.5,
    # equal at rare = 1.008; |w_j| alone would be equal at 1.6, with the full norm at 0.8.
    X = np.zeros((17, 2))
    X[0, 0], X[1:, 1] = rare, 0.1
    settings = {"n_stages": 1, "bursts_per_stage": 1, "refit": 0, "updates": 17}
    done = fit(X, np.ones(17), np.arange(17), **settings)
    assert_array_equal(np.flatnonzero(done.stable), [winner])


@pytest.mark.parametrize(("powers", "winner"), [((0.0, 0.5), 0), ((0.5, 0.0), 1)])
def test_saliency_weighs_by_gradients_where_rows_are_not_told_yet(powers, winner):
    # The first row is told at once: w_0 = .525, its one gradient 2.1. The other pulls four times:
    # w_1 = 1. Columns say .525 * 2.1 = 1.1 to 1, squared gradients .525 * 2.1 to 1 * 2.
    X = np.diag([2.1, 1.0])
    settings = {"n_stages": 1, "bursts_per_stage": 1, "refit": 0, "updates": 8}
    done = fit(X, np.ones(2), [0, 1] * 4, powers=powers, **settings)
    assert_array_equal(np.flatnonzero(done.stable), [winner])
    # what is left of it is told by columns: |mean| (sum x^2)^.2 is the score
    scores = np.abs(done.evidence) * np.array([2.1, 1.0]) ** 0.4
    assert_allclose(scores, [1.1025, 1.0 if powers[1] else 2.0])


def test_refit_averages_the_late_bursts():
    settings = {"n_stages": 1, "bursts_per_stage": 1, "refit": 0.8, "updates": 10}
    done = fit(TINY, BOTH_POSITIVE, [0, 1] * 5, refit_eta=0.03125, **settings)
    # Bursts of 2. Selecting ends at w = (1/2, 1/8), of which the first is kept. Four bursts refit
    # it without gravity, the first of them left out; steps are over 1, 1 + sqrt(2), ...
    steps = np.cumsum([0.0625 / (1 + math.sqrt(2 * b)) for b in range(4)])
    assert_allclose(done.coef, [0.5 + steps[1:].mean(), 0.0, 0.0])
    assert_array_equal(done.stable, [True, False, False])


def test_breaks_ties_by_column():
    X, y = np.array([[0.0, 1.0, 1.0]]), np.ones(1)
    done = fit(X, y, [0], n_stages=1, bursts_per_stage=1, refit=0, updates=1)
    assert_array_equal(done.stable, [False, True, False])


def test_wanting_more_than_occurs_keeps_what_occurs():
    settings = {"n_stages": 2, "bursts_per_stage": 1, "refit": 0, "updates": 4}
    done = fit(TINY, BOTH_POSITIVE, [0, 1, 0, 1], n_features_to_select=3, **settings)
    assert_array_equal(done.stable, [True, True, False])
