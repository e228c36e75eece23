"""How long weights of few rows should be, by rows that had no part in them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import thresher
from cases import UNCALIBRATED, dense_coef, facts
from thresher import ThresherClassifier
from thresher.estimators.decisions import levelling
from thresher.estimators.decisions.levelling import can_choose
from thresher.kernels.losses import LOG_LOSS
from thresher.kernels.rows import Rows
from thresher.train.levelling import Counsel, counsel_of
from thresher.train.restraint import PENALTIES, restrained
from thresher.train.settling import Lesson
from thresher.train.shrinking import Sight

SMALL = {"n_features_to_select": 60, "random_state": 0, "n_stages": 10, "max_iter": 60}


class AsRefitted(ThresherClassifier):
    """The flagship with weights and margins as the refit has them."""

    decisions = UNCALIBRATED


def noisy(n=500, seed=0, p=400, wrong=0.1):
    """Return rows of which a few columns tell the class, and many labels are wrong."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < 0.05).astype(float)
    chances = X[:, :40].sum(axis=1) - X[:, 40:80].sum(axis=1)
    y = np.where(chances + 0.1 * rng.normal(size=n) > 0, 1, -1)
    return sparse.csr_array(X), np.where(rng.random(n) < wrong, -y, y)


def lesson_of(X, y, importance=None):
    rows = sparse.csr_array(X)
    importance = np.ones(y.size) if importance is None else importance
    given = Rows(rows.indptr.astype(np.int64), rows.indices.astype(np.uint32), rows.data)
    return Lesson(LOG_LOSS, y.astype(float), importance, 0.0, True), given


# ----------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("penalty", [3.0, 0.1])
def test_weights_are_those_of_ridge_regression(penalty):
    X, y = noisy(n=80, p=20)
    importance = np.random.default_rng(0).integers(0, 3, y.size).astype(float)
    lesson, rows = lesson_of(X, y, importance)
    (found,) = restrained(lesson, rows, np.zeros(21), [penalty], exactly=True)
    norm = np.average(X.power(2).sum(axis=1), weights=importance)
    ridge = LogisticRegression(C=1 / (penalty * norm), tol=1e-10, max_iter=10_000)
    ridge.fit(X, y, sample_weight=importance)
    assert_allclose(found, np.append(ridge.coef_[0], ridge.intercept_), atol=1e-5)


def test_each_penalty_has_its_weights_and_none_has_none():
    X, y = noisy(n=80, p=20)
    lesson, rows = lesson_of(X, y)
    lengths = [np.sum(one[:-1] ** 2) for one in restrained(lesson, rows, np.zeros(21), PENALTIES)]
    assert lengths == sorted(lengths)
    assert lengths[0] > 0
    assert restrained(lesson, rows, np.zeros(21), ()) == []


# ----------------------------------------------------------------------------------------- counsel


def seen(refit, *others):
    """Return what two folds have seen of all rows."""
    halves = zip(*(np.array_split(margins, 2) for margins in (refit, *others)), strict=True)
    return [Sight(np.arange(1), margins, rest) for margins, *rest in halves]


def counsel(y, *margins):
    return counsel_of(seen(*margins), (1.0, 0.1), y, np.ones(y.size), LOG_LOSS)


def test_the_penalty_is_taken_whose_margins_tell_most():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    clear, vague, void = (y * told + rng.normal(size=y.size) for told in (1.5, 0.5, 0.0))
    assert counsel(y, vague, void, clear).penalty == 0.1
    assert counsel(y, vague, clear, void).penalty == 1.0
    assert counsel(y, clear, vague, void).penalty is None


def test_margins_are_compared_once_their_lines_are_drawn():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    margins = y + rng.normal(size=y.size)
    line, penalty = counsel(y, margins, 9 * margins, margins / 9)
    assert penalty is None
    assert line.scale == pytest.approx(2.0, rel=0.2)


def test_numbers_that_overflow_are_not_taken():
    y = np.array([1.0, -1.0] * 50)
    assert counsel(y, y * 0.1, np.full(y.size, np.nan), np.full(y.size, np.nan)).penalty is None


@pytest.mark.parametrize(
    ("positive", "negative", "choose"),
    [(100, 100, True), (99, 500, False), (500, 99, False), (100, 1899, True), (100, 1900, False)],
)
def test_who_can_choose(positive, negative, choose):
    assert can_choose(np.repeat([1.0, -1.0], [positive, negative])) == choose


# ------------------------------------------------------------------------------------ the flagship


@pytest.fixture(scope="module")
def both():
    X, y = noisy()
    return [kind(**SMALL).fit(X, y) for kind in (ThresherClassifier, AsRefitted)]


def test_noisy_rows_hold_weights_back(both):
    held, refitted = both
    assert_array_equal(held.get_support(), refitted.get_support())
    assert_array_equal(held.selection_probabilities_, refitted.selection_probabilities_)
    shorter = np.linalg.norm(dense_coef(held)) / np.linalg.norm(dense_coef(refitted))
    assert shorter < 0.7
    X, y = noisy(n=3000, seed=1)
    losses = [log_loss(y, model.predict_proba(X)) for model in both]
    assert losses[0] < 0.95 * losses[1]


def test_a_penalty_can_be_had_by_hand(both, monkeypatch):
    """What a counsel's penalty makes of weights is what ridge regression makes of them."""
    X, y = noisy()
    given = [Counsel(penalty=0.5)]
    monkeypatch.setattr(levelling, "held_out", lambda *_: given)
    model = ThresherClassifier(**SMALL, dtype="float64", normalize=False).fit(X, y)
    mine = X[:, model.get_support(indices=True)]
    norm = mine.power(2).sum(axis=1).mean()
    ridge = LogisticRegression(C=1 / (0.5 * norm), tol=1e-10, max_iter=10_000).fit(mine, y)
    assert_allclose(dense_coef(model)[0, model.get_support()], ridge.coef_[0], atol=1e-5)
    assert_allclose(model.intercept_, ridge.intercept_, atol=1e-5)


def test_other_losses_are_not_asked(monkeypatch):
    X, y = noisy(n=300)
    monkeypatch.setattr(levelling, "held_out_counsels", None)
    ThresherClassifier(**{**SMALL, "n_features_to_select": 20}, loss="hinge").fit(X, y)


def test_threads_do_not_matter(both):
    X, y = noisy()
    again = ThresherClassifier(**SMALL, n_jobs=2).fit(X, y)
    assert_array_equal(dense_coef(again), dense_coef(both[0]))
    assert again.intercept_ == both[0].intercept_


def test_it_says_what_it_did(capsys):
    X, y = noisy()
    ThresherClassifier(**SMALL, verbose=1).fit(X, y)
    assert "weights are held back by a penalty of" in capsys.readouterr().out


def test_a_stored_model_predicts_the_same(both, tmp_path):
    both[0].save(tmp_path / "held.thresher")
    loaded = thresher.load(tmp_path / "held.thresher")
    X, _ = noisy(n=20, seed=2)
    assert_array_equal(loaded.predict_proba(X), both[0].predict_proba(X))
    assert facts(loaded).keys() == facts(both[0]).keys()
