"""Where rows are measurements, all their columns are learnt as differences from the mean."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from thresher import FTRLClassifier, ThresherClassifier, ThresherRegressor
from thresher.estimators.decisions.offsets import FarColumns
from thresher.estimators.decisions.units import Sizes


def measured(X):
    """Return the columns that are learnt as differences from their means."""
    rows = sparse.csr_array(X)
    return np.sort(FarColumns.to_measure(rows, Sizes.in_rows(rows)).columns).tolist()


def table(n=60, seed=0):
    """Return six measurements, of which the first two lie far from zero."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 6)) + np.array([9.0, -9.0, 1.0, 0.5, -1.0, 0.2])


def intensities(n=300, p=400, seed=0):
    """Return raw intensities of genes, most of them far from zero, and some that vary widely."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    logs = rng.normal(6, 1, p) + rng.normal(size=(n, p)) * np.where(np.arange(p) % 7, 0.2, 1.0)
    logs[:, 1:7] += 0.15 * (2 * labels - 1)[:, None]
    return np.exp(logs), labels


def test_all_columns_of_measurements_are_measured():
    assert measured(table()) == [0, 1, 2, 3, 4, 5]


def test_not_so_where_none_is_far_from_zero():
    assert measured(table()[:, 2:]) == []
    constant = np.hstack([table()[:, 2:], np.full((60, 1), 3.0)])
    assert measured(constant) == [4]  # which says nothing of the others


def test_not_so_where_most_columns_have_few_values():
    rng = np.random.default_rng(1)
    marks = np.where(rng.random((60, 7)) < 0.1, rng.normal(size=(60, 7)), 0.0)
    assert measured(np.hstack([table(), marks])) == [0, 1]


def test_columns_with_many_zeros_stay_as_they_are():
    rng = np.random.default_rng(2)
    often = np.where(rng.random((60, 1)) < 0.6, rng.normal(1, 1, (60, 1)), 0.0)
    assert measured(np.hstack([table(), often])) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", [ThresherClassifier, ThresherRegressor])
def test_what_is_shown_is_for_rows_as_they_are(kind):
    X = table(200)
    y = (X[:, 2] > 1).astype(float)
    model = kind(n_features_to_select=2, random_state=0).fit(X, y)
    assert_allclose(model.column_offsets_, X.mean(axis=0))
    assert not getattr(model, "rows_normalized_", False)
    shown = X @ np.ravel(model.coef_) + model.intercept_
    told = model.predict(X) if kind is ThresherRegressor else model.decision_function(X)
    assert_allclose(shown, told, atol=1e-6)


@pytest.mark.jit
def test_intensities_are_learnt_as_well_as_scaled_ones():
    X, y = intensities()
    scaled = (X - X[:200].mean(axis=0)) / X[:200].std(axis=0)
    scores = [
        ThresherClassifier(n_features_to_select=6, random_state=0)
        .fit(rows[:200], y[:200])
        .score(rows[200:], y[200:])
        for rows in (X, scaled)
    ]
    assert scores[0] >= scores[1] - 0.02
    assert scores[0] > 0.9


def test_nobody_is_warned_of_columns_that_are_near_zero(recwarn):
    X = np.hstack([table(100), np.random.default_rng(3).normal(size=(100, 8))])
    FTRLClassifier(random_state=0).fit(X, X[:, 2] > 1)
    assert not [one for one in recwarn if "far from zero" in str(one.message)]
