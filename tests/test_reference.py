"""The twin judges the package, so it is checked here by other means: by hand, by scikit-learn."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import SGDClassifier

import reference

LOSSES = ["hinge", "log_loss", "squared_hinge", "modified_huber"]
VALUE_OF_LOSS = {
    "hinge": lambda z: max(0.0, 1 - z),
    "log_loss": lambda z: math.log(1 + math.exp(-z)),
    "squared_hinge": lambda z: max(0.0, 1 - z) ** 2,
    "modified_huber": lambda z: max(0.0, 1 - z) ** 2 if z >= -1 else -4 * z,
}

# Two rows of one class. With the hinge loss, step 1/4 and no intercept every number below is a
# fraction that floats hold exactly.
TINY = np.array([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0]])
BOTH_POSITIVE = np.array([1.0, 1.0])


@pytest.fixture
def noisy():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.5)
    y = np.where(X @ rng.normal(size=8) + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    return X, y, rng.permutation(60)


def steady(n, eta, bias=0.0):
    return {"etas": np.full(n, eta), "biases": np.full(n, bias)}


# ------------------------------------------------------------------------------------ scalars


def test_soft_threshold_by_hand():
    assert_array_equal(reference.soft_threshold(np.array([3.0, -0.5, -2.0]), 1.0), [2.0, 0.0, -1.0])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("y", [-1.0, 1.0])
@pytest.mark.parametrize("margin", [-3.3, -1.2, -0.4, 0.0, 0.7, 1.9])
def test_slope_is_the_derivative_of_the_loss(loss, y, margin):
    step = 1e-6
    above, below = (VALUE_OF_LOSS[loss](y * m) for m in (margin + step, margin - step))
    assert_allclose(reference.slope(loss, margin, y), (above - below) / (2 * step), atol=1e-8)


@pytest.mark.parametrize(("loss", "expected"), [("hinge", 0.0), ("modified_huber", 0.0)])
def test_a_margin_of_exactly_one_is_no_mistake(loss, expected):
    assert reference.slope(loss, 1.0, 1.0) == expected


def test_logistic_slope_survives_huge_margins():
    assert reference.slope("log_loss", 1e4, 1.0) == 0.0
    assert reference.slope("log_loss", -1e4, 1.0) == -1.0


@pytest.mark.parametrize("share", [0.01, 0.25, 0.3, 0.5, 0.77, 1.0])
@pytest.mark.parametrize("n", [1, 4, 10, 33])
def test_quantile_is_the_inverted_cdf(share, n):
    values = np.random.default_rng(n).integers(0, 9, size=n) / 4  # with ties
    assert reference.quantile(values, share) == np.quantile(values, share, method="inverted_cdf")


def test_quantile_of_nothing_is_zero():
    assert reference.quantile([], 0.5) == 0.0
    assert reference.quantile([1.0, 2.0], 0.0) == 0.0


@pytest.mark.parametrize("annealing_rate", [-9.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 9.0])
def test_anneal_runs_from_nothing_to_the_maximum(annealing_rate):
    rates = [reference.anneal(d, 0.8, annealing_rate) for d in np.linspace(0, 1, 21)]
    assert_allclose([rates[0], rates[-1]], [0.0, 0.8], atol=1e-12)
    assert np.all(np.diff(rates) > 0)


@pytest.mark.parametrize("annealing_rate", [-1e-7, 0.0, 1e-7])
def test_anneal_is_continuous_at_rate_zero(annealing_rate):
    assert_allclose(reference.anneal(0.3, 0.8, annealing_rate), 0.8 * 0.3, atol=1e-7)


def test_pace_by_hand():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]])  # squared norms 0, 4, 2
    etas, biases = reference.pace(X, [0, 1, 2], "auto", 3.0, "constant", True)
    assert_allclose(etas, [3.0, 1.5, 1.5])
    assert_allclose(biases, np.sqrt([0.0, 2.0, 2.0]))
    etas, biases = reference.pace(X, [1, 2], 0.5, 3.0, "invsqrt", False)
    assert_allclose(etas, [0.5, 0.5 / math.sqrt(2)])
    assert_array_equal(biases, [0.0, 0.0])
    etas, biases = reference.pace(X, [1, 2], "auto", 3.0, "constant", True, mean_square=2.0)
    assert_allclose(etas, [1.5, 1.5])
    assert_allclose(biases, np.sqrt([2.0, 2.0]))


# ------------------------------------------------------------------------------------ classics


@pytest.mark.parametrize("loss", LOSSES)
def test_sgd_is_scikit_learns(noisy, loss):
    X, y, order = noisy
    importance = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    peer = SGDClassifier(
        loss=loss,
        penalty=None,
        learning_rate="constant",
        eta0=0.05,
        shuffle=False,
    )
    # scikit-learn's intercept is the weight of a constant input of size 1, as is a bias of 1 here.
    peer.partial_fit(X[order], y[order], classes=[-1, 1], sample_weight=importance[order])
    coef, intercept = reference.sgd(
        X, y, order, loss=loss, weights=importance, **steady(len(order), 0.05, bias=1.0)
    )
    assert_allclose(coef, peer.coef_[0], rtol=1e-9)
    assert_allclose(intercept, peer.intercept_[0], rtol=1e-9)


def test_intercept_is_the_weight_of_an_input_that_follows_the_mean_norm():
    X = np.array([[2.0], [0.0]])
    etas, biases = reference.pace(X, [0, 1], 0.125, 1.0, "constant", True)
    # s = 2, then sqrt(2): v = 1/4, then 1/4 + sqrt(2)/8, times the last s.
    coef, intercept = reference.sgd(
        X, BOTH_POSITIVE, [0, 1], loss="hinge", etas=etas, biases=biases
    )
    assert_allclose(coef, [0.25])
    assert_allclose(intercept, math.sqrt(2) * (0.25 + math.sqrt(2) / 8))


def test_truncated_gradient_by_hand():
    settings = {"loss": "hinge", "gravity": 0.0625, "burst_size": 2, **steady(3, 0.25)}
    coef, _ = reference.truncated_gradient(TINY, BOTH_POSITIVE, [0, 1, 1], **settings)
    # (1/2, 1/8) is shrunk by 2/16; the third update is inside an open burst.
    assert_array_equal(coef, [0.375 + 0.25, 0.125, 0.0])
    coef, _ = reference.truncated_gradient(TINY, BOTH_POSITIVE, [0, 1], ceiling=0.125, **settings)
    assert_array_equal(coef, [0.5, 0.0, 0.0])


@pytest.mark.parametrize("loss", LOSSES)
def test_truncated_gradient_without_gravity_is_sgd(noisy, loss):
    pace = steady(60, 0.1, bias=0.7)
    assert_array_equal(
        reference.truncated_gradient(*noisy, loss=loss, gravity=0, burst_size=3, **pace)[0],
        reference.sgd(*noisy, loss=loss, **pace)[0],
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_fobos_is_truncated_gradient_in_bursts_of_one(noisy, loss):
    pace = steady(60, 0.1, bias=0.7)
    coef, intercept = reference.fobos(*noisy, loss=loss, l1=0.25, **pace)
    other = reference.truncated_gradient(*noisy, loss=loss, gravity=0.025, burst_size=1, **pace)
    assert_allclose(coef, other[0], rtol=1e-12)
    assert_allclose(intercept, other[1], rtol=1e-12)
    assert 0 < np.count_nonzero(coef) < 8


def test_fobos_by_hand():
    etas = np.array([0.5, 0.25])
    coef, _ = reference.fobos(
        TINY, BOTH_POSITIVE, [1, 0], loss="hinge", etas=etas, biases=np.zeros(2), l1=0.5
    )
    # (1/2, 1/4) - 1/4, then (1/4 + 1/4, 0) - 1/8
    assert_array_equal(coef, [0.375, 0.0, 0.0])


def test_rda_is_the_shrunken_mean_of_all_slopes():
    X = np.array([[1.0, 0.1, -0.4], [-0.2, 0.1, 0.8]])
    y = np.array([1.0, -1.0])
    l1, rho, gamma = 0.05, 0.1, np.array([5.0, 2.0])
    coef, intercept = reference.rda(
        X, y, [0, 1], loss="hinge", gammas=gamma, biases=np.array([1.0, 3.0]), l1=l1, rho=rho
    )
    # Both margins are below 1, so the slopes are -y whatever the weights were in between.
    mean_slope = -(y @ X) / 2
    threshold = l1 + 2.0 * rho / math.sqrt(2)
    expected = -(math.sqrt(2) / 2.0) * np.array(
        [mean_slope[0] + threshold, 0.0, mean_slope[2] - threshold]
    )
    assert_allclose(coef, expected)
    assert_allclose(intercept, 3.0 * -0.01 * (math.sqrt(2) / 2.0) * (-1.0 + 3.0) / 2)


def test_rda_reads_a_row_with_the_gamma_of_the_row_before():
    X, settings = np.ones((2, 1)), {"biases": np.zeros(2), "l1": 0.0, "rho": 0.0}
    # After row one w = 1/gamma: at gamma 1/2 the second row is classified well and adds nothing.
    for gamma, mean_slope in [(0.5, -0.5), (2.0, -1.0)]:
        gammas = np.array([gamma, 1.0])
        coef, _ = reference.rda(X, BOTH_POSITIVE, [0, 1], loss="hinge", gammas=gammas, **settings)
        assert_allclose(coef, [-math.sqrt(2) * mean_slope])


def test_ftrl_by_hand():
    settings = {"loss": "hinge", "alpha": 1.0, "beta": 1.0, "l1": 0.5, "l2": 0.0}
    X, sigma = np.ones((2, 1)), math.sqrt(2) - 1
    coef, _ = reference.ftrl(X[:1], BOTH_POSITIVE, [0], biases=np.zeros(1), **settings)
    assert_allclose(coef, [0.25])  # z = -1, n = 1
    coef, _ = reference.ftrl(X, BOTH_POSITIVE, [0, 1], biases=np.zeros(2), **settings)
    assert_allclose(coef, [(2 + 0.25 * sigma - 0.5) / (1 + math.sqrt(2))])
    # An input of constant 1/2 learns without a penalty: z = -1/2, n = 1/4, v = 1/2 / (1 + 1/2).
    _, intercept = reference.ftrl(
        X[:1], BOTH_POSITIVE, [0], biases=np.array([0.5]), **settings | {"l2": 3.0}
    )
    assert_allclose(intercept, 0.5 * (0.5 / 1.5))


def test_ftrl_l2_adds_to_the_curvature():
    coef, _ = reference.ftrl(
        np.ones((1, 1)), [1.0], [0], loss="hinge", biases=[0.0], alpha=0.5, beta=1.0, l1=0.0, l2=6.0
    )
    assert_allclose(coef, [1 / (2 / 0.5 + 6)])


CLASSICS = {
    reference.sgd: {"etas": [0.25]},
    reference.truncated_gradient: {"etas": [0.25], "gravity": 0.1, "burst_size": 1},
    reference.fobos: {"etas": [0.25], "l1": 0.1},
    reference.rda: {"gammas": [3.0], "l1": 0.1, "rho": 0.1},
    reference.ftrl: {"alpha": 0.5, "beta": 1.0, "l1": 0.1, "l2": 0.2},
}


@pytest.mark.parametrize("learn", CLASSICS)
def test_importance_multiplies_a_rows_slope(learn):
    # At margin 0 the hinge's slope does not depend on the row's size: twice the importance is
    # twice the row, up to the intercept's last input.
    x, y, settings = np.array([[1.0, -0.5]]), [1.0], {"loss": "hinge", **CLASSICS[learn]}
    coef, intercept = learn(x, y, [0], biases=[1.0], weights=[2.0], **settings)
    double_coef, double_intercept = learn(2 * x, y, [0], biases=[2.0], **settings)
    assert np.all(coef != 0)
    assert_allclose(coef, double_coef)
    assert_allclose(intercept, double_intercept / 2)
