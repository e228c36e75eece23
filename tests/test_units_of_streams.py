"""Streams whose columns are in very different units: warned of, or brought to one."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file

from cases import SMALL, labelled_rows, make
from thresher.estimators.decisions.units import WATCHED
from unit_cases import ODD, in_units

pytestmark = pytest.mark.usefixtures("in_chunks")

ALL_SMALL = list(SMALL)


@pytest.fixture
def problem():
    return labelled_rows(n=200, p=40, density=0.3, seed=4)


@pytest.mark.parametrize("name", ALL_SMALL)
@pytest.mark.parametrize("factor", [1e4, 1e-4])
def test_a_stream_warns_once_and_names_columns_and_remedy(problem, name, factor):
    rows, labels = problem
    frame = pd.DataFrame(in_units(rows, [5, 17], factor).toarray())
    frame.columns = [f"word {j}" for j in range(40)]
    model, told = make(name), {"classes": np.unique(labels)} if name.endswith("Classifier") else {}
    model.partial_fit(frame[:20], labels[:20], **told)
    with pytest.warns(UserWarning, match="different units") as caught:
        model.partial_fit(frame[20:80], labels[20:80])
    model.partial_fit(frame[80:], labels[80:])  # and no more: a warning would be an error
    [message] = [str(one.message) for one in caught]
    assert message.count("word") == 2
    assert "word 5" in message
    assert "word 17" in message
    assert f"thresher.UnitScaler().fit(some_rows), and give {name}" in message
    assert caught[0].filename == __file__


def test_a_stream_in_one_unit_is_watched_for_a_while_and_not_warned_of(problem):
    rows, labels = problem
    model = make("FTRLClassifier").partial_fit(rows, labels, classes=np.unique(labels))
    assert model._unit_watch.rows == 200
    while model._unit_watch is not None:
        model.partial_fit(rows, labels)
    assert model._model.problems[0].pace.updates < WATCHED + 201


def test_many_columns_are_counted_and_few_named(problem):
    rows, labels = problem
    odd = in_units(rows, np.arange(12, 24), 1e5)
    with pytest.warns(UserWarning, match=r"x\d+, x\d+, x\d+, x\d+, x\d+ and 7 more"):
        make("FTRLClassifier").partial_fit(odd, labels, classes=np.unique(labels))


def test_a_source_that_passes_once_is_warned_of(problem):
    rows, labels = problem
    chunks = [(in_units(rows, ODD, 1e4)[now], labels[now]) for now in (slice(99), slice(99, 200))]
    with pytest.warns(UserWarning, match="different units") as caught:
        make("FTRLClassifier", max_iter=1).fit_stream(iter(chunks))
    assert len(caught) == 1


@pytest.mark.jit
@pytest.mark.parametrize("size", [8, "auto"])
def test_a_source_whose_first_rows_are_looked_at_is_brought_to_one_unit(problem, size):
    rows, labels = problem
    models = []
    for factor in (1.0, 1e3):
        odd = in_units(rows, ODD, factor)
        chunks = iter([(odd[now], labels[now]) for now in (slice(99), slice(99, 200))])
        model = make("ThresherClassifier", n_features_to_select=size, max_iter=20)
        models.append(model.fit_stream(chunks))
    assert models[1].column_scales_[ODD[0]] == 0.001
    assert_allclose(models[1].coef_, models[0].coef_ * models[1].column_scales_, rtol=1e-6)


def test_files_are_brought_to_one_unit_by_themselves(problem, tmp_path):
    rows, labels = problem
    models = []
    for name, factor in (("plain", 1.0), ("odd", 1e3)):
        dump_svmlight_file(in_units(rows, ODD, factor), labels, str(tmp_path / f"{name}.svm"))
        models.append(make("ThresherClassifier").fit_stream(tmp_path / f"{name}.svm"))
    plain, mended = models
    assert mended.column_scales_[ODD[0]] == 0.001
    expected = plain.coef_ * np.where(np.isin(np.arange(plain.n_features_in_), ODD), 1e-3, 1.0)
    assert_allclose(mended.coef_, expected, rtol=1e-6, atol=1e-9)


def test_files_kept_as_shards_or_not_teach_the_same(problem, tmp_path):
    rows, labels = problem
    dump_svmlight_file(in_units(rows, ODD, 1e6), labels, str(tmp_path / "odd.svm"))
    kept, read = (
        make("FTRLClassifier", max_iter=4, shuffle=False).fit_stream(
            tmp_path / "odd.svm", cache=cache
        )
        for cache in (True, False)
    )
    assert read.column_scales_[ODD[0]] == 1e-6
    assert_array_equal(read.coef_, kept.coef_)


def test_a_file_that_is_read_once_is_learnt_as_it_comes(problem, tmp_path):
    rows, labels = problem
    dump_svmlight_file(in_units(rows, ODD, 1e6), labels, str(tmp_path / "odd.svm"))
    with pytest.warns(UserWarning, match="passes once"):
        model = make("FTRLClassifier", max_iter=1).fit_stream(tmp_path / "odd.svm")
    assert (model.column_scales_ == 1).all()


# ------------------------------------------------------------------------------------ the remedy
