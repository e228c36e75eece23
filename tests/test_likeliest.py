"""Weights that many rows insist on, where the refit has not come so far."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import reference_exchange
import thresher
from exchange_cases import given_rows, lesson_for
from thresher import ThresherClassifier
from thresher.train import likeliest
from thresher.train.likeliest import MANY_ROWS, by_chance, insisted_on
from thresher.train.settling import Table

TRUTH = np.array([4.0, -3.0, 2.0, -1.0, 0.5, 0.0])
FEW = 100
MADE = {"n_features_to_select": 4, "random_state": 0, "max_iter": 2}


@pytest.fixture
def without_noise(monkeypatch):
    monkeypatch.setattr(likeliest, "EXPLAINED", -np.inf)


@pytest.fixture
def few_are_many(monkeypatch, without_noise):
    monkeypatch.setattr(likeliest, "MANY_ROWS", FEW)


@pytest.fixture
def to_the_end(monkeypatch):
    monkeypatch.setattr(likeliest, "ROUNDS", 30)
    monkeypatch.setattr(likeliest, "CLOSE", 1e-3)


def told_apart(n_rows, seed=0, strength=1.0):
    """Return marks that tell classes apart, some better than others."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, TRUTH.size)) < 0.4).astype(float)
    chances = 1 / (1 + np.exp(-strength * (X @ TRUTH - 0.5)))
    return X, np.where(rng.random(n_rows) < chances, 1.0, -1.0)


def nothing():
    pass


def asked(X, y, start, intercept=True, importance=None):
    """Return the weights in the order of the columns, the intercept last."""
    given = given_rows(X)
    columns = given.vocabulary["columns"]
    lesson = lesson_for(y, intercept=intercept, importance=importance)
    rows = given.with_slots(np.arange(columns.size))
    found = insisted_on(lesson, rows, np.append(start[columns], start[-1]), nothing)
    if found is None:
        return None
    found = found.weights
    return np.append(found[np.argsort(columns)], found[-1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_they_are_what_a_dense_twin_finds(few_are_many, to_the_end, seed, intercept, weighted):
    X, y = told_apart(150, seed)
    importance = 1 + np.arange(150) % 3 if weighted else np.ones(150)
    importance = importance / importance.mean()
    start = np.append(0.3 * TRUTH + 0.1, 0.0)
    found = asked(X, y, start, intercept=intercept, importance=importance)
    twin = reference_exchange.likeliest(X, y, start, importance, intercept, FEW)
    table = reference_exchange.with_constant(X, slice(None), intercept)
    lost = [
        importance @ reference_exchange.bends("log_loss", table, y, one)[0]
        for one in (start, found, twin)
    ]
    assert lost[0] - lost[2] > 3  # there was some way to go
    assert_allclose(lost[1], lost[2], atol=0.1)
    assert_allclose(found, twin, atol=0.3)


@pytest.mark.parametrize("many_rows", [100, 150])
@pytest.mark.parametrize("seed", range(5))
def test_rows_insist_where_the_twins_do(to_the_end, without_noise, monkeypatch, seed, many_rows):
    monkeypatch.setattr(likeliest, "MANY_ROWS", many_rows)
    X, y = told_apart(120, seed, strength=0.5)
    known = np.ones(120), True, many_rows
    near = reference_exchange.likeliest(X, y, np.append(0.01 * TRUTH, 0.0), *known)
    decided = []
    for share in (0.1, 0.3, 0.5, 0.75, 1.0):
        decided.append(reference_exchange.likeliest(X, y, share * near, *known) is None)
        assert (asked(X, y, share * near) is None) == decided[-1]
    assert not decided[0]
    assert decided[-1]


def test_few_rows_must_insist_more():
    assert by_chance(lesson_for(np.ones(2 * MANY_ROWS)), 7.0) == 7.0
    assert by_chance(lesson_for(np.ones(MANY_ROWS // 2)), 7.0) == 28.0


def test_weights_that_are_all_zero_stay():
    assert asked(*told_apart(150), np.zeros(TRUTH.size + 1)) is None


@pytest.mark.parametrize("scale", [1e-160, 1e160])
def test_values_beyond_squares_change_nothing(scale):
    X, y = told_apart(150)
    assert asked(scale * X, y, np.append(TRUTH, 0.0)) is None


def test_classes_that_marks_tell_perfectly_have_finite_weights(few_are_many):
    X, _ = told_apart(150)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    found = asked(X, y, np.append(0.1 * TRUTH, 0.0))
    assert np.isfinite(found).all()
    assert_array_equal((X @ found[:-1] + found[-1] > 0), y > 0)


class Refitted(ThresherClassifier):
    """With the weights that the refit has come to."""

    def _learner(self, n_rows):
        return replace(super()._learner(n_rows), settles=False)


class TestInAFit:
    X, y = told_apart(2 * MANY_ROWS, strength=3.0)

    def half(self, kind=ThresherClassifier, **changes):
        model = kind(**MADE, **changes)
        return model.fit(self.X[:MANY_ROWS], self.y[:MANY_ROWS])

    def lost(self, model):
        margins = model.decision_function(self.X[MANY_ROWS:])
        return np.mean(np.logaddexp(0, -self.y[MANY_ROWS:] * margins))

    def test_the_model_is_the_likeliest(self):
        model = self.half(normalize=False)
        kept = model.get_support(indices=True)
        assert_array_equal(kept, [0, 1, 2, 3])
        given, start = given_rows(self.X[:MANY_ROWS, kept]), np.append(model.coef_[0][kept], 0.0)
        start[-1] = model.intercept_[0]
        slots = given.vocabulary["columns"]
        lesson = lesson_for(self.y[:MANY_ROWS], penalty=0.0)
        here = Table(lesson, given.with_slots(np.arange(4))).at(np.append(start[slots], start[-1]))
        assert np.abs(here.slopes).max() < 2.0  # of a thousand rows

    def test_it_errs_less_than_one_that_was_on_its_way(self):
        settled, refitted = self.half(), self.half(Refitted)
        assert_array_equal(settled.get_support(), refitted.get_support())
        assert self.lost(settled) < 0.98 * self.lost(refitted)

    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "modified_huber"])
    def test_only_chances_can_be_likely(self, loss):
        refitted = self.half(Refitted, loss=loss).coef_
        assert_array_equal(self.half(loss=loss).coef_, refitted)
        assert (self.half().coef_ != self.half(Refitted).coef_).any()

    def test_without_refit_weights_are_those_of_the_selection(self):
        assert_array_equal(self.half(refit=0.0).coef_, self.half(Refitted, refit=0.0).coef_)

    def test_files_and_streams_go_on_from_it(self, tmp_path):
        model = self.half()
        model.save(tmp_path / "m.thresher", training_state=True)
        loaded = thresher.load(tmp_path / "m.thresher")
        assert_array_equal(loaded.coef_, model.coef_)
        rest = self.X[MANY_ROWS:], self.y[MANY_ROWS:]
        assert_array_equal(loaded.partial_fit(*rest).coef_, model.partial_fit(*rest).coef_)

    def test_threads_do_not_matter(self):
        labels = np.where(self.X[:, 4] > 0, 3.0, self.y)
        fits = [ThresherClassifier(**MADE, n_jobs=n).fit(self.X, labels).coef_ for n in (1, 2)]
        assert_array_equal(*fits)


class TestNoisyRows:
    """Of rows that leave most unexplained, weights are held back by what they could not know."""

    N = 3000

    def rows(self, seed=0, strength=0.5, share=0.05):
        """Return marks of which half say a little, and the others nothing."""
        rng = np.random.default_rng(seed)
        X = (rng.random((2 * self.N, 300)) < share).astype(float)
        margins = X @ np.where(np.arange(300) % 2, rng.normal(0, strength, 300), 0.0)
        return X, np.where(rng.random(len(X)) < 1 / (1 + np.exp(-margins)), 1.0, -1.0)

    def fits(self, X, y, **made):
        made = {"n_features_to_select": 200, "random_state": 0, **made}
        return [
            kind(**made).fit(X[: self.N], y[: self.N]) for kind in (ThresherClassifier, Refitted)
        ]

    def lost(self, model, X, y):
        return np.mean(np.logaddexp(0, -y[self.N :] * model.decision_function(X[self.N :])))

    @pytest.mark.jit
    def test_they_tell_others_better(self):
        X, y = self.rows()
        cautious, refitted = self.fits(X, y)
        assert_array_equal(cautious.get_support(), refitted.get_support())
        assert np.linalg.norm(cautious.coef_) < 0.8 * np.linalg.norm(refitted.coef_)
        assert self.lost(cautious, X, y) < 0.98 * self.lost(refitted, X, y)

    def test_they_are_what_a_dense_twin_finds(self, to_the_end):
        X, y = self.rows()
        X, y = X[: self.N, :40], y[: self.N]
        start = np.append(np.full(40, 0.5), 0.0)
        found = asked(X, y, start)
        twin = reference_exchange.cautious(X, y, start)
        assert_allclose(found, twin, atol=0.01)

    @pytest.mark.jit
    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"strength": 8.0}, "most is explained"),
            ({"share": 0.6}, "most cells are filled"),
        ],
    )
    def test_others_keep_the_weights_of_the_refit(self, change, why):
        cautious, refitted = self.fits(*self.rows(**change))
        assert_array_equal(cautious.coef_, refitted.coef_, err_msg=why)

    @pytest.mark.jit
    def test_so_do_more_features_than_twice_the_rows_of_a_class(self):
        X, y = self.rows()
        y = np.where(np.cumsum(y > 0) <= 95, y, -1.0)  # no more than that are positive
        fits = [
            kind(n_features_to_select=200, random_state=0).fit(X[: self.N], y[: self.N])
            for kind in (ThresherClassifier, Refitted)
        ]
        assert_array_equal(fits[0].coef_, fits[1].coef_)

    @pytest.mark.jit
    def test_so_do_few_features_and_few_rows(self):
        X, y = self.rows()
        for fits in (
            self.fits(X, y, n_features_to_select=3),
            [kind(**MADE).fit(X[:900], y[:900]) for kind in (ThresherClassifier, Refitted)],
        ):
            assert_array_equal(fits[0].coef_, fits[1].coef_)

    @pytest.mark.jit
    def test_labels_that_nothing_tells_overflow_nothing(self):
        X, _ = self.rows()
        y = np.where(np.arange(len(X)) % 7, 1.0, -1.0)
        for intercept in (True, False):
            cautious, _ = self.fits(X, y, fit_intercept=intercept)
            assert np.isfinite(cautious.coef_).all()
