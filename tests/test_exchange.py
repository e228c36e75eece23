"""Features that went come back for weaker ones: the parts of it, and what users see of it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from exchange_cases import given_rows, hidden_truth, lesson_for, settled
from thresher import ThresherClassifier, ThresherRegressor
from thresher.kernels.losses import HINGE, HUBER, LOG_LOSS, SQUARED_ERROR
from thresher.train.exchange import Exchanged, exchanged, freely, insisting, said_by_others
from thresher.train.settling import lesson_of


def swapped(given, lesson, slots, open_to, terms=None):
    start, terms = np.zeros(slots.size + 1), terms or insisting(np.count_nonzero(open_to))
    return exchanged(given, lesson, slots, start, open_to, terms, lambda: None).slots


def test_what_tells_the_class_comes_for_what_tells_a_part():
    X, y = hidden_truth()
    given, slots = given_rows(X), np.arange(30)
    columns = given.vocabulary["columns"]
    parts = np.sort(slots[columns >= 26])
    lesson, everything = lesson_for(y), np.ones(30, bool)
    here = settled(given, lesson, parts)
    assert columns[np.argmax(said_by_others(given, lesson, parts, everything, here))] == 0
    kept = swapped(given, lesson, parts, everything)
    assert 0 in columns[kept]
    assert kept.size == parts.size
    closed = everything & (columns != 0)
    assert 0 not in columns[swapped(given, lesson, parts, closed)]


@pytest.mark.parametrize("intercept", [True, False])
def test_the_intercept_takes_over_what_is_said_of_all_rows(intercept):
    X, y = hidden_truth(n_columns=25)
    given, slots = given_rows(X), np.arange(4)
    lesson = lesson_for(y, intercept=intercept)
    here = settled(given, lesson, slots)
    h, columns = here.bends.curvatures, X[:, given.vocabulary["columns"]].T
    for place, said in enumerate(said_by_others(given, lesson, slots, np.ones(25, bool), here)):
        x = columns[place]
        both = np.array([[h @ x**2 + 0.1, h @ x], [h @ x, h.sum()]])
        curvature = 1 / np.linalg.inv(both)[0, 0] if intercept else both[0, 0]
        expected = 0.0 if place in slots else (here.bends.slopes @ x) ** 2 / curvature
        assert_allclose(said, expected, rtol=1e-9)


def test_features_that_say_hardly_more_than_others_do_not_take_their_places():
    every = np.array(list(np.ndindex(2, 2, 2)), dtype=float)
    shares = 1 / (1 + np.exp(3 - every @ [2.0, 2.0, 2.01]))
    noise = np.random.default_rng(0).random((800, 17)) < 0.3
    X = np.hstack([np.repeat(every, 100, axis=0), noise])
    y = np.concatenate([np.where(np.arange(100) < 100 * share, 1.0, -1.0) for share in shares])
    given, lesson, everything = given_rows(X), lesson_for(y), np.ones(20, bool)
    weaker = np.flatnonzero(given.vocabulary["columns"] < 2)
    here = settled(given, lesson, weaker)
    assert said_by_others(given, lesson, weaker, everything, here).max() > 50
    assert_array_equal(swapped(given, lesson, weaker, everything), weaker)


@pytest.mark.parametrize("loss", [HINGE, LOG_LOSS, SQUARED_ERROR, HUBER])
def test_chance_brings_hardly_anything_back_where_rows_must_insist(loss):
    brought = {"insisting": 0, "freely": 0}  # into fifty places
    for seed in range(10):
        rng = np.random.default_rng(seed)
        given, slots = given_rows(rng.normal(size=(200, 50))), np.arange(5)
        lesson = lesson_for(rng.choice([-1.0, 1.0], 200), loss)
        for name, terms in (("insisting", insisting(50)), ("freely", freely(5))):
            kept = swapped(given, lesson, slots, np.ones(50, bool), terms)
            brought[name] += np.setdiff1d(kept, slots).size
    assert brought["insisting"] <= 5
    assert brought["freely"] > 30


def test_numbers_that_overflow_change_nothing():
    X, y = hidden_truth()
    given, slots = given_rows(X * 1e200), np.arange(3)
    kept = swapped(given, lesson_for(y), slots, np.ones(30, bool))
    assert_array_equal(kept, slots)


class Unexchanged(ThresherClassifier):
    """The same without the exchange."""

    def _learner(self, n_rows):
        return replace(super()._learner(n_rows), exchanges=False)


def quick(kind=ThresherClassifier, **changes):
    """Return a model whose selection is too short to be good."""
    return kind(**{"n_features_to_select": 3, "random_state": 0, "max_iter": 1, **changes})


def supports(*models):
    return [model.get_support(indices=True).tolist() for model in models]


@pytest.mark.parametrize("paths", ["shared", "permutation"])
def test_a_fit_that_went_wrong_is_put_right(paths):
    X, y = hidden_truth(n_columns=60)
    mended, left = (
        quick(kind, paths=paths).fit(X, y) for kind in (ThresherClassifier, Unexchanged)
    )
    assert [0 in one for one in supports(mended, left)] == [True, False]
    assert mended.n_features_selected_ == left.n_features_selected_ == 3


def test_who_came_and_who_went_are_told_alike():
    X, y = hidden_truth(n_columns=60)
    mended, left = (quick(kind).fit(X, y) for kind in (ThresherClassifier, Unexchanged))
    after, before = (set(one) for one in supports(mended, left))
    came, went = after - before, before - after
    assert came
    told = mended.selection_probabilities_
    assert told.sum() == pytest.approx(3)
    assert_allclose(told[list(came)], told[list(went)], rtol=1e-3)
    assert min(told[list(came)]) > max(told[list(went)])
    assert max(told[list(came)]) <= min(told[list(after & before)], default=1.0)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_regressors_are_put_right_too(loss):
    X, y = hidden_truth(n_columns=60)
    model = quick(ThresherRegressor, loss=loss).fit(X, 50 + 7 * y)
    assert 0 in supports(model)[0]


def test_it_is_the_same_for_any_number_of_threads():
    X, y = hidden_truth(n_columns=60)
    labels = np.where(X[:, 1] > 0, "x", np.where(y > 0, "y", "z"))
    alone, two = (quick(n_jobs=n).fit(X, labels) for n in (1, 2))
    assert_array_equal(alone.coef_, two.coef_)


def test_weights_of_four_are_no_more_evidence_than_weights_of_one():
    X, y = hidden_truth()
    model = quick().fit(X, y)
    weights = np.random.default_rng(3).integers(0, 3, y.size).astype(float)
    learner = model._model.learner
    one, four = (lesson_of(learner, times * weights, 2.0, y) for times in (1.0, 4.0))
    assert_allclose(one.importance, four.importance)
    assert_allclose(one.importance[weights > 0].mean(), 1.0)


@pytest.mark.parametrize(("size", "asked"), [(100, True), (101, False), (400, False)])
def test_many_features_and_all_are_not_exchanged(monkeypatch, size, asked):
    calls = []

    def seen(given, lesson, slots, start, open_to, terms, check):
        calls.append(slots.size)
        return Exchanged(slots, None, None)

    monkeypatch.setattr("thresher.train.settling_work.exchanged", seen)
    rng = np.random.default_rng(4)
    X = (rng.random((300, 400)) < 0.1).astype(float)
    quick(n_features_to_select=size).fit(X, rng.choice([-1.0, 1.0], 300))
    assert calls == ([size] if asked else [])


def test_a_warm_start_stays_with_what_was_selected():
    X, y = hidden_truth(n_columns=60)
    other = np.random.default_rng(5).choice([-1.0, 1.0], y.size)
    model = quick(n_features_to_select=6, warm_start=True).fit(X, other)
    before = supports(model)[0]
    assert 0 not in before
    after = supports(model.set_params(n_features_to_select=3).fit(X, y))[0]
    assert len(after) == 3
    assert set(after) <= set(before)
