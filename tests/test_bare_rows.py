"""Rows without any feature: the intercept says how often each class comes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import thresher
from cases import LOSSES, NAMES, assert_same_bits, labelled_rows, make, make_streaming, stream
from thresher.files.errors import ModelFileError
from thresher.train.bare_rows import BareRows

BARE = sparse.csr_array((100, 5))
MOSTLY = (np.arange(100) % 10 != 3).astype(int)  # nine of ten


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", NAMES)
def test_the_frequent_class_is_predicted(name, loss):
    for model in (
        make(name, loss=loss).fit(BARE, MOSTLY),
        make(name, loss=loss).partial_fit(BARE, MOSTLY, classes=[0, 1]),
    ):
        assert set(model.predict(BARE)) == {1}
        if loss in ("log_loss", "modified_huber"):
            assert_allclose(model.predict_proba(BARE)[:, 1], 0.9, atol=0.03)
    without = make(name, loss=loss, fit_intercept=False).fit(BARE, MOSTLY)
    assert without.intercept_ == [0.0]


@pytest.mark.parametrize("name", NAMES)
def test_of_several_classes_the_most_frequent_is_predicted(name):
    labels = np.repeat(["ash", "elm", "oak"], [20, 50, 30])
    model = make(name).fit(BARE, labels)
    assert set(model.predict(BARE)) == {"elm"}
    assert_allclose(model.predict_proba(BARE)[0], [0.2, 0.5, 0.3], atol=0.01)


def test_weights_of_rows_count():
    weights = np.where(MOSTLY == 1, 0.1, 10.0)
    assert set(make("FTRLClassifier").fit(BARE, MOSTLY, weights).predict(BARE)) == {0}


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_may_begin_with_bare_rows_wherever_it_is_cut(name, tmp_path):
    rows, labels = labelled_rows()
    rows = sparse.vstack([sparse.csr_array((30, rows.shape[1])), 1e3 * rows], format="csr")
    labels = np.r_[(np.arange(30) % 7 != 3).astype(int), labels]
    weights = np.linspace(0.1, 1.3, 90)
    for end in (30, 31, 90):
        now = slice(0, end)
        whole = stream(make_streaming(name), rows[now], labels[now], (), weights[now])
        cut = stream(make_streaming(name), rows[:20], labels[:20], (7, 12), weights[:20])
        cut.save(tmp_path / "model", training_state=True)
        rest = slice(20, end)
        cut = stream(
            thresher.load(tmp_path / "model"), rows[rest], labels[rest], (4,), weights[rest]
        )
        assert_same_bits(cut, whole)
        assert np.isfinite(whole.intercept_).all()


def test_once_a_row_has_a_feature_those_before_do_not_count():
    rows, labels = labelled_rows()
    rows = sparse.vstack([sparse.csr_array((30, rows.shape[1])), rows], format="csr")
    models = [
        stream(make("PlainSGDClassifier"), rows, np.r_[np.full(30, before), labels], (10, 30))
        for before in (0, 1)
    ]
    assert_same_bits(*models)


def test_what_fails_is_not_counted():
    model = make_streaming("PlainSGDClassifier").partial_fit(BARE, MOSTLY, classes=[0, 1])
    before = model.intercept_
    strange = sparse.csr_array(np.r_[np.zeros((3, 5)), np.full((3, 5), 1e200)])
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(strange, np.zeros(6, int))
    assert model._model.problems[0].bare == BareRows(90.0, 10.0)
    assert model.intercept_ == before


def test_a_file_cannot_say_that_rows_count_less_than_nothing():
    with pytest.raises(ModelFileError, match="less than nothing"):
        BareRows.from_tree({"speaking_for": 1.0, "against": -1.0})
