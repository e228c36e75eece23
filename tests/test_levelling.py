"""Margins of unequal classes, by what held-out rows make of them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import log_loss

from cases import UNCALIBRATED, dense_coef, facts
from model_cases import saved
from thresher import ThresherClassifier, ThresherClassifierCV
from thresher.estimators.decisions import levelling, step_lengths
from thresher.estimators.decisions.levelling import outnumber_a_class
from thresher.estimators.describing import describe
from thresher.estimators.wording import meaning_of
from thresher.train import likeliest

NOTHING = [1.0, 0.0]
SIZE = 400
SMALL = {"n_features_to_select": SIZE, "random_state": 0, "max_iter": 60, "n_stages": 10}


class Unlevelled(ThresherClassifier):
    """The flagship with its margins as they are."""

    decisions = UNCALIBRATED


def rare_class(n=300, seed=0, share=0.15, p=3000):
    """Return documents of sixty words, some of them of a topic of its own for either class."""
    rng = np.random.default_rng(seed)
    usual = 1 / np.arange(1, p + 1)
    y = np.where(rng.random(n) < share, 1, -1)
    topics = usual * np.exp(rng.normal(0, 1.5, (2, p)))
    chances = 0.7 * usual / usual.sum() + 0.3 * topics / topics.sum(axis=1, keepdims=True)
    counts = rng.multinomial(60, chances[(y > 0).astype(int)])
    rare = np.log(n / np.maximum(np.count_nonzero(counts, axis=0), 1))
    return sparse.csr_array(np.log1p(counts) * rare), y


@pytest.mark.parametrize(
    ("size", "positive", "negative", "asked"),
    [
        (10, 20, 80, True),
        (9, 20, 80, False),
        (10, 80, 20, True),
        (1000, 7, 93, False),  # seven rows say nothing
        (1000, 8, 92, True),
        (1000, 44, 56, True),
        (1000, 50, 50, True),
        (24, 50, 50, False),
        (1000, 0, 50, False),
    ],
)
def test_who_is_asked(size, positive, negative, asked):
    targets = np.repeat([1.0, -1.0], [positive, negative])
    for weight in (1.0, 3.0):
        assert outnumber_a_class(size, targets, np.full(targets.size, weight)) == asked


@pytest.mark.parametrize(("weight", "least"), [(1.0, 10), (4.0, 4), (0.25, 34)])
def test_who_weighs_more_is_asked_for_fewer_features(weight, least):
    targets = np.repeat([1.0, -1.0], [20, 80])
    importance = np.where(targets > 0, weight, 1.0)
    assert outnumber_a_class(least, targets, importance)
    assert not outnumber_a_class(least - 1, targets, importance)


def test_balanced_classes_are_asked():
    X, y = rare_class(n=2000)
    parameters = {**SMALL, "n_features_to_select": 60}
    assert ThresherClassifier(**parameters).fit(X, y).margin_lines_.tolist() == NOTHING
    balanced = ThresherClassifier(**parameters, class_weight="balanced").fit(X, y)
    assert balanced.margin_lines_.tolist() != NOTHING


def test_few_rows_are_asked_for_few_features_too():
    X, y = rare_class()
    model = ThresherClassifier(**{**SMALL, "n_features_to_select": 5}).fit(X, y)
    assert model.margin_lines_.tolist() != NOTHING


@pytest.mark.jit
def test_few_rows_are_not_overconfident_of_few_features():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(1090, 300)), np.zeros(300)
    weights[:8] = 1.0
    y = X @ weights + rng.logistic(size=1090) > 0
    parameters = {"n_features_to_select": 10, "random_state": 0}
    models = [kind(**parameters).fit(X[:90], y[:90]) for kind in (ThresherClassifier, Unlevelled)]
    levelled, before = (log_loss(y[90:], model.predict_proba(X[90:])) for model in models)
    assert levelled < 0.95 * before


# ----------------------------------------------------------------------------------- the flagship


@pytest.fixture(scope="module")
def both():
    """Return a model whose margins are levelled, and the same with margins as they are."""
    X, y = rare_class()
    return ThresherClassifier(**SMALL).fit(X, y), Unlevelled(**SMALL).fit(X, y)


def test_weights_are_a_lines_and_features_stay(both):
    model, before = both
    scale, shift = model.margin_lines_
    assert shift > 1  # the rarer class was parted off too far
    assert before.margin_lines_.tolist() == NOTHING
    assert_array_equal(model.get_support(), before.get_support())
    assert_allclose(dense_coef(model), scale * dense_coef(before), rtol=1e-6, atol=1e-7)
    assert_allclose(model.intercept_, scale * before.intercept_ + shift, rtol=1e-6)
    assert_array_equal(model.selection_probabilities_, before.selection_probabilities_)
    assert_array_equal(model.history_, before.history_)


@pytest.mark.jit
def test_new_rows_are_told_better():
    better = []
    for seed in range(3):
        X, y = rare_class(n=2300, seed=seed)
        fitted = [kind(**SMALL).fit(X[:300], y[:300]) for kind in (ThresherClassifier, Unlevelled)]
        errors = [np.mean(model.predict(X[300:]) != y[300:]) for model in fitted]
        chances = [model.predict_proba(X[300:])[:, 1] for model in fitted]
        losses = [np.mean(-np.log(np.where(y[300:] > 0, one, 1 - one))) for one in chances]
        better.append((errors[0] < errors[1], losses[0] < losses[1]))
    assert np.all(better)


def test_other_losses_are_shifted_only(both):
    X, y = rare_class()
    model = ThresherClassifier(**SMALL, loss="hinge").fit(X, y)
    before = Unlevelled(**SMALL, loss="hinge").fit(X, y)
    assert model.margin_lines_[0] == 1.0
    assert model.margin_lines_[1] != 0.0
    assert_allclose(dense_coef(model), dense_coef(before), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "changes",
    [
        {"fit_intercept": False},
        {"refit": 0.0},
        {"n_features_to_select": 60},
        {"n_features_to_select": 60, "loss": "hinge"},
    ],
)
def test_where_nobody_is_asked_the_bits_stay(changes):
    X, y = rare_class(n=2000)
    parameters = {**SMALL, **changes}
    model = ThresherClassifier(**parameters).fit(X, y)
    assert facts(model) == facts(Unlevelled(**parameters).fit(X, y))
    assert model.margin_lines_.tolist() == NOTHING


@pytest.mark.jit
def test_chances_of_equal_classes_are_told_better():
    losses = []
    for seed in range(3):
        X, y = rare_class(n=2200, seed=seed, share=0.5)
        y = np.where(np.random.default_rng(9).random(y.size) < 0.15, -y, y)
        for kind in (ThresherClassifier, Unlevelled):
            model = kind(**SMALL).fit(X[:200], y[:200])
            chances = model.predict_proba(X[200:])[:, 1]
            losses.append(np.mean(-np.log(np.where(y[200:] > 0, chances, 1 - chances))))
    assert np.all(np.array(losses[::2]) < losses[1::2])


@pytest.mark.jit
def test_weights_that_are_held_back_already_stay_as_they_are(monkeypatch):
    X, y = rare_class(n=2400, share=0.2)
    wrong = np.random.default_rng(1).random(y.size) < 0.1
    y[wrong] = -y[wrong]
    parameters = {**SMALL, "max_iter": 10}
    noisy = ThresherClassifier(**parameters).fit(X, y)
    assert noisy.margin_lines_.tolist() == NOTHING
    monkeypatch.setattr(likeliest, "MANY_ROWS", 10**6)
    assert ThresherClassifier(**parameters).fit(X, y).margin_lines_.tolist() != NOTHING


@pytest.mark.jit
def test_the_likeliest_weights_are_as_long_as_they_are_and_shifted_only(monkeypatch):
    X, y = rare_class(n=2400)
    monkeypatch.setattr(likeliest, "EXPLAINED", -np.inf)  # nobody is noisy
    monkeypatch.setattr(step_lengths, "LITTLE", 0.0)  # nor are steps longer
    parameters = {**SMALL, "max_iter": 3, "n_features_to_select": 200}
    model = ThresherClassifier(**parameters).fit(X, y)
    scale, shift = model.margin_lines_
    assert scale == 1.0
    assert shift != 0.0
    before = Unlevelled(**parameters).fit(X, y)
    assert before._model.learner.has_settled(before._model.problems[0].state)
    assert_allclose(dense_coef(model), dense_coef(before), rtol=1e-6, atol=1e-7)
    assert_allclose(model.intercept_, before.intercept_ + shift, rtol=1e-6)


def test_every_class_of_many_has_its_line():
    X, y = rare_class()
    y[:100:2] = 2
    model = ThresherClassifier(**SMALL).fit(X, y)
    assert model.margin_lines_.shape == (3, 2)
    before = Unlevelled(**SMALL).fit(X, y)
    scales, shifts = model.margin_lines_.T
    assert (shifts != 0).any()
    assert_allclose(model.intercept_, scales * before.intercept_ + shifts, rtol=1e-5)


def test_threads_and_runs_agree_to_the_bit(both):
    X, y = rare_class()
    for n_jobs in (1, 2):
        assert facts(ThresherClassifier(**SMALL, n_jobs=n_jobs).fit(X, y)) == facts(both[0])


def test_rows_without_weight_say_nothing(both):
    X, y = rare_class()
    more = sparse.vstack([X, X[:50]]).tocsr()
    weights = np.repeat([1.0, 0.0], [X.shape[0], 50])
    model = ThresherClassifier(**SMALL).fit(more, np.r_[y, -y[:50]], weights)
    assert facts(model) == facts(both[0])


def test_a_file_tells_it_again(both, tmp_path):
    for training_state in (False, True):
        loaded = saved(both[0], tmp_path, training_state)
        assert_array_equal(loaded.margin_lines_, both[0].margin_lines_)
        assert facts(loaded)["coef"] == facts(both[0])["coef"]


def test_a_description_says_so(both, tmp_path):
    model, before = both
    scale, shift = model.margin_lines_.tolist()
    (selection,) = describe(saved(model, tmp_path)).selections
    assert selection.margins == {"scale": scale, "shift": shift}
    assert meaning_of(selection).endswith(
        f"Decision values were rescaled by {scale:.3g} and shifted by {shift:+.3g}, as calibration "
        "on held-out folds suggested."
    )
    for line, words in (
        ((0.5, 0.0), "rescaled by 0.5, as"),
        ((1.0, -0.125), "shifted by -0.125, as"),
    ):
        margins = dict(zip(("scale", "shift"), line, strict=True))
        assert f"Decision values were {words}" in meaning_of(replace(selection, margins=margins))
    (selection,) = describe(before).selections
    assert selection.margins is None
    assert meaning_of(selection) == "Weights above 0 speak for 1."


def test_learning_begins_anew_or_goes_on(both):
    X, y = rare_class()
    again = ThresherClassifier(**SMALL, warm_start=True).fit(X, y).fit(X, y)
    assert again.margin_lines_[1] != 0.0
    fitted = ThresherClassifier(**SMALL).fit(X, y)
    streamed = fitted.set_params(max_iter=1).fit_stream(iter([(X, y)]))
    assert streamed.margin_lines_.tolist() == NOTHING


def test_a_size_that_was_searched_is_levelled_too():
    X, y = rare_class()
    parameters = {name: value for name, value in SMALL.items() if name != "n_features_to_select"}
    searched = ThresherClassifierCV(sizes=[SIZE], cv=3, **parameters).fit(X, y)
    assert searched.margin_lines_[1] != 0.0


def test_who_is_interrupted_is_as_before(both, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    X, y = rare_class()
    model = ThresherClassifier(**SMALL).fit(X, y)
    before = facts(model)
    monkeypatch.setattr(levelling, "held_out_counsels", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:200], y[:200])
    assert facts(model) == before


def test_verbose_says_so(capsys):
    X, y = rare_class()
    scale, shift = ThresherClassifier(**SMALL, verbose=1).fit(X, y).margin_lines_
    assert f"margins: {scale:.3g} times as large, and {shift:+.3g}" in capsys.readouterr().out


def test_a_stream_goes_on_from_a_levelled_model(both):
    """Before the first burst ends there is no average: the weights that were given are shown."""
    X, y = rare_class()
    model = ThresherClassifier(**SMALL).fit(X, y)
    assert model.margin_lines_.tolist() != NOTHING
    before = dense_coef(model)
    model.partial_fit(X[:10], y[:10])
    assert model.n_features_selected_ == SIZE
    assert_allclose(dense_coef(model), before, atol=0.5 * np.abs(before).max())
