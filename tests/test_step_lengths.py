"""Where classes are nearly separable steps are longer, if held-out rows lose far less by it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

import thresher
from cases import DECISIONS, UNCALIBRATED, facts
from model_cases import saved
from thresher import ThresherClassifier
from thresher.data.given_rows import GivenRows
from thresher.estimators.decisions import step_lengths
from thresher.estimators.decisions.asking import at_length
from thresher.estimators.decisions.decision import Decision, without
from thresher.estimators.decisions.step_lengths import LongerSteps
from thresher.estimators.describing import describe
from thresher.estimators.wording import facts_of
from thresher.files.errors import ModelFileError
from thresher.train import likeliest
from thresher.train.unexplained import unexplained_share

SMALL = {"n_features_to_select": 60, "random_state": 0, "max_iter": 10, "n_stages": 8}


def separable(n=400, seed=0, p=150):
    """Return rows whose class is a sum of many columns, without any doubt."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < 0.2) * rng.lognormal(0, 0.5, (n, p))
    return X, X @ np.random.default_rng(9).normal(size=p) > 0


@pytest.fixture
def always(monkeypatch):
    """Let every fit ask."""
    monkeypatch.setattr(step_lengths, "LITTLE", np.inf)


@pytest.fixture
def judged(monkeypatch):
    """Say by what share longer steps lower the held-out loss, and by how many errors of that."""

    def saying(saved_share, errors, compared=None):
        def losses(model, some, folds, way, run_all):
            if compared is not None:
                compared.append((model._step_scale, way))
            return np.ones(sum(fold.held.size for fold in folds))

        monkeypatch.setattr(step_lengths, "held_out_losses", losses)
        monkeypatch.setattr(
            step_lengths, "lost_by", lambda *_: (saved_share, abs(saved_share) / errors)
        )

    return saying


@pytest.mark.parametrize(
    ("saved_share", "errors", "scale"),
    [(0.06, 2.1, 4.0), (0.04, 9.0, 1.0), (0.3, 1.9, 1.0), (-0.3, 9.0, 1.0), (np.nan, 1.0, 1.0)],
)
def test_they_must_save_a_share_and_be_sure_of_it(always, judged, saved_share, errors, scale):
    judged(saved_share, errors)
    assert ThresherClassifier(**SMALL).fit(*separable()).step_scale_ == scale


def test_what_is_compared_are_models_as_long_in_the_making_as_a_fit(always, judged):
    compared = []
    judged(0.0, 1.0, compared)
    ThresherClassifier(**SMALL).fit(*separable())
    assert compared == [(1.0, at_length), (4.0, at_length)]  # two folds have said enough


def test_a_fit_with_longer_steps_is_one_of_these_from_the_start(always, judged):
    X, y = separable()
    judged(0.5, 9.0)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = ThresherClassifier(**SMALL, normalize=False).fit(rows, y)
    assert model.step_scale_ == 4.0
    judged(-0.5, 9.0)
    usual = ThresherClassifier(**SMALL, normalize=False).fit(rows, y)
    assert usual.step_scale_ == 1.0
    assert not np.array_equal(usual.coef_, model.coef_)
    # rows of unit length: three is the usual rate, four times as much the longer one
    by_hand = ThresherClassifier(**SMALL, normalize=False, eta0=12.0).fit(rows, y)
    assert by_hand.step_scale_ == 1.0
    assert_array_equal(by_hand.get_support(), model.get_support())


@pytest.mark.parametrize(
    "changes", [{"eta0": 3.0}, {"loss": "hinge"}, {"refit": 0.0}, {"loss": "modified_huber"}]
)
def test_who_is_told_otherwise_compares_nothing(always, monkeypatch, changes):
    monkeypatch.setattr(step_lengths, "held_out_losses", None)
    assert ThresherClassifier(**{**SMALL, **changes}).fit(*separable()).step_scale_ == 1.0


def test_weights_that_steps_did_not_find_are_not_compared(always, monkeypatch):
    monkeypatch.setattr(step_lengths, "held_out_losses", None)
    monkeypatch.setattr(likeliest, "by_chance", lambda *_: -1.0)  # any fall of the loss will do
    monkeypatch.setattr(ThresherClassifier, "decisions", UNCALIBRATED)
    model = ThresherClassifier(**SMALL).fit(*separable())
    assert model._model.learner.has_settled(model._model.problems[0].state)
    assert model.step_scale_ == 1.0


def test_where_much_is_unexplained_nothing_is_compared(monkeypatch):
    X, y = separable()
    noisy = np.random.default_rng(0).random(y.size) < 0.5
    monkeypatch.setattr(step_lengths, "held_out_losses", None)
    assert ThresherClassifier(**SMALL).fit(X, noisy).step_scale_ == 1.0


def test_too_few_rows_of_a_class_cannot_tell(always, monkeypatch):
    X, y = separable()
    rows = np.append(np.flatnonzero(y)[:99], np.flatnonzero(~y))
    monkeypatch.setattr(step_lengths, "held_out_losses", None)
    assert ThresherClassifier(**SMALL).fit(X[rows], y[rows]).step_scale_ == 1.0


def test_an_earlier_fit_has_no_say(always, judged):
    X, y = separable()
    judged(0.5, 9.0)
    model = ThresherClassifier(**SMALL).fit(X, y)
    assert model.step_scale_ == 4.0
    judged(-0.5, 9.0)
    assert facts(model.fit(X, y)) == facts(ThresherClassifier(**SMALL).fit(X, y))
    assert model.step_scale_ == 1.0


def test_many_classes_are_compared_together(always, judged):
    X, y = separable(n=800)
    judged(0.5, 9.0)
    model = ThresherClassifier(**SMALL).fit(X, y + (X.sum(axis=1) > np.median(X.sum(axis=1))))
    assert model.step_scale_ == 4.0


def test_an_interrupted_comparison_leaves_the_estimator_as_it_was(always, monkeypatch):
    X, y = separable()
    model = ThresherClassifier(**SMALL).fit(X[:200], y[:200])
    before = facts(model)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(step_lengths, "held_out_losses", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert facts(model) == before


def test_files_keep_it_and_words_tell_it(always, judged, tmp_path, capsys):
    X, y = separable()
    judged(0.5, 9.0)
    model = ThresherClassifier(**SMALL, verbose=1).fit(X, y)
    assert "Steps were 4 times as long as usual" in capsys.readouterr().out
    assert "4 times" in facts_of(describe(model))["steps"]
    for training_state in (False, True):
        again = saved(model, tmp_path, training_state=training_state)
        assert again.step_scale_ == 4.0
    judged(-0.5, 9.0)
    usual = ThresherClassifier(**SMALL).fit(X, y)
    assert "steps" not in facts_of(describe(usual))
    assert saved(usual, tmp_path).step_scale_ == 1.0


@pytest.mark.parametrize("scale", [0.0, 3.0])
def test_a_file_with_a_length_that_steps_cannot_have_is_refused(always, judged, tmp_path, scale):
    judged(0.5, 9.0)
    model = ThresherClassifier(**SMALL).fit(*separable())
    model._step_scale = scale
    path = tmp_path / "odd.thresher"
    model.save(path)
    with pytest.raises(ModelFileError, match="steps have a length"):
        thresher.load(path)


class Usual(ThresherClassifier):
    """The flagship with the usual steps."""

    decisions = without(DECISIONS, LongerSteps)


@pytest.mark.jit
def test_a_digit_is_predicted_better():
    X, y = load_digits(return_X_y=True)
    left, right = np.random.default_rng(0).integers(64, size=(2, 1500))
    rows = np.hstack([X, X[:, left] * X[:, right] / 16])
    missed = np.zeros(2)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(y.size)
        train, test = order[:1200], order[1200:]
        for place, kind in enumerate((ThresherClassifier, Usual)):
            model = kind(n_features_to_select=100, random_state=seed)
            model.fit(rows[train], y[train] == 3)
            assert model.step_scale_ == (1.0 if place else 4.0)
            missed[place] += np.sum(model.predict(rows[test]) != (y[test] == 3))
    assert missed[0] < missed[1]


def test_what_is_unexplained_is_the_loss_over_that_of_the_intercept_alone():
    X, y = separable()
    before_levelling = Unlevelled(**SMALL).fit(X, y)
    share = before_levelling.shares[0]
    margins = np.where(y, 1, -1) * before_levelling.decision_function(X)
    nothing = -np.mean(np.where(y, np.log(y.mean()), np.log(1 - y.mean())))
    assert share == pytest.approx(np.mean(np.logaddexp(0, -margins)) / nothing, rel=1e-5)


class TellsUnexplained(Decision):
    """Whether anything is left unexplained: it decides nothing, and says how much."""

    def revises(self, estimator, learnt, run_all):
        model, (rows, *told) = estimator._model, learnt
        given = GivenRows(rows, model.vocabulary, model.learner.dtype)
        estimator.shares = [unexplained_share(model.learner, model.problems, given, *told)]
        return False


class Unlevelled(ThresherClassifier):
    """The flagship with margins as they are, which tells what it left unexplained."""

    decisions = (*without(UNCALIBRATED, LongerSteps), TellsUnexplained())
