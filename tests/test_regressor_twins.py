"""Losses of numbers and their slopes, and the regressor beside its slow twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cases import UNSPARED
from regressor_cases import BOTH, measured
from test_twins import assert_equals_staged
from thresher import ThresherRegressor
from thresher.estimators.parameters import TARGET_LOSSES as CODES
from thresher.kernels.losses import slope_of
from twins import THRESHER, run_of
from twins import thresher as twin


@BOTH
@pytest.mark.parametrize("target", [-1.7, 0.0, 3.0])
def test_slope_is_the_derivative_of_the_loss(loss, target):
    def value(margin):
        error = abs(margin - target)
        return error**2 / 2 if loss == "squared_error" or error <= 1 else error - 0.5

    step = 1e-6
    for margin in np.linspace(-5, 5, 41) + 0.01:
        slope = (value(margin + step) - value(margin - step)) / (2 * step)
        assert_allclose(slope_of(CODES[loss], margin, target), slope, atol=1e-6)


# Their last weights are where a cost is least, which is no better known than to the root of what
# is lost in rounding.
LEAST_COST = {"rtol": 1e-7, "atol": 1e-6}


@pytest.fixture(autouse=True)
def as_learnt(monkeypatch):
    """Leave weights as they were learnt: what held-out rows make of them is tested on its own."""
    monkeypatch.setattr(ThresherRegressor, "decisions", UNSPARED)


class AsOneProblem:
    """A regressor that shows its weights as classifiers do, in a row of its own."""

    def __init__(self, model):
        self.model = model
        self.coef_, self.intercept_ = [model.coef_], [model.intercept_]

    def __getattr__(self, name):
        return getattr(self.model, name)


def assert_equals_twin(model, run, y):
    """Assert that a model is its twin's answer, brought back to the units of the targets."""
    centre, unit = measured(run.loss, y, run.fit_intercept)
    run.y = (y - centre) / unit
    expected = twin(run, model)
    expected.coef, expected.intercept = expected.coef * unit, expected.intercept * unit + centre
    assert_equals_staged(AsOneProblem(model), expected, within=LEAST_COST)


@BOTH
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("paths", ["permutation", "shared"])
@pytest.mark.parametrize(
    "settings", [{}, {"eta0": 0.05}, {"eta0": 50.0}, {"shuffle": True}], ids=str
)
def test_it_equals_its_twin(numbered, loss, fit_intercept, paths, settings):
    rows, y = numbered
    settings = {**THRESHER, "paths": paths, **settings}
    run = run_of(numbered, "ThresherRegressor", loss, fit_intercept, settings)
    model = run.estimator("ThresherRegressor").fit(rows, y)
    assert 0 < np.count_nonzero(model.coef_) < 40
    assert_equals_twin(model, run, y)


@BOTH
def test_weights_multiply_the_slope_and_zero_removes_the_row(numbered, loss):
    rows, y = numbered
    weights = np.random.default_rng(5).choice([0.0, 1.0], size=y.size, p=[0.3, 0.7])
    kept = weights > 0
    run = run_of((rows[kept], y[kept]), "ThresherRegressor", loss, settings=THRESHER)
    model = run.estimator("ThresherRegressor").fit(rows, y, sample_weight=weights)
    assert_equals_twin(model, run, y[kept])
