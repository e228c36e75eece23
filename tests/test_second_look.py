"""Features of files that are read in chunks come back where some of the rows insist on it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from cases import facts
from commands import write_svmlight
from exchange_cases import hidden_truth
from thresher import ThresherClassifier, ThresherRegressor
from thresher.estimators import gathering
from thresher.train import model as models
from thresher.train.exchange import Exchanged

pytestmark = pytest.mark.usefixtures("in_chunks")


def quick(kind=ThresherClassifier, **changes):
    """Return a model whose selection is too short to be good."""
    return kind(**{"n_features_to_select": 3, "random_state": 0, "max_iter": 2, **changes})


def pieces(X, y, size=100):
    rows = sparse.csr_array(X)
    return [(rows[k : k + size], y[k : k + size]) for k in range(0, y.size, size)]


def support(model):
    return model.get_support(indices=True).tolist()


@pytest.fixture
def asked(monkeypatch):
    """Return the sizes of all samples that were asked; they bring nothing back."""
    sizes = []

    def seen(given, lesson, slots, start, open_to, terms, check):
        sizes.append((given.X.shape[0], slots.size))
        return Exchanged(slots, None, None)

    monkeypatch.setattr("thresher.train.second_look.exchanged", seen)
    return sizes


class Unexchanged(ThresherClassifier):
    """The same without the exchange."""

    def _learner(self, n_rows):
        return replace(super()._learner(n_rows), exchanges=False)


def test_what_tells_the_class_comes_for_what_tells_a_part():
    X, y = hidden_truth(n_columns=60)
    mended, left = (
        quick(kind).fit_stream(pieces(X, y)) for kind in (ThresherClassifier, Unexchanged)
    )
    assert [0 in support(one) for one in (mended, left)] == [True, False]
    assert mended.n_features_selected_ == left.n_features_selected_ == 3
    assert mended.selection_probabilities_.sum() == pytest.approx(3)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_so_it_does_for_numbers_in_any_unit(loss):
    X, y = hidden_truth(n_columns=60)
    near, far = (
        quick(ThresherRegressor, loss=loss).fit_stream(pieces(X, 50 + unit * y))
        for unit in (1.0, 1024.0)
    )
    assert 0 in support(near)
    assert support(near) == support(far)


@pytest.mark.parametrize("passing", [list, iter])
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_nothing_depends_on_how_rows_are_cut_nor_on_threads(n_jobs, passes, passing):
    X, y = hidden_truth(n_columns=60)
    labels = np.where(X[:, 1] > 0, "x", np.where(y > 0, "y", "z"))
    model = quick(shuffle=False, max_iter=passes, n_stages=2)
    alone = facts(model.fit_stream(passing(pieces(X, labels)), classes=["x", "y", "z"]))
    for size in (7, 600):
        rows = passing(pieces(X, labels, size))
        again = model.set_params(n_jobs=n_jobs).fit_stream(rows, classes=["x", "y", "z"])
        assert facts(again) == alone


@pytest.mark.parametrize(("size", "times"), [(100, 1), (101, 0), (400, 0)])
def test_many_features_and_all_are_not_exchanged(asked, size, times):
    rng = np.random.default_rng(4)
    X, y = (rng.random((300, 400)) < 0.1).astype(float), rng.choice([-1.0, 1.0], 300)
    quick(n_features_to_select=size).fit_stream(pieces(X, y))
    assert asked == times * [(300, size)]


def test_rows_are_asked_once_and_no_more_of_them_than_memory_holds(asked, monkeypatch):
    X, y = hidden_truth()
    monkeypatch.setattr(gathering, "MOST_RECALLED", 150)
    quick(max_iter=5, shuffle=False).fit_stream(pieces(X, y))
    within = 1 + np.searchsorted(np.cumsum(np.count_nonzero(X, axis=1)), 150)
    assert asked == [(within, 3)]


def test_rows_of_no_weight_are_not_asked(asked):
    X, y = hidden_truth()
    weights = (np.arange(y.size) % 3 > 0).astype(float)
    rows = [(*piece, weights[k * 100 : k * 100 + 100]) for k, piece in enumerate(pieces(X, y))]
    quick().fit_stream(rows)
    assert asked == [(400, 3)]


ONCE = {"max_iter": 1, "n_stages": 2}  # of a stream's stages, which end before its rows do


@pytest.mark.parametrize("passing", [list, iter])
def test_so_it_is_in_one_pass(passing):
    X, y = hidden_truth(n_columns=60)
    mended, left = (
        quick(kind, **ONCE).fit_stream(passing(pieces(X, y)), classes=[-1.0, 1.0])
        for kind in (ThresherClassifier, Unexchanged)
    )
    assert [0 in support(one) for one in (mended, left)] == [True, False]
    assert mended.n_features_selected_ == left.n_features_selected_ == 3


@pytest.mark.parametrize("passing", [list, iter])
def test_rows_that_are_yet_to_come_are_not_asked(asked, passing):
    X, y = hidden_truth()
    for size in (7, 100, 600):
        model = quick(**ONCE, shuffle=False)
        model.fit_stream(passing(pieces(X, y, size)), classes=[-1.0, 1.0])
    [(n_rows, n_features)] = set(asked)  # however rows are cut
    assert 100 < n_rows < 600
    assert n_features == 3


@pytest.mark.parametrize("read_again", [False, True])
def test_so_it_is_at_the_end_of_a_stream_that_still_selects(tmp_path, read_again):
    X, y = hidden_truth(n_columns=60)
    file = write_svmlight(tmp_path / "rows.svm", sparse.csr_array(X), y)
    mended, left = (
        quick(kind, max_iter=1).fit_stream(file if read_again else iter(pieces(X, y)))
        for kind in (ThresherClassifier, Unexchanged)
    )
    assert [0 in support(one) for one in (mended, left)] == [True, False]
    told = mended.selection_probabilities_
    assert told[support(mended)].min() > np.delete(told, support(mended)).max()
    # nothing was purged for it: more rows may come
    assert_array_equal(mended.stable_, left.stable_)
    assert mended.partial_fit(X, y).n_features_selected_ == 3


def test_rows_that_nobody_keeps_are_not_asked(asked):
    X, y = hidden_truth()
    model = quick(**ONCE)
    for piece in pieces(X, y):
        model.partial_fit(*piece, classes=[-1.0, 1.0])
    assert asked == []


def test_nor_are_those_of_a_single_path_which_fits_nothing_yet(asked):
    X, y = hidden_truth()
    quick(max_iter=1, n_paths=1).fit_stream(iter(pieces(X, y)), classes=[-1.0, 1.0])
    assert asked == []


def test_features_that_have_just_appeared_stay_beside_the_others():
    X, y = hidden_truth(n_columns=60)
    late = np.hstack([X, np.where(np.arange(600)[:, None] < 250, 0.0, X[:, :1])])
    model = quick(**ONCE).fit_stream(iter(pieces(late, y)), classes=[-1.0, 1.0])
    before = quick(Unexchanged, **ONCE).fit_stream(iter(pieces(late, y)), classes=[-1.0, 1.0])
    stable = [one._model.problems[0].state.stable.sum() for one in (model, before)]
    assert stable[0] == stable[1] >= 3
    assert model.n_features_selected_ == 3


def test_rows_that_lack_a_class_say_nothing(asked, monkeypatch):
    X, y = hidden_truth()
    order = np.argsort(y)
    monkeypatch.setattr(gathering, "MOST_RECALLED", 150)
    model = quick(shuffle=False).fit_stream(pieces(X[order], y[order]), classes=[-1.0, 1.0])
    assert asked == []
    assert model.n_features_selected_ == 3


def test_if_it_goes_wrong_nothing_of_the_chunk_is_kept(monkeypatch):
    X, y = hidden_truth()
    model = quick().fit_stream(pieces(X, y))
    before = facts(model)

    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(models, "look_again", broken)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_features_to_select=5).fit_stream(pieces(X, y))
    model.set_params(n_features_to_select=3)
    assert facts(model) == before
