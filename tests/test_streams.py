"""Learning from sources: however rows arrive, the same model."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from cases import NAMES, labelled_rows, make_streaming
from cases import make as make_small
from thresher import FTRLClassifier, PlainSGDClassifier, ThresherClassifier
from thresher.data.errors import DataError

pytestmark = pytest.mark.usefixtures("in_chunks")


def in_chunks(rows, labels, *cuts):
    """Return the rows cut at the given places."""
    edges = [0, *cuts, rows.shape[0]]
    return [(rows[first:last], labels[first:last]) for first, last in pairwise(edges)]


@pytest.fixture(params=NAMES)
def make(request):
    def build(**changes):
        return make_small(request.param, **{"tol": None, "shuffle": False, **changes})

    return build


def same(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)


def test_one_pass_is_partial_fit(make, problem):
    rows, labels = problem
    chunks = in_chunks(rows, labels, 7, 20)
    streamed = make(max_iter=1).fit_stream(iter(chunks), classes=np.unique(labels))
    fed = make(max_iter=1)
    for X, y in chunks:
        fed.partial_fit(X, y, classes=np.unique(labels))
    same(streamed, fed)


def test_cuts_do_not_matter(make, problem):
    rows, labels = problem
    whole = make().fit_stream([(rows, labels)])
    cut = make().fit_stream(in_chunks(rows, labels, 1, 2, 19, 33))
    same(whole, cut)
    assert whole.n_iter_ == cut.n_iter_


def test_later_passes_count_no_row_twice(problem):
    rows, labels = problem
    model = FTRLClassifier(max_iter=3, tol=None).fit_stream([(rows, labels)])
    vocabulary = model._model.vocabulary
    counts = np.diff(sparse.csc_array(rows).indptr)
    np.testing.assert_array_equal(vocabulary.spread(vocabulary["occurrences"]), counts)


def test_several_passes_of_a_classic_learner(problem):
    rows, labels = problem
    streamed = FTRLClassifier(max_iter=3, tol=None, shuffle=False).fit_stream([(rows, labels)])
    fed = FTRLClassifier()
    for _ in range(3):
        fed.partial_fit(rows, labels, classes=np.unique(labels))
    same(streamed, fed)
    assert streamed.n_iter_ == 3


def test_training_ends_early_when_nothing_changes(binary):
    model = PlainSGDClassifier(max_iter=500, tol=0.5, random_state=0).fit_stream([binary])
    assert 1 < model.n_iter_ < 500


def test_rows_may_become_wider(binary):
    rows, labels = binary
    rows = rows.tocsr()
    narrow = sparse.csr_array(rows[:20, :10])
    model = FTRLClassifier(l1=0.01).fit_stream(iter([(narrow, labels[:20]), (rows, labels)]))
    assert model.n_features_in_ == rows.shape[1]
    assert model.predict(rows).shape == labels.shape


@pytest.mark.jit
def test_known_rows_have_the_usual_passes():
    rng = np.random.default_rng(0)
    rows = sparse.random_array((600, 300), density=0.1, rng=rng, format="csr")
    labels = np.where(rows[:, :8].sum(axis=1) > 0.4, 1, -1)
    model = ThresherClassifier(n_features_to_select=8, random_state=0)
    streamed = model.fit_stream(in_chunks(rows, labels, 111, 399))
    assert np.flatnonzero(streamed.coef_[0]).tolist() == list(range(8))
    assert streamed.score(rows, labels) > 0.9


def test_a_label_that_was_never_seen(binary):
    rows, labels = binary
    strange = labels.copy()
    strange[30] = 7
    model = FTRLClassifier().fit(rows, labels)
    before = model.coef_
    with pytest.raises(
        DataError, match=r"label 7 of row 31 is not among the classes 0, 1.*--class"
    ):
        model.fit_stream(iter(in_chunks(rows, strange, 20)), classes=[0, 1])
    np.testing.assert_array_equal(model.coef_, before)


def test_one_class(binary):
    rows, _ = binary
    with pytest.raises(
        DataError, match="All rows looked at are of class 1: a classifier needs two"
    ):
        FTRLClassifier().fit_stream([(rows, np.ones(rows.shape[0]))])


def test_no_rows():
    with pytest.raises(DataError, match="not a single row"):
        FTRLClassifier().fit_stream([])


def test_classes_can_be_told(binary):
    rows, labels = binary
    model = FTRLClassifier().fit_stream(iter([(rows, labels)]), classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (np.zeros((3, 2)), "Item 1 of the stream is ndarray: give tuples"),
        ((np.zeros((3, 2)), np.zeros(2)), r"has 3 rows and labels of shape \(2,\)"),
        ((np.full((1, 2), np.nan), np.zeros(1)), "values that are not finite"),
    ],
)
def test_items_that_are_no_rows(item, words):
    with pytest.raises(DataError, match=words):
        FTRLClassifier().fit_stream([item])


def test_what_is_no_source():
    with pytest.raises(TypeError, match="fit_stream takes paths, a source or an iterable"):
        FTRLClassifier().fit_stream(3)


def test_options_of_reading_are_for_files(binary):
    with pytest.raises(ValueError, match="label: options of reading are for files"):
        FTRLClassifier().fit_stream([binary], label="y")


@pytest.mark.jit
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_features_that_come_after_the_selection_do_not_add_to_the_size(loss):
    rng = np.random.default_rng(0)
    small = {"n_stages": 2, "n_paths": 3, "random_state": 3}
    model = ThresherClassifier(n_features_to_select=6, loss=loss, **small)
    ended = 0
    for chunk in range(30):
        rows = (rng.random((60, 20 * (chunk + 1))) < 0.1).astype(float)
        labels = np.where(rows[:, 3] + 2 * rows[:, -1] > 0, 1, 0)
        wide = np.zeros((60, 600))
        wide[:, : rows.shape[1]] = rows
        model.partial_fit(wide, labels, classes=[0, 1])
        ended += model._model.problems[0].state.stage.number > 3
        assert 0 < model.n_features_selected_ <= 6
        assert np.count_nonzero(model.selection_probabilities_ >= 0.5) <= 6
    assert ended > 10
    assert model.stable_.sum() > 6  # they are learnt all the same


def test_nor_do_those_that_come_late_in_a_single_pass_over_rows_that_were_counted():
    rng = np.random.default_rng(0)
    rows = (rng.random((200, 40)) < 0.2).astype(float)
    rows[:160, 20:] = 0.0
    labels = np.where(rows[:, 3] + rows[:, 30] > 0, 1, 0)
    once = {"max_iter": 1, "shuffle": False}
    model = ThresherClassifier(n_features_to_select=6, n_stages=2, random_state=3, **once)
    model.fit_stream([(rows, labels)])
    assert model.stable_.sum() > 6
    assert model.n_features_selected_ == 6


@pytest.mark.parametrize("name", ["ThresherClassifier", "ThresherRegressor"])
def test_a_single_pass_over_few_rows_need_not_know_how_many_there_are(name):
    rows, labels = labelled_rows(n=300)
    chunks = [(rows[a : a + 50], labels[a : a + 50]) for a in range(0, 300, 50)]
    known, unknown = (
        make_streaming(name, max_iter=1, shuffle=False, n_features_to_select=8).fit_stream(source)
        for source in (chunks, iter(chunks))
    )
    assert_array_equal(known.coef_, unknown.coef_)
    assert known.history_[-1]["rows_seen"] > 300  # the first rows are learnt again
