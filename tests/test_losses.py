"""Every loss of the registry: slopes and curvatures are derivatives, extremes stay finite."""

from itertools import product

import numpy as np
import pytest

from thresher import ThresherRegressor
from thresher.losses import (
    LEVELS,
    LOSSES,
    NUMBER_LOSSES,
    Loss,
    curvature_of,
    probability_of,
    slope_of,
    value_of,
)

# away from the kinks at -1 and 1, where nothing is differentiable
MARGINS = (-40.0, -2.7, -0.9, -0.3, 0.0, 0.4, 1.3, 2.5, 40.0)
STEP = 1e-5
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())


def targets_of(loss: Loss) -> tuple[float, ...]:
    return (0.0, 0.2) if loss.of_numbers else (-1.0, 1.0)


def points(loss):
    return [(margin, target) for margin in MARGINS for target in targets_of(loss)]


@every_loss
def test_slopes_and_curvatures_are_derivatives(loss):
    for m, y in points(loss):
        for f, derivative in ((value_of, slope_of), (slope_of, curvature_of)):
            difference = f(loss.code, m + STEP, y) - f(loss.code, m - STEP, y)
            expected = pytest.approx(difference / (2 * STEP), abs=1e-5)
            assert derivative(loss.code, m, y) == expected, (derivative, m, y)


@every_loss
def test_far_margins_are_finite(loss):
    for margin, y in product((-1e6, -800.0, 800.0, 1e6), targets_of(loss)):
        found = [f(loss.code, margin, y) for f in (value_of, slope_of, curvature_of)]
        assert np.isfinite(found).all()
        assert found[0] >= 0


def test_log_loss_keeps_its_digits():
    code = LOSSES["log_loss"].code
    assert value_of(code, 50.0, 1.0) == pytest.approx(np.exp(-50.0), rel=1e-12)
    assert curvature_of(code, 50.0, 1.0) == pytest.approx(np.exp(-50.0), rel=1e-12)


def test_codes_are_unique():
    assert sorted(loss.code for loss in LOSSES.values()) == list(range(len(LOSSES)))


@pytest.mark.parametrize("name", [loss.name for loss in LOSSES.values() if loss.probabilities])
def test_probabilities(name):
    code, margins = LOSSES[name].code, np.array([-1000.0, -0.7, 0.0, 0.7, 1000.0])
    p = probability_of(code, margins)
    np.testing.assert_array_equal(p[[0, 2, -1]], [0.0, 0.5, 1.0])
    np.testing.assert_allclose(p + p[::-1], 1, rtol=1e-15)


# ----------------------------------------------------------------------------- of the flagship


def skewed_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    return X, 100.0 * (2 * X[:, 0] - X[:, 1] + rng.exponential(size=400))


@pytest.mark.jit
@pytest.mark.parametrize("loss", NUMBER_LOSSES)
def test_every_loss_of_numbers_finds_what_the_targets_depend_on(loss):
    X, y = skewed_rows()
    model = ThresherRegressor(n_features_to_select=2, loss=loss, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [0, 1]
    np.testing.assert_allclose(model.coef_[:2], [200, -100], rtol=0.15)
    if loss.startswith("quantile"):  # has its share of the targets below
        level = float(loss.removeprefix("quantile_")) / 100
        assert level in LEVELS
        assert np.mean(y < model.predict(X)) == pytest.approx(level, abs=0.02)
