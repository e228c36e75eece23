"""Weights of numbers cost their size where few rows say that they had better."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Lasso

from regressor_cases import Unspared
from thresher import ThresherRegressor
from thresher.estimators.decisions import sparing as deciding
from thresher.estimators.decisions.sparing import may_fit_noise
from thresher.kernels.losses import HUBER, SQUARED_ERROR
from thresher.kernels.rows import Rows
from thresher.train import sparing
from thresher.train.settling import Lesson
from thresher.train.sparing import COSTS, moments_of, spared


def numbers(n=60, p=12, seed=0, noise=0.3):
    """Return rows, two columns of which say all there is to say of a number."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1.0
    return X, 2.0 * X[:, 0] - X[:, 3] + noise * rng.normal(size=n)


def lesson_of(X, y, loss=SQUARED_ERROR, importance=None, intercept=True):
    rows = sparse.csr_array(X)
    importance = np.ones(y.size) if importance is None else importance
    given = Rows(rows.indptr.astype(np.int64), rows.indices.astype(np.uint32), rows.data)
    return Lesson(loss, y, importance, 0.0, intercept), given


# ----------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("intercept", [True, False])
def test_moments_are_those_of_rows_around_their_means(intercept):
    X, y = numbers()
    importance = np.random.default_rng(1).integers(0, 3, y.size).astype(float)
    lesson, rows = lesson_of(X, y, importance=importance, intercept=intercept)
    table = sparse.csr_array((rows.values, rows.slots, rows.starts), shape=X.shape)
    found = moments_of(lesson, table, np.zeros(y.size))
    many = np.repeat(np.arange(y.size), importance.astype(int))
    means, centre = (X[many].mean(axis=0), y[many].mean()) if intercept else (0.0, 0.0)
    around = X[many] - means
    assert_allclose(found.products, around.T @ around, atol=1e-9)
    assert_allclose(found.pulls, around.T @ (y[many] - centre), atol=1e-9)
    assert found.spread == pytest.approx(np.sum((y[many] - centre) ** 2))


@pytest.mark.parametrize("cost", [0.5, 0.07, 0.003])
def test_weights_are_nearly_the_lassos(cost, monkeypatch):
    monkeypatch.setattr(sparing, "LEAST", 1e-4)  # smaller weights cost like squares
    X, y = numbers()
    lesson, rows = lesson_of(X, y)
    (found,) = spared(lesson, rows, 12, [cost], exactly=True)
    unit = (X - X.mean(axis=0)) / X.std(axis=0)
    highest = np.abs(unit.T @ (y - y.mean())).max() / y.size
    lasso = Lasso(alpha=cost * highest, tol=1e-10, max_iter=100_000).fit(unit, y)
    assert_allclose(found[:-1] * X.std(axis=0), lasso.coef_, atol=2e-3)
    assert_allclose(X @ found[:-1] + found[-1], lasso.predict(unit), atol=2e-2)


def test_weights_by_hubers_loss_resist_gross_errors():
    X, y = numbers(noise=0.1)
    wild = y.copy()
    wild[::9] += 50.0
    lesson, rows = lesson_of(X, wild, HUBER)
    found = spared(lesson, rows, 12, COSTS, exactly=True)[-1]
    truth = np.zeros(12)
    truth[[0, 3]] = 2.0, -1.0
    assert_allclose(found[:-1], truth, atol=0.25)
    squares = spared(*lesson_of(X, wild), 12, COSTS, exactly=True)[-1]
    assert np.abs(squares[:-1] - truth).max() > 1.0


def test_what_costs_more_is_smaller_and_nothing_is_zero():
    X, y = numbers()
    found = spared(*lesson_of(X, y), 12, COSTS)
    sizes = [np.sum(np.abs(one[:-1]) * X.std(axis=0)) for one in found]
    assert sizes == sorted(sizes)
    assert all(np.count_nonzero(one) == 13 for one in found)


def test_a_column_that_is_constant_has_no_weight():
    X, y = numbers()
    X[:, 5] = 3.0
    found = spared(*lesson_of(X, y), 12, COSTS)[-1]
    assert found[5] == 0.0
    assert np.isfinite(found).all()


def test_of_many_features_nothing_is_computed(monkeypatch):
    monkeypatch.setattr(sparing, "MOST_FEATURES", 11)
    assert spared(*lesson_of(*numbers()), 12, COSTS) == []


# ---------------------------------------------------------------------------------- the regressor


@pytest.mark.parametrize(
    ("n_rows", "size", "few"),
    [
        (1999, 1, True),
        (2000, 40, False),
        (2000, 41, True),
        (50_001, 1000, False),
        (100, 1001, False),
    ],
)
def test_who_may_fit_noise(n_rows, size, few):
    assert may_fit_noise(n_rows, size) == few


@pytest.mark.jit
@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_more_features_than_tell_do_no_harm(loss):
    X, y = numbers(n=1070, p=300, noise=0.5)
    settings = {"n_features_to_select": 35, "loss": loss, "random_state": 0}
    models = [kind(**settings).fit(X[:70], y[:70]) for kind in (ThresherRegressor, Unspared)]
    mine, before = (model.score(X[70:], y[70:]) for model in models)
    assert mine > before + 0.1
    assert_array_equal(models[0].get_support(), models[1].get_support())
    assert models[0].n_features_selected_ == 35


@pytest.mark.jit
def test_what_rows_weigh_alike_is_the_same_in_any_unit():
    X, y = numbers(n=70, p=100)
    settings = {"n_features_to_select": 20, "random_state": 0, "dtype": "float64"}
    model = ThresherRegressor(**settings).fit(X, y)
    other = ThresherRegressor(**settings).fit(X, 1000.0 * y - 7.0)
    assert_allclose(other.coef_, 1000.0 * model.coef_, rtol=1e-6, atol=1e-9)


def test_weights_stay_where_held_out_rows_lose_nothing_by_them(monkeypatch):
    monkeypatch.setattr(deciding, "DOUBT", np.inf)
    X, y = numbers(n=70, p=40)
    settings = {"n_features_to_select": 5, "random_state": 0, "max_iter": 20, "n_stages": 5}
    model, before = (kind(**settings).fit(X, y) for kind in (ThresherRegressor, Unspared))
    assert_array_equal(model.coef_, before.coef_)


def test_equal_numbers_are_not_asked():
    X, _ = numbers()
    model = ThresherRegressor(n_features_to_select=3, random_state=0, max_iter=5)
    assert_allclose(model.fit(X, np.ones(60)).predict(X), 1.0)
