"""Steps of the selection: shorter where rows are few, but not where they look much alike."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from cases import labelled_rows
from thresher import ThresherClassifier, ThresherRegressor
from thresher.estimators.decisions import selecting_steps
from thresher.estimators.decisions.selecting_steps import (
    MANY_ROWS,
    MANY_UPDATES,
    USUAL,
    common_share,
    own_share,
)

FIRST, LAST = USUAL


def shares_for(n_rows, own, n_features, updates=MANY_UPDATES):
    return selecting_steps.shares_for(n_rows, updates, own, n_features)


@pytest.mark.parametrize("n_features", [None, 10, 1000])
@pytest.mark.parametrize("own", [0.0, 0.3, 1.0])
def test_many_rows_have_usual_steps(n_features, own):
    assert shares_for(MANY_ROWS, own, n_features) == USUAL
    assert shares_for(100 * MANY_ROWS, own, n_features) == USUAL


def test_few_rows_have_shorter_ones():
    assert_allclose(shares_for(MANY_ROWS // 4, 1.0, 1000), (FIRST / 4, LAST / 2))
    firsts = [shares_for(n, 1.0, 1000)[0] for n in (100, 500, 1000, MANY_ROWS)]
    assert firsts == sorted(set(firsts))


def test_fewer_updates_do_not_learn_by_heart():
    shares = [shares_for(600, 1.0, 1000, updates) for updates in (80_000, 40_000, 12_000, 8_000)]
    assert shares == sorted(shares)
    assert_allclose([first for first, _ in shares], FIRST * np.array([0.1, 0.2, 2 / 3, 1]))
    assert shares_for(600, 1.0, 1000, 8 * MANY_UPDATES) == shares[0]


def test_rows_with_little_of_their_own_have_longer_ones_up_to_the_usual():
    shares = [shares_for(MANY_ROWS // 4, own, 1000) for own in (1.0, 0.9, 0.8, 0.5, 0.1, 0.0)]
    assert shares == sorted(shares)
    assert shares[3] == shares[-1] == USUAL
    assert shares[2] < USUAL


@pytest.mark.parametrize(
    ("n_features", "first", "last"),
    [(None, 1, 1), (5, 1, 1), (10, 1, 1), (25, 0.4, 1), (50, 0.25, 1), (80, 0.25, 5 / 8)],
)
def test_few_features_need_long_steps(n_features, first, last):
    shares = shares_for(MANY_ROWS // 4, 1.0, n_features)
    assert_allclose(shares, (first * FIRST, last * LAST))


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_what_is_common_is_what_dense_sums_say(normalize, indices):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(30, 8)) + 0.5) * (rng.random((30, 8)) < 0.7)
    X[3], X[:, 5] = 0.0, 0.0
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(indices), rows.indptr.astype(indices)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    dense = np.divide(X, norms, out=np.zeros_like(X), where=norms > 0) if normalize else X
    spread = np.mean(np.sum((dense - dense.mean(axis=0)) ** 2, axis=1))
    apart = spread / np.mean(np.sum(dense**2, axis=1))
    assert_allclose(common_share(rows, normalize), 1 - apart)
    empty = np.mean(np.delete(X, 5, axis=1) == 0)  # a column that never occurs is none
    assert_allclose(own_share(rows, normalize), apart**2 * empty)


@pytest.mark.parametrize(
    ("rows", "common", "own"),
    [
        (np.eye(4), 0.25, 0.75**3),
        (np.ones((4, 3)), 1.0, 0.0),
        (np.zeros((4, 3)), 0.0, 1.0),
        (np.full((4, 3), 1e200), 1.0, 0.0),
        (np.full((4, 3), 1e-200), 1.0, 0.0),
        (np.array([[1.0, 2.0], [-2.0, 1.0]] * 2), 0.5, 0.0),
    ],
    ids=["unlike", "alike", "empty", "huge", "tiny", "filled"],
)
def test_extremes(rows, common, own):
    rows = sparse.csr_array(rows)
    assert common_share(rows, normalize=True) == pytest.approx(common, abs=1e-12)
    assert own_share(rows, normalize=True) == pytest.approx(own, abs=1e-12)
    assert 0.0 <= common_share(rows, normalize=False) <= 1.0


def first_share(model):
    """Return the share of the refit's steps that a fitted model began with."""
    learner = model._model.learner
    return learner.selecting.rate / learner.refitting.rate


@pytest.mark.usefixtures("in_chunks")
def test_rows_at_hand_decide_for_classes_only(tmp_path):
    rows, labels = labelled_rows(n=120, p=40, density=0.2)
    few = {"n_features_to_select": 25, "random_state": 0, "max_iter": 100}
    fitted = ThresherClassifier(**few).fit(rows, labels)
    own = own_share(sparse.csr_array(rows), normalize=True)
    expected, _ = shares_for(120, own, 25, updates=100 * 120)
    assert first_share(fitted) == pytest.approx(expected)
    assert first_share(fitted) < 0.9 * FIRST
    assert first_share(ThresherRegressor(**few).fit(rows, labels)) == pytest.approx(FIRST)
    path = tmp_path / "rows.svm"
    dump_svmlight_file(rows, labels, str(path), zero_based=False)
    for model in (ThresherClassifier(**few), fitted):
        assert first_share(model.fit_stream(path)) == pytest.approx(FIRST)


def test_a_share_of_the_columns_is_as_good_as_a_number():
    rows, labels = labelled_rows(n=120, p=40, density=0.2)
    share, number = (
        ThresherClassifier(n_features_to_select=wanted, random_state=0, max_iter=100)
        for wanted in (0.5, 20)
    )
    assert_allclose(share.fit(rows, labels).coef_, number.fit(rows, labels).coef_, rtol=0, atol=0)
