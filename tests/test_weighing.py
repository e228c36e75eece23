"""Where only few columns say anything features are weighed: when, how, and what users see of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import reference_exchange
import thresher
from exchange_cases import given_rows, lesson_for
from thresher import ThresherClassifier, ThresherRegressor
from thresher.demo.data import FAINT, QUICK, Recipe, make_documents
from thresher.estimators.describing import describe
from thresher.estimators.wording import meaning_of
from thresher.learners.alone import ask, few_speak, nobody_speaks
from thresher.train.exchange import exchanged, freely, said_by_others, said_inside
from thresher.train.settling import Table, of_usual_effects

TELLING = 6


def marks(n_rows=1500, n_columns=200, odds=1.5, seed=0, telling=TELLING):
    """Return marks, some of them rare, of which the first few tell the class."""
    rng = np.random.default_rng(seed)
    shares = rng.permutation(np.geomspace(0.02, 0.4, n_columns))
    shares[:telling] = 0.1
    X = (rng.random((n_rows, n_columns)) < shares).astype(float)
    margins = odds * X[:, :telling] @ (-1.0) ** np.arange(telling)
    return X, np.where(rng.random(n_rows) < 1 / (1 + np.exp(-margins)), 1.0, -1.0)


def speaks_for_few(X, y, importance=None):
    given = given_rows(X)
    weights = np.ones(y.size) if importance is None else importance
    return few_speak(ask(given, y, weights), given.vocabulary)


def is_quiet(X, y):
    given = given_rows(X)
    return nobody_speaks(ask(given, y, np.ones(y.size)), given.vocabulary)


def test_a_few_that_say_all_are_heard():
    assert speaks_for_few(*marks())
    assert not is_quiet(*marks())


@pytest.mark.parametrize("seed", range(5))
def test_where_nothing_can_be_told_nobody_is_heard(seed):
    X, _ = marks()
    y = np.random.default_rng(seed).choice([-1.0, 1.0], len(X))
    assert not speaks_for_few(X, y)
    assert is_quiet(X, y)


def test_where_many_say_something_there_are_not_few():
    X, y = marks(telling=100, odds=0.4)
    assert not speaks_for_few(X, y)
    assert not is_quiet(X, y)


def test_who_cannot_be_asked_is_not_quiet():
    assert not is_quiet(np.eye(40), np.where(np.arange(40) % 2, 1.0, -1.0))


def test_two_loud_ones_may_be_so_by_chance():
    X, y = marks(telling=2)
    assert not speaks_for_few(X, y)
    assert speaks_for_few(*marks(telling=4))


def test_columns_of_a_few_rows_are_not_asked():
    X, y = marks()
    rare = np.zeros((len(X), 3000))
    rare[np.arange(3000) % len(X), np.arange(3000)] = 1.0
    rare[y < 0] = 0.0  # each is in no row or in one of the class that it seems to tell
    assert speaks_for_few(np.hstack([X, rare]), y)


def test_rows_without_weight_are_not_heard():
    X, y = marks()
    noise = np.random.default_rng(1).choice([-1.0, 1.0], len(X))
    weights = np.repeat([0.0, 1.0], len(X))
    assert not speaks_for_few(np.vstack([X, X]), np.append(y, noise), weights)
    assert speaks_for_few(np.vstack([X, X]), np.append(y, noise), weights[::-1])


@pytest.mark.parametrize("intercept", [True, False])
def test_it_agrees_with_its_slow_twin(intercept):
    X, y = marks(n_rows=300, n_columns=40)
    X *= np.linspace(0.5, 2.0, 40)
    importance = np.random.default_rng(2).integers(0, 3, y.size).astype(float)
    given, slots = given_rows(X), np.arange(8)
    columns = given.vocabulary["columns"]
    importance /= importance[importance > 0].mean()
    lesson = lesson_for(y, intercept=intercept, importance=importance)
    lesson = of_usual_effects(lesson, given.vocabulary)
    open_to, start = np.ones(40, bool), np.zeros(9)
    kept, here, _ = exchanged(given, lesson, slots, start, open_to, freely(8), lambda: None)
    stable = np.isin(np.arange(40), columns[slots])
    known = {"fit_intercept": intercept, "stable": stable, "weights": importance}
    chosen, told, weights = reference_exchange.weighed(X, y, **known)
    assert sorted(columns[kept]) == chosen != sorted(columns[slots])
    # who compares need not have the last of a cost; who is compared does
    table = Table(lesson.of_slots(kept), given.with_slots(kept))
    here = table.settled(here.weights, exactly=True)
    said = said_by_others(given, lesson, kept, open_to, here)
    said[kept] = said_inside(table, here)
    assert_allclose(said, [told[column] for column in columns], rtol=1e-3, atol=1e-4)
    order = np.argsort(columns[kept])
    assert_allclose(np.append(here.weights[:-1][order], here.weights[-1]), weights, rtol=1e-3)


@pytest.fixture(scope="module")
def documents():
    return make_documents(Recipe(**QUICK))


@pytest.fixture(scope="module")
def model(documents):
    size = {"n_features_to_select": 24, "random_state": 0}
    return ThresherClassifier(**size).fit(documents.X_train, documents.y_train)


def test_a_fit_that_weighs_finds_more(monkeypatch):
    faint = make_documents(FAINT)

    def fitted():
        size = {"n_features_to_select": FAINT.n_planted, "random_state": 0}
        return ThresherClassifier(**size).fit(faint.X_train, faint.y_train)

    weighed = fitted()
    monkeypatch.setattr("thresher.train.settling_work.few_speak", lambda *_: False)
    models = weighed, fitted()
    assert [one.features_weighed_ for one in models] == [True, False]
    found, before = (np.count_nonzero(faint.band_of[one.get_support()] >= 0) for one in models)
    assert found >= before + 5
    assert [one.n_features_selected_ for one in models] == [FAINT.n_planted] * 2


@pytest.mark.parametrize(
    "changes",
    [{"loss": "hinge"}, {"n_features_to_select": 301}, {"refit": 0.0}],
    ids=lambda changes: next(iter(changes)),
)
def test_others_are_not_weighed(documents, changes):
    parameters = {"n_features_to_select": 24, "random_state": 0, "max_iter": 5, **changes}
    fitted = ThresherClassifier(**parameters).fit(documents.X_train, documents.y_train)
    assert fitted.features_weighed_ is False
    assert not hasattr(ThresherRegressor(), "features_weighed_")


def test_a_stream_is_not_weighed(documents):
    stream = ThresherClassifier(n_features_to_select=24, random_state=0)
    stream.partial_fit(documents.X_train, documents.y_train, [-1, 1])
    assert stream.features_weighed_ is False


def test_every_class_is_weighed_for_itself(documents):
    # the third class is told by a single word, whose rows belong to nobody else
    labels = np.where(documents.X_train[:, [0]].toarray().ravel() > 0, 2, documents.y_train)
    fitted = ThresherClassifier(n_features_to_select=10, random_state=0, max_iter=5)
    fitted.fit(documents.X_train, labels)
    assert fitted.features_weighed_.tolist() == [True, True, False]


def test_probabilities_sum_to_the_size_and_follow_what_is_said(model):
    told = model.selection_probabilities_
    assert told.sum() == pytest.approx(24)
    assert told[model.get_support()].min() > np.sort(told[~model.get_support()])[-10:].mean()
    table = model.selection_table()
    assert table.selection_probability.max() == told.max() > 0.99


def test_it_is_the_same_for_any_number_of_threads(documents, model):
    two = ThresherClassifier(**{**model.get_params(), "n_jobs": 2})
    two.fit(documents.X_train, documents.y_train)
    assert_array_equal(two.coef_, model.coef_)
    assert_array_equal(two.selection_probabilities_, model.selection_probabilities_)


def test_a_file_tells_it_again(documents, model, tmp_path):
    for training_state in (False, True):
        model.save(tmp_path / "model", training_state=training_state)
        loaded = thresher.load(tmp_path / "model")
        assert loaded.features_weighed_ is True
        assert_array_equal(loaded.coef_, model.coef_)
        probabilities = loaded.selection_probabilities_, model.selection_probabilities_
        assert_array_equal(*(one[model.get_support()] for one in probabilities))
    loaded.partial_fit(documents.X_train[:50], documents.y_train[:50])
    assert loaded.n_features_selected_ == 24


def test_a_description_says_so(model):
    (selection,) = describe(model).selections
    assert selection.weighed
    assert "weighed against each other" in meaning_of(selection)


def test_a_warm_start_weighs_what_was_selected(documents, model):
    again = ThresherClassifier(**model.get_params()).set_params(warm_start=True)
    again.fit(documents.X_train, documents.y_train)
    first = set(again.get_support(indices=True))
    again.set_params(n_features_to_select=10).fit(documents.X_train, documents.y_train)
    assert set(again.get_support(indices=True)) <= first
    assert again.n_features_selected_ == 10
    assert again.features_weighed_ is True


def test_values_that_overflow_leave_a_finite_model():
    X, y = marks(n_rows=400)
    for scale in (1e150, 1e-150):
        fitted = ThresherClassifier(n_features_to_select=8, random_state=0, max_iter=3)
        fitted.fit(X * scale, y)
        assert np.isfinite(fitted.coef_).all()


def test_who_is_interrupted_while_weighing_is_as_before(documents, model, monkeypatch):
    mine = ThresherClassifier(**model.get_params()).fit(documents.X_train, documents.y_train)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("thresher.train.exchange._swapped", interrupted)
    with pytest.raises(KeyboardInterrupt):
        mine.fit(documents.X_train[:500], documents.y_train[:500])
    assert_array_equal(mine.coef_, model.coef_)
    assert mine.features_weighed_ is True
