"""Numbers too large or too small: the message says what helps, and it does."""

import warnings
from contextlib import suppress

import numpy as np
import pytest

from cases import labelled_rows, make, numbered_rows
from thresher.estimators.overflowing import Overflowed, remedy


@pytest.mark.jit
@pytest.mark.parametrize("factor", [1e-100, 1e-20, 1e20])
def test_double_precision_is_named_where_it_helps(factor):
    rows, y = numbered_rows()
    vanishes = factor < 1e-23
    told = (
        pytest.warns(UserWarning, match="squares are 0")
        if vanishes
        else pytest.raises(ValueError, match="overflowed")
    )
    with told as found:
        make("ThresherRegressor").fit(rows * factor, y)
    words = str(found[0].message if vanishes else found.value)
    assert "Set dtype='float64'" in words
    assert "multiply X by a number" in words
    assert "eta0" not in words
    plain = make("ThresherRegressor", dtype="float64").fit(rows, y)
    other = make("ThresherRegressor", dtype="float64").fit(rows * factor, y)
    assert other.score(rows * factor, y) == pytest.approx(plain.score(rows, y), abs=0.01)


def test_it_is_told_that_squares_vanish():
    rows, y = numbered_rows()
    with pytest.warns(UserWarning, match=r"at most .*e-200: their squares are 0 in float64"):
        make("ThresherRegressor", dtype="float64").fit(rows * 1e-200, y)
    with pytest.warns(UserWarning, match=r"can be learnt from them\. Multiply X"):
        make("PlainSGDClassifier").fit(rows * 1e-200, y > y.mean())


@pytest.mark.jit  # NumPy says what machine code does not
@pytest.mark.parametrize("factor", [1e-30, 1e-40])
@pytest.mark.parametrize("n_columns", [4, 30])
@pytest.mark.parametrize("name", ["ThresherClassifier", "ThresherRegressor"])
def test_what_vanishes_makes_no_other_noise(name, factor, n_columns):
    X = np.random.default_rng(0).normal(size=(300, n_columns))
    model = make(name, n_features_to_select=2, random_state=0)
    with warnings.catch_warnings(record=True) as heard, suppress(Overflowed):
        warnings.simplefilter("always")
        model.fit(X * factor, X[:, 0] > 0)
    assert not [one for one in heard if issubclass(one.category, RuntimeWarning)]


def test_a_few_small_values_among_others_are_welcome():
    rows, labels = labelled_rows()
    rows = rows.toarray()
    rows[3] *= 1e-200
    rows[5:7] = 0.0
    make("FTRLClassifier").fit(rows, labels)
    make("FTRLClassifier").fit(np.zeros((60, 4)), labels)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("PlainSGDClassifier", {"eta0": 1e200}, "Lower eta0 or set eta0='auto', multiply"),
        ("PlainSGDClassifier", {}, "Multiply"),
        ("FTRLClassifier", {"alpha": 1e200}, "Lower alpha, multiply"),
        ("RDAClassifier", {"gamma": 1e-200}, "Raise gamma, multiply"),
        ("RDAClassifier", {"gamma": "auto"}, "Multiply"),
        ("ThresherClassifier", {"dtype": "float32"}, "Set dtype='float64', multiply"),
        ("ThresherClassifier", {"dtype": "float64"}, "Multiply"),
    ],
)
def test_only_what_can_be_changed_is_named(name, changes, words):
    assert remedy(make(name, **changes)).startswith(words)


@pytest.mark.jit
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize("class_weight", [None, {0: 1e150, 1: 1}])
def test_huge_weights_are_named(call, class_weight):
    rows, labels = labelled_rows()
    model = make("ThresherClassifier", class_weight=class_weight)
    named = "sample_weight" if class_weight is None else "sample_weight or class_weight"
    told = {} if call == "fit" else {"classes": [0, 1]}
    weights = np.where(np.arange(60) % 3, 1.0, 1e150)
    with pytest.raises(Overflowed, match=rf"Lower {named} \(a row counts 1e\+\d+ times\), set"):
        getattr(model, call)(rows, labels, sample_weight=weights, **told)
    weights = np.where(np.arange(60) % 3, 1e-150, 1.0)
    model.set_params(class_weight=None)
    getattr(model, call)(rows, labels, sample_weight=weights, **told)
