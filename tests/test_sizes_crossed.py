"""The size by cross-validation, with the one-standard-error rule."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit

import thresher
from size_cases import FEW, cross_validated
from thresher import ThresherClassifierCV
from thresher.estimators.storing.saving import tree_of


@pytest.fixture(scope="module")
def crossed(binary):
    return cross_validated(binary)


@pytest.mark.jit
def test_cross_validation_obeys_the_one_standard_error_rule(crossed):
    path = crossed.path_
    assert path["size"].tolist() == [2, 4, 8, 20]
    best = path["log_loss"].argmin()
    good = path["log_loss"] <= path["log_loss"][best] + path["log_loss_se"][best]
    assert crossed.size_choice_.size == crossed.n_features_selected_ == path["size"][good][0]
    assert "explains" not in crossed.size_choice_.why
    assert_array_equal(path["nonzeros"], path["size"])
    assert ((path["error"] >= 0) & (path["error"] <= 1)).all()
    assert path["stability"].max() <= 1


@pytest.mark.jit
def test_splitters_are_taken_and_stored_as_numbers(binary, tmp_path):
    model = ThresherClassifierCV(cv=KFold(4), sizes=np.array([3, 9]), **FEW).fit(*binary)
    assert "of 4 folds" in model.size_choice_.why
    model.save(tmp_path / "m.thresher")
    loaded = thresher.load(tmp_path / "m.thresher")
    assert (loaded.cv, loaded.sizes) == (4, [3, 9])
    assert clone(model).cv is not model.cv


@pytest.mark.jit
def test_splits_may_be_given_themselves_and_sizes_as_any_sequence(binary):
    rows, labels = binary
    splits = list(thirds(labels.size).split())
    plain = ThresherClassifierCV(cv=thirds(labels.size), sizes=[1, 2, 3, 4], **FEW).fit(*binary)
    masks = [tuple(np.isin(np.arange(labels.size), part) for part in pair) for pair in splits]
    for cv in (splits, iter(splits), masks):
        model = ThresherClassifierCV(cv=cv, sizes=range(1, 5), **FEW).fit(rows, labels)
        assert_array_equal(model.path_["log_loss"], plain.path_["log_loss"])
        assert_array_equal(model.coef_, plain.coef_)
    assert tree_of(model)["parameters"]["sizes"] == [1, 2, 3, 4]


@pytest.mark.parametrize("cv", [[1, 2, 3], [([0, 1],)] * 3, [([0, 1], [99])] * 3, [("a", "b")] * 2])
def test_splits_that_are_none_are_refused(binary, cv):
    with pytest.raises(ValueError, match=r"Split 1 of cv is not a pair .* each below 60"):
        ThresherClassifierCV(cv=cv, **FEW).fit(*binary)


def test_a_single_split_is_refused_in_short(binary):
    with pytest.raises(ValueError, match="The splits of cv split the rows once: sizes"):
        ThresherClassifierCV(cv=[(range(30), range(30, 60))], **FEW).fit(*binary)


def thirds(n_rows):
    return PredefinedSplit(np.arange(n_rows) % 3)


@pytest.mark.jit
@pytest.mark.parametrize("class_weight", [None, {0: 1, 1: 2}])
def test_splitters_number_rows_as_the_caller_does(binary, class_weight):
    """Rows without weight are as good as rows that are not there, and shift no others' folds."""
    rows, labels = binary
    kept = np.flatnonzero(np.arange(labels.size) % 7)
    parameters = {"sizes": [3, 9], "class_weight": class_weight, **FEW}
    weights = np.isin(np.arange(labels.size), kept).astype(float)
    whole = ThresherClassifierCV(cv=thirds(labels.size), **parameters)
    whole.fit(rows, labels, sample_weight=weights)
    some = ThresherClassifierCV(cv=PredefinedSplit(kept % 3), **parameters)
    some.fit(rows[kept], labels[kept])
    assert_array_equal(whole.path_["log_loss"], some.path_["log_loss"])
    assert_array_equal(whole.coef_, some.coef_)


@pytest.mark.jit
def test_a_warm_start_does_not_split_again(binary):
    rows, labels = binary
    model = ThresherClassifierCV(cv=thirds(labels.size), sizes=[3], warm_start=True, **FEW)
    model.fit(rows, labels).fit(rows[:20], labels[:20])
    assert "of 3 folds" in model.size_choice_.why


def test_splits_that_cannot_compare_sizes_are_refused(binary):
    rows, labels = binary
    for cv in (ShuffleSplit(1), PredefinedSplit(np.where(np.arange(labels.size) < 9, 0, -1))):
        with pytest.raises(ValueError, match=r"splits the rows once.*number of folds"):
            ThresherClassifierCV(cv=cv, **FEW).fit(rows, labels)
    third = np.arange(labels.size) % 3
    with pytest.raises(ValueError, match="Split 2 of cv has no row with a weight to judge by"):
        ThresherClassifierCV(cv=thirds(labels.size), **FEW).fit(rows, labels, third != 1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sizes": []}, "a list of whole numbers"),
        ({"sizes": [3, 1.5]}, "a list of whole numbers"),
        ({"sizes": 5}, "a list of whole numbers"),
        ({"sizes": np.array(5)}, "a list of whole numbers"),
        ({"sizes": "5"}, "a list of whole numbers"),
        ({"sizes": {5: 1}}, "a list of whole numbers"),
        ({"cv": 1}, "of at least 2"),
        ({"cv": "many"}, "a method split"),
    ],
)
def test_strange_parameters_are_refused(binary, changes, words):
    with pytest.raises(ValueError, match=words):
        ThresherClassifierCV(**changes).fit(*binary)


def test_cross_validation_is_not_for_streams():
    model = ThresherClassifierCV()
    assert not hasattr(model, "partial_fit")
    assert not hasattr(model, "fit_stream")
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(None, None)
    assert "all at hand" in str(caught.value.__cause__)
