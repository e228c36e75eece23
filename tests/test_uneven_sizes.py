"""Columns of ten times the size of most others, or a tenth: their sizes are made to say nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import thresher
from thresher.estimators.decisions.offsets import FarColumns
from thresher.estimators.decisions.units import NOWHERE, Sizes


def counts_of_genes(n=200, p=300, seed=0):
    """Return counts whose means differ by orders of magnitude; every thirtieth tells the class."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    logs = np.linspace(1.0, 7.0, p) + rng.normal(0.0, 0.5, (n, p))
    logs[:, ::30] += 0.4 * (2 * labels - 1)[:, None]
    return rng.poisson(np.exp(logs)).astype(float), labels


def beside_marks(size, n=400, seed=0):
    """Return marks in a tenth of the rows beside a column of some size, near zero or negative."""
    rng = np.random.default_rng(seed)
    marks = (rng.random((n, 30)) < 0.1).astype(float)
    return np.column_stack([marks, size * rng.normal(size=n)])


def scales_in(rows):
    """Return what the columns are multiplied by."""
    return thresher.UnitScaler().fit(rows).scale_


def classifier():
    """Return a model of the size that the counts have features for."""
    settings = {"n_features_to_select": 10, "normalize": True, "random_state": 0}
    return thresher.ThresherClassifier(**settings)


@pytest.mark.parametrize("size", [1 / 50, 30.0])
def test_a_column_far_apart_gets_the_size_of_most(size):
    rows = beside_marks(size)
    scales = scales_in(rows)
    assert_allclose(scales[:30], 1.0)
    assert_allclose(np.sqrt(np.mean((rows[:, 30] * scales[30]) ** 2)), 1.0)


@pytest.mark.parametrize("size", [1 / 7, 7.0])
def test_sizes_within_a_factor_of_ten_are_left_alone(size):
    assert_array_equal(scales_in(beside_marks(size)), np.ones(31))


def test_columns_of_unit_variance_are_left_alone():
    rng = np.random.default_rng(0)
    marks = (rng.random((10_000, 42)) < np.repeat([0.5, 0.002], [2, 40])).astype(float)
    rows = sparse.csr_array(marks / marks.std(axis=0))
    assert Sizes.in_rows(rows).ratios[:2].max() < 1 / 10
    assert_array_equal(scales_in(rows), np.ones(42))


def test_columns_with_a_value_in_most_rows_follow():
    rows = np.column_stack([beside_marks(3.0), beside_marks(30.0)[:, 30]])
    sizes = np.sqrt(np.mean((rows * scales_in(rows))[:, 30:] ** 2, axis=0))
    assert_allclose(sizes, 1.0)


def test_a_few_rows_do_not_make_others_follow():
    rows = beside_marks(3.0)
    rows[:9, 0] = 30.0
    rows[9:, 0] = 0.0
    assert_array_equal(scales_in(rows), np.ones(31))
    rows[9, 0] = 30.0
    assert scales_in(rows)[30] < 0.5


def test_columns_that_are_measured_anyway_make_no_others_follow():
    sizes = Sizes.in_rows(sparse.csr_array(beside_marks(30.0)))
    far = np.flatnonzero(sizes.columns == 30)
    assert sizes.without_unit(400).tolist() == far.tolist()
    assert not sizes.without_unit(400, measured=far).size


def test_it_is_worth_it(monkeypatch):
    # whoever weighs features finds some that had got lost
    monkeypatch.setattr("thresher.train.settling_work.few_speak", lambda *_: False)
    # nor does whoever takes all counts for measurements, if some are far from zero, need it
    monkeypatch.setattr(FarColumns, "to_measure", FarColumns.in_rows)
    (rows, labels), (others, truth) = counts_of_genes(), counts_of_genes(seed=1)
    model = classifier().fit(rows, labels)
    monkeypatch.setattr(Sizes, "without_unit", lambda self, n_rows, measured: NOWHERE)
    bare = classifier().fit(rows, labels)
    assert model.score(others, truth) > bare.score(others, truth) + 0.05


def test_rows_of_any_kind_give_the_same_model():
    rows, labels = counts_of_genes()
    model, other = (classifier().fit(X, labels) for X in (rows, sparse.csr_array(rows)))
    assert_array_equal(model.coef_, other.coef_)
    lengths = np.linalg.norm((rows - model.column_offsets_) * model.column_scales_, axis=1)
    expected = (rows - model.column_offsets_) @ model.coef_[0] / lengths + model.intercept_
    assert_allclose(model.decision_function(rows), expected, rtol=1e-9)
