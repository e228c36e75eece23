"""A fit that begins anew knows nothing of an earlier one."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import thresher
from cases import facts
from thresher import FTRLClassifier, PlainSGDClassifier, ThresherClassifier

SMALL = {"n_features_to_select": 3, "random_state": 0, "max_iter": 5, "n_stages": 4}


def array(width, n=60):
    rng = np.random.default_rng(width)
    X = rng.random((n, width)) * (rng.random((n, width)) < 0.6)
    return X, X[:, 0] > X[:, 1]


@pytest.fixture
def words(tmp_path):
    """Return a file whose features have names."""
    X, y = array(4)
    lines = [
        json.dumps({"label": str(label), **{f"w{j}": row[j] for j in np.flatnonzero(row)}})
        for row, label in zip(X, y, strict=True)
    ]
    path = tmp_path / "words.jsonl"
    path.write_text("\n".join(lines))
    return path


def frame(width):
    X, y = array(width)
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(width)]), y


@pytest.mark.parametrize("make", [ThresherClassifier, FTRLClassifier])
@pytest.mark.parametrize("first", ["frame", "words"])
def test_an_array_has_no_names(make, first, words):
    parameters = SMALL if make is ThresherClassifier else {"random_state": 0}
    model = make(**parameters)
    if first == "frame":
        model.fit(*frame(4))
    else:
        model.fit_stream(words)
    X, y = array(9)
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    names = {f"x{column}" for column in np.flatnonzero(model.coef_[0])}
    assert set(model.selection_table()["feature"][: len(names)]) == names
    assert set(model.get_feature_names_out()) == names
    fresh = make(**parameters).fit(X, y)
    assert facts(model) == facts(fresh)


def test_a_source_has_its_own_names(words):
    model = ThresherClassifier(**SMALL).fit(*frame(9))
    model.fit_stream(words)
    names = model.selection_table()["feature"]
    assert all(name.startswith("w") for name in names)


def test_where_a_loaded_model_came_from_is_forgotten(words, tmp_path):
    ThresherClassifier(**SMALL).fit_stream(words).save(tmp_path / "one.thresher")
    model = thresher.load(tmp_path / "one.thresher")
    assert model.data_fingerprint_
    model.fit(*array(5))
    assert not hasattr(model, "data_fingerprint_")
    assert not hasattr(model, "provenance_")
    model.save(tmp_path / "two.thresher")
    assert not hasattr(thresher.load(tmp_path / "two.thresher"), "data_fingerprint_")


def test_a_warning_that_is_an_error_leaves_everything_as_it_was():
    X, y = array(5, n=200)
    X[:, 2] *= 1e6
    model = PlainSGDClassifier(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="units"):
            model.partial_fit(X, y, classes=[False, True])
    assert not hasattr(model, "coef_")
