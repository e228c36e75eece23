"""Rows are judged as if their columns had been prepared, though nobody writes such rows."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher.data.column_offsets import ColumnOffsets
from thresher.data.column_scales import ColumnScales
from thresher.data.prepared_scoring import (
    FEW,
    MOST_KINDS,
    Never,
    Often,
    PreparedScorer,
    Seldom,
)
from thresher.data.scoring import Scorer

WIDTH = 600


def scorer(n_prepared, n_problems=1, offset=3.0, by_place=False):
    """Return what judges rows of which so many columns are prepared; every seventh has no scale."""
    rng = np.random.default_rng(n_prepared)
    scales = np.where(np.arange(WIDTH + 1) % 7 == 6, 0.0, 1.0)
    scales[-1] = 0.0
    columns = np.sort(rng.choice(np.flatnonzero(scales), n_prepared, replace=False))
    scales[columns] = rng.uniform(0.5, 2.0, n_prepared)
    weights = [rng.normal(size=WIDTH + 1) for _ in range(n_problems)]
    for one in weights:
        one[-1] = 0.0
    place_of = None
    if by_place:
        place_of = np.roll(np.arange(WIDTH + 1, dtype=np.uint32), 1)
        weights = [one[np.argsort(place_of)] for one in weights]
    plain = Scorer(WIDTH, place_of, weights, rng.normal(size=n_problems), True)
    offsets = ColumnOffsets(columns, offset * rng.choice([-1.0, 1.0], n_prepared))
    return PreparedScorer(plain, offsets if n_prepared else None, ColumnScales(scales))


def rows(width=WIDTH, density=0.2, seed=0):
    """Return sparse rows, the third of them empty."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(40, width)) * (rng.random((40, width)) < density)
    dense[2] = 0.0
    return sparse.csr_array(dense)


def expected(judge, X):
    """Return the margins by the book."""
    wide = np.zeros((X.shape[0], WIDTH + 1))
    dense = X.toarray()[:, :WIDTH]
    wide[:, : dense.shape[1]] = dense
    columns = np.arange(WIDTH + 1)
    if judge.offsets is not None:
        wide = wide - judge.offsets.at(columns)
    lengths = np.linalg.norm(wide * judge.scales.factors, axis=1)
    lengths[lengths == 0] = np.inf
    places = judge.plain.places(columns)
    weights = np.array([one[places] for one in judge.plain.weights])
    found = wide @ weights.T / lengths[:, None] + judge.plain.biases
    return found[:, 0] if found.shape[1] == 1 else found


FEW_COLUMNS = WIDTH // FEW - 2
CASES = [0, 1, FEW_COLUMNS, 100, 300]


@pytest.mark.parametrize("by_place", [False, True])
@pytest.mark.parametrize("n_problems", [1, 3])
@pytest.mark.parametrize("n_prepared", CASES)
def test_margins_are_those_of_prepared_rows(n_prepared, n_problems, by_place):
    judge = scorer(n_prepared, n_problems, by_place=by_place)
    for X in (rows(), rows(density=1.0), rows(WIDTH + 50), rows(WIDTH - 100)):
        assert_allclose(judge.margins(X), expected(judge, X), rtol=1e-9, atol=1e-9)


def test_each_way_is_taken():
    kinds = [type(scorer(n)._judges[0]) for n in CASES]
    assert kinds == [Seldom, Seldom, Seldom, Often, Often]
    assert isinstance(scorer(100, by_place=True)._judges[0], Never)


@pytest.mark.parametrize("n_prepared", [5, 300])
def test_what_has_judged_rows_can_be_pickled(n_prepared):
    judge = scorer(n_prepared)
    margins = judge.margins(rows())
    assert_array_equal(pickle.loads(pickle.dumps(judge)).margins(rows()), margins)


def test_more_kinds_than_a_byte_tells_are_judged_with_care(monkeypatch):
    judge = scorer(FEW_COLUMNS)
    assert FEW_COLUMNS + 2 < MOST_KINDS
    monkeypatch.setattr("thresher.data.prepared_scoring.MOST_KINDS", 3)
    assert isinstance(judge._judges[0], Never)
    assert_allclose(judge.margins(rows()), expected(judge, rows()), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_prepared", [5, 300])
@pytest.mark.parametrize("offset", [1e5, 1e9])
def test_digits_that_a_subtraction_would_cost_are_kept(n_prepared, offset):
    judge = scorer(n_prepared, offset=offset)
    dense = rows(density=1.0).toarray() + judge.offsets.spread(WIDTH)
    X = sparse.csr_array(dense)
    assert_allclose(judge.margins(X), expected(judge, X), rtol=1e-5, atol=1e-5)


def test_numbers_too_large_to_square_and_rows_of_nothing():
    judge = scorer(0)
    X = rows() * 1e200
    assert_allclose(judge.margins(X), judge.margins(rows()), rtol=1e-9)
    assert judge.margins(X)[2] == judge.plain.biases[0]
