"""The likeliest lines of held-out margins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit

from thresher.kernels.losses import HINGE, LOG_LOSS
from thresher.train.levelling import INSISTED, line_for
from thresher.train.platt import Line, likeliest_line


def drawn(scale=1.0, shift=0.0, n=4000, seed=0):
    """Return margins, and labels for which they should be so many times as large, and shifted."""
    rng = np.random.default_rng(seed)
    margins = rng.normal(size=n)
    return margins, np.where(rng.random(n) < expit(scale * margins + shift), 1.0, -1.0)


def slow_line(margins, targets, weights, shifts=True):
    """Return the likeliest line, by a method that knows nothing of slopes."""
    positive, negative = (weights[targets == sign].sum() / weights.mean() for sign in (1, -1))
    goals = np.where(targets > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))

    def cost(line):
        values = line[0] * margins + (line[1] if shifts else 0.0)
        return weights @ (np.logaddexp(0, values) - goals * values) / weights.mean()

    options = {"xatol": 1e-9, "fatol": 1e-9, "maxiter": 10_000, "maxfev": 10_000}
    return minimize(cost, [1.0, 0.0], method="Nelder-Mead", options=options).x * [1, shifts]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("line", [(2.0, -1.0), (0.5, 0.3), (1.0, 0.0)])
def test_the_line_is_a_slow_twins(line, weighted):
    margins, targets = drawn(*line, n=300)
    weights = 1.0 + np.arange(300) % 3 if weighted else np.ones(300)
    found = likeliest_line(margins, targets, weights, -1.0)
    assert_allclose(found, slow_line(margins, targets, weights), atol=1e-4)
    level = likeliest_line(margins, targets, weights, np.inf)
    assert_allclose(level, slow_line(margins, targets, weights, shifts=False), atol=1e-4)


def test_rows_hardly_insist_on_shifts_that_nothing_calls_for():
    lines = [
        likeliest_line(*drawn(2.0, seed=seed, n=500), np.ones(500), INSISTED) for seed in range(200)
    ]
    assert 0.1 < np.mean([line.shift != 0 for line in lines]) < 0.22
    assert likeliest_line(*drawn(2.0, 0.5), np.ones(4000), 50.0).shift > 0.3


@pytest.mark.parametrize("scale", [0.4, 2.5])
def test_margins_become_what_is_likeliest_and_others_than_chances_are_shifted_only(scale):
    margins, targets = drawn(scale, 0.8)
    weights = np.ones(margins.size)
    line = likeliest_line(margins, targets, weights, INSISTED)
    assert line_for(margins, targets, weights, LOG_LOSS) == line
    assert line_for(margins, targets, weights, HINGE) == Line(1.0, line.shift / line.scale)


def test_margins_that_say_the_opposite_stay_as_they_are():
    margins, targets = drawn(-1.0, 0.5)
    assert line_for(margins, targets, np.ones(margins.size), LOG_LOSS) == Line()
