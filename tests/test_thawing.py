"""Models in memory that cannot be written: mapped files, and arguments of other processes."""

import joblib
import numpy as np
import pytest

from cases import NAMES, assert_same_bits, labelled_rows, make_streaming, numbered_rows, stream
from thresher.data.thawing import thawed

ALL = [*NAMES, "ThresherRegressor"]


def rows_for(name):
    return numbered_rows() if name == "ThresherRegressor" else labelled_rows()


@pytest.mark.parametrize("name", ALL)
def test_learning_goes_on_from_a_mapped_file(name, tmp_path):
    rows, labels = rows_for(name)
    model = stream(make_streaming(name), rows, labels)
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert not mapped._model.vocabulary.slot_of.flags.writeable
    assert_same_bits(mapped, model)
    for _ in range(2):
        mapped.partial_fit(rows, labels)
        model.partial_fit(rows, labels)
        assert_same_bits(mapped, model)


@pytest.mark.parametrize("name", ALL)
def test_a_fit_goes_on_from_a_mapped_file(name, tmp_path):
    rows, labels = rows_for(name)
    model = make_streaming(name, warm_start=True).fit(rows, labels)
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert_same_bits(mapped.fit(rows, labels), model.fit(rows, labels))


def learn_on(model, rows, labels):
    return model.partial_fit(rows, labels)


def test_a_large_model_may_be_an_argument_of_other_processes():
    rows, labels = labelled_rows()
    model = stream(make_streaming("FTRLClassifier"), rows, labels)
    with joblib.Parallel(n_jobs=2, max_nbytes=100) as parallel:
        others = parallel([joblib.delayed(learn_on)(model, rows, labels) for _ in range(2)])
    model.partial_fit(rows, labels)
    for other in others:
        assert_same_bits(other, model)


def test_only_what_cannot_be_written_is_copied():
    free, fixed = np.zeros(3), np.zeros(3)
    fixed.flags.writeable = False
    state = {"some": [free], "one": (1, "word", None)}
    assert thawed(state) is state
    copied = thawed({"some": [free], "other": {"deep": fixed}})
    assert copied["other"]["deep"].flags.writeable
