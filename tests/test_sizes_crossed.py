"""The size by cross-validation, with the one-standard-error rule."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import KFold

import thresher
from size_cases import FEW, cross_validated
from thresher import ThresherClassifierCV


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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sizes": []}, "a list of whole numbers"),
        ({"sizes": [3, 1.5]}, "a list of whole numbers"),
        ({"sizes": 5}, "a list of whole numbers"),
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
