"""Columns in very different units are told, by name, and the remedy that is named works."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline

import thresher
from cases import NAMES, labelled_rows, make
from thresher.estimators.units import column_sizes, odd_columns


@pytest.fixture
def problem():
    return labelled_rows(n=200, p=40, density=0.3, seed=4)


def in_units(rows, columns, factor):
    """Return the rows with some columns in another unit."""
    scale = np.ones(rows.shape[1])
    scale[columns] = factor
    return sparse.csr_array(rows @ sparse.diags(scale))


def odd_in(rows):
    """Return the columns that are far off, and the median size."""
    return odd_columns(*column_sizes(rows.indices, rows.data, rows.shape[1]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("factor", [1e4, 1e-4])
def test_a_warning_names_the_columns_and_the_remedy(problem, name, factor):
    rows, labels = problem
    frame = pd.DataFrame(in_units(rows, [5, 17], factor).toarray())
    frame.columns = [f"word {j}" for j in range(40)]
    with pytest.warns(UserWarning, match="different units") as caught:
        make(name).fit(frame, labels)
    [message] = [str(one.message) for one in caught]
    assert "word 5" in message
    assert "word 17" in message
    assert message.count("word") == 2
    assert f"make_pipeline(thresher.UnitScaler(), {name}(...))" in message
    if name != "StabilizedTruncatedSGDClassifier":  # whose own fit calls the common one
        assert caught[0].filename == __file__


def test_many_columns_are_counted_and_few_named(problem):
    rows, labels = problem
    with pytest.warns(UserWarning, match=r"x\d+, x\d+, x\d+, x\d+, x\d+ and 7 more"):
        make("FTRLClassifier").fit(in_units(rows, np.arange(12, 24), 1e5), labels)


@pytest.mark.parametrize("factor", [1e3, 1e-3, 1e6])
def test_the_remedy_gives_the_same_model(problem, factor):
    rows, labels = problem
    plain = make("ThresherClassifier").fit(rows, labels)
    odd = in_units(rows, [5, 6, 17], factor)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mended = make_pipeline(thresher.UnitScaler(), make("ThresherClassifier")).fit(odd, labels)
    assert_allclose(mended[-1].coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    assert_array_equal(mended.predict(odd), plain.predict(rows))


@pytest.mark.parametrize(
    "values",
    [
        np.ones,
        lambda n: np.exp(np.random.default_rng(0).normal(size=n)),
        lambda n: 999 * np.random.default_rng(0).random(n),
    ],
    ids=["marks", "weights", "pixels"],
)
def test_columns_in_one_unit_are_left_alone(values):
    rows = labelled_rows(n=300, p=60)[0]
    rows.data = values(rows.nnz)
    odd, _ = odd_in(rows)
    assert not odd.size
    scaler = thresher.UnitScaler().fit(rows)
    assert_array_equal(scaler.scale_, np.ones(60))
    assert_array_equal(scaler.transform(rows).toarray(), rows.toarray())


@pytest.mark.parametrize("value", [1e300, 1e-300])
def test_no_number_is_too_far_off(problem, value):
    rows = problem[0].toarray()
    rows[:, 5] = value
    odd, _ = odd_in(sparse.csr_array(rows))
    assert odd.tolist() == [5]
    assert np.isfinite(thresher.UnitScaler().fit(rows).scale_).all()


def test_one_value_tells_no_unit():
    rows = sparse.csr_array(np.vstack([np.ones((9, 3)), [1.0, 1.0, 1e6]]) * [1, 1, 1])
    rare = sparse.csr_array(np.column_stack([rows.toarray()[:, :2], [0] * 9 + [1e6]]))
    assert not odd_in(rare)[0].size


def test_columns_of_unknown_unit_are_dropped_only_where_units_differ(problem):
    rows, _ = problem  # columns 3 and 11 never occur
    there = np.ones((1, 40))
    assert thresher.UnitScaler().fit(rows).transform(there)[0, 3] == 1.0
    scaler = thresher.UnitScaler().fit(in_units(rows, [5], 1e4))
    assert scaler.transform(there)[0, [3, 11]].tolist() == [0.0, 0.0]
    assert np.count_nonzero(scaler.transform(there)) == 38


def test_rows_given_to_the_remedy_stay_as_they_were(problem):
    odd = in_units(problem[0], [5], 1e4)
    before = odd.copy()
    scaler = thresher.UnitScaler().fit(odd)
    for given in (odd, odd.toarray()):
        assert np.abs(scaler.transform(given)).max() < 100
    assert_array_equal(odd.toarray(), before.toarray())


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_remedy_keeps_types_and_names(problem, kind):
    frame = pd.DataFrame(in_units(problem[0], [5], 1e4).toarray().astype(kind))
    frame.columns = [f"word {j}" for j in range(40)]
    scaler = thresher.UnitScaler().fit(frame)
    assert scaler.transform(frame).dtype == kind
    assert_array_equal(scaler.get_feature_names_out(), frame.columns)
