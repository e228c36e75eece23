"""What rows say of features, and the best weights of a few."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge

import reference_exchange as twin
from exchange_cases import given_rows, hidden_truth, lesson_for, settled
from thresher.data.given_rows import without
from thresher.kernels.bends import bend_of
from thresher.kernels.descent import TRIES
from thresher.kernels.losses import HUBER, LOG_LOSS, SQUARED_ERROR
from thresher.train import settling
from thresher.train.settling import Table

LOSS, SLOPE, CURVATURE = range(3)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_evidence_is_what_dense_sums_are(normalize, indices):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 12)) * (rng.random((40, 12)) < 0.4)
    given = given_rows(X, normalize)
    given.X.indices, given.X.indptr = (
        given.X.indices.astype(indices),
        given.X.indptr.astype(indices),
    )
    pulls, bends = rng.normal(size=40), rng.random(40)
    dense = X / np.linalg.norm(X, axis=1, keepdims=True) if normalize else X
    dense = dense[:, given.vocabulary["columns"]]
    expected = np.column_stack([dense.T @ pulls, dense.T @ bends, (dense**2).T @ bends])
    assert_allclose(given.evidence(pulls, bends), expected, atol=1e-12)


def test_rows_picked_are_those_that_learning_sees():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 15)) * (rng.random((30, 15)) < 0.5)
    given = given_rows(X, normalize=True, dtype=np.dtype(np.float32))
    slots = np.array([1, 4, 5, 11])
    picked = given.with_slots(slots)
    absorbed, _ = given.vocabulary.absorb(given.X, np.dtype(np.float32), anew=False)
    whole = sparse.csr_array((absorbed.values, absorbed.slots, absorbed.starts), (30, 15))
    table = sparse.csr_array((picked.values, picked.slots, picked.starts), (30, 4))
    assert picked.values.dtype == np.float32
    assert_array_equal(table.toarray(), whole.toarray()[:, slots])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("normalize", [False, True])
def test_rows_with_another_slot_or_without_one_are_those_picked_so(normalize, dtype):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 15)) * (rng.random((30, 15)) < 0.4)
    X[7] = 0.0
    given = given_rows(X, normalize=normalize, dtype=np.dtype(dtype))

    def dense(rows, width):
        assert rows.values.dtype == dtype
        parts = rows.values, rows.slots, rows.starts
        return sparse.csr_array(parts, (30, width)).toarray()

    some = np.array([2, 4, 5, 11])
    for place, slot in enumerate([0, 3, 8, 14]):  # before, among and behind the others
        where = int(np.searchsorted(some, slot))
        more = np.insert(some, where, slot)
        wider = given.with_another(given.with_slots(some), slot, where)
        assert_array_equal(dense(wider, 5), dense(given.with_slots(more), 5))
        rest = np.delete(more, place)
        assert_array_equal(dense(without(wider, place), 4), dense(given.with_slots(rest), 4))
    alone = given.with_slots(some[:1])
    assert without(alone, 0).values.size == 0
    assert_array_equal(dense(given.with_another(without(alone, 0), 2, 0), 1), dense(alone, 1))


@pytest.mark.parametrize("intercept", [True, False])
def test_weights_settle_where_others_put_them(intercept):
    X, y = hidden_truth()
    given, slots = given_rows(X), np.array([0, 3, 7])
    columns = given.vocabulary["columns"][slots]
    classes = settled(given, lesson_for(y, intercept=intercept), slots)
    logistic = LogisticRegression(C=10.0, fit_intercept=intercept, tol=1e-8).fit(X[:, columns], y)
    assert_allclose(classes.weights[:-1], logistic.coef_[0], atol=0.02)
    assert_allclose(classes.weights[-1], logistic.intercept_ if intercept else 0.0, atol=0.02)
    numbers = settled(given, lesson_for(y, SQUARED_ERROR, intercept=intercept), slots)
    ridge = Ridge(alpha=0.1, fit_intercept=intercept).fit(X[:, columns], y)
    assert_allclose(numbers.weights[:-1], ridge.coef_, atol=1e-4)


@pytest.mark.parametrize("loss", [LOG_LOSS, SQUARED_ERROR, HUBER])
def test_slopes_and_curvatures_are_derivatives(loss):
    margins, targets, step = np.linspace(-3, 3, 30) + 0.013, np.tile([-1.0, 1.0], 15), 1e-5
    below, at, above = (
        np.array([bend_of(loss, *one) for one in zip(margins + s, targets, strict=True)]).T
        for s in (-step, 0.0, step)
    )
    assert_allclose(at[SLOPE], (above[LOSS] - below[LOSS]) / (2 * step), atol=1e-6)
    assert_allclose(at[CURVATURE], (above[SLOPE] - below[SLOPE]) / (2 * step), atol=1e-6)


def some_table(loss, intercept=True, dtype=np.float64):
    """Return a lesson, its table, and the rows of that, dense and with a constant."""
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(50, 8)) * (rng.random((50, 8)) < 0.4)).astype(dtype)
    y, importance = rng.choice([-1.0, 1.0], 50), rng.random(50)
    given = given_rows(X, dtype=np.dtype(dtype))
    lesson = lesson_for(y, loss, intercept=intercept, importance=importance)
    dense = np.column_stack([X[:, given.vocabulary["columns"]], np.ones(50)]).astype(float)
    return lesson, Table(lesson, given.with_slots(np.arange(8))), dense


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", [LOG_LOSS, SQUARED_ERROR, HUBER])
def test_a_look_is_what_dense_sums_are(loss, intercept, dtype):
    lesson, table, dense = some_table(loss, intercept, dtype)
    weights = np.random.default_rng(4).normal(size=9)
    rows = zip(dense @ weights, lesson.targets, strict=True)
    bends = lesson.importance * np.array([bend_of(loss, *row) for row in rows]).T
    here, mine = table.at(weights), weights[:-1]
    assert_allclose(here.cost, bends[LOSS].sum() + 0.1 * mine @ mine / 2)
    slopes = dense.T @ bends[SLOPE] + 0.1 * np.append(mine, 0.0)
    assert_allclose(here.slopes, slopes * np.append(np.ones(8), intercept), atol=1e-12)
    hessian = (dense.T * bends[CURVATURE]) @ dense
    alike = hessian[:-1, -1] ** 2 / hessian[-1, -1] if intercept else 0.0
    assert_allclose(table.curvatures(here), np.diag(hessian)[:-1] - alike + 0.1, atol=1e-12)


def test_losses_far_out_stay_numbers():
    for margin in (-1e4, 1e4):
        lost, slope, curvature = bend_of(LOG_LOSS, margin, 1.0)
        assert_allclose((lost, slope, curvature), (max(-margin, 0.0), -float(margin < 0), 0.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", [LOG_LOSS, SQUARED_ERROR, HUBER])
def test_descent_ends_where_newton_does(loss, intercept, dtype):
    lesson, table, dense = some_table(loss, intercept, dtype)
    name = {SQUARED_ERROR: "squared_error", HUBER: "huber"}.get(loss, "log_loss")
    penalties = np.append(np.full(8, 0.1), 0.0)
    expected, cost = twin.settled(
        dense * np.append(np.ones(8), intercept), lesson.targets, name, lesson.importance, penalties
    )
    found = table.settled(np.full(9, 0.5) * np.append(np.ones(8), intercept), exactly=True)
    assert_allclose(found.weights, expected, atol=1e-6)
    assert_allclose(found.cost, cost, rtol=1e-12)


def test_descent_takes_few_looks(monkeypatch):
    _, table, _ = some_table(LOG_LOSS)
    looks = []
    looking = settling.step_down
    monkeypatch.setattr(settling, "step_down", lambda *a: looks.append(0) or looking(*a))
    table.settled(np.zeros(9), exactly=True)
    assert len(looks) < TRIES


def test_who_is_at_the_bottom_stays():
    _, table, _ = some_table(SQUARED_ERROR)
    bottom = table.settled(np.zeros(9), exactly=True).weights
    assert_allclose(table.settled(bottom, exactly=True).weights, bottom, rtol=1e-7)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_no_descent_from_where_nothing_is_seen(value):
    _, table, _ = some_table(SQUARED_ERROR)
    start = np.full(9, value)
    with np.errstate(all="ignore"):
        assert_array_equal(table.settled(start).weights, start)
