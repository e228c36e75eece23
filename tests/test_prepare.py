"""Preparation and the scorer: statistics add up, weights fold back, margins equal dense ones."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher.fitted import Fitted, Scorer
from thresher.prepare import Preparation, Statistics, measured_columns
from thresher.rows import Rows


def rows_of(dense):
    return Rows.of(sparse.csr_array(dense))


def words(n=40, p=30, seed=0):
    """Return rows of few positive values, as of words in documents."""
    rng = np.random.default_rng(seed)
    return rng.random((n, p)) * (rng.random((n, p)) < 0.15)


def statistics_of(X, importance=None):
    importance = np.ones(len(X)) if importance is None else importance
    return Statistics.of(rows_of(X), X.shape[1], importance)


# ---------------------------------------------------------------------------------- statistics


def test_statistics_equal_numpy_and_add_up():
    X, s = words(), np.random.default_rng(1).random(40)
    whole = statistics_of(X, s)
    for mine, its in zip(whole, (s.sum(), s @ (X != 0), s @ X, s @ X**2), strict=True):
        assert_allclose(mine, its)
    parts = statistics_of(X[:1], s[:1]) + statistics_of(X[1:25], s[1:25])
    for mine, its in zip(parts + statistics_of(X[25:], s[25:]), whole, strict=True):
        assert_allclose(mine, its)


def test_a_chunk_may_bring_new_columns():
    X = words()
    X[:20, 17:] = 0.0
    for one, other in ((X[:20, :17], X[20:]), (X[20:], X[:20, :17])):
        for mine, its in zip(
            statistics_of(one) + statistics_of(other), statistics_of(X), strict=True
        ):
            assert_allclose(mine, its)


def test_sizes_and_spreads():
    X = np.array([[3.0, 1, 0], [-4, 1, 0], [0, 1, 0]])
    statistics = statistics_of(X)
    assert_allclose(statistics.sizes(), [np.sqrt(12.5), 1, 0])
    # around the mean of all rows, over those with a value
    assert_allclose(statistics.spreads(), [np.sqrt((25 - 1 / 3) / 2), 0, 0])


# ------------------------------------------------------------------------------------ decisions


def with_column(values, share):
    """Return words, and a last column with such values in a share of the rows."""
    X = words(n=200)
    values = np.where(np.arange(200) < share * 200, values, 0.0)
    return np.column_stack([X, values])


@pytest.mark.parametrize(
    ("X", "measured", "unit"),
    [
        (np.random.default_rng(0).normal(size=(20, 5)), range(5), False),  # dense
        (np.ones((20, 5)), range(5), False),
        (words(), [], True),
        (with_column(0.5, 1.0), [], True),  # dense, but like words
        (with_column(30.0, 1.0), [30], True),  # dense and odd
        (with_column(0.01, 1.0), [30], True),
        (with_column(30.0, 0.3), [], True),  # sparse and a little odd
        (with_column(300.0, 0.3), [30], True),  # sparse and very odd
        (with_column(300.0, 0.02), [], True),  # in four rows
        (np.zeros((20, 5)), [], False),
    ],
)
def test_measured_columns_and_length(X, measured, unit):
    statistics = statistics_of(X)
    assert_array_equal(measured_columns(statistics), list(measured))
    preparation = Preparation.from_statistics(statistics)
    assert_array_equal(preparation.measured, list(measured))
    assert preparation.unit is unit
    inside = np.full(X.shape[1], unit)
    inside[list(measured)] = False
    assert_array_equal(preparation.in_length(X.shape[1]), inside)


def test_constant_columns_have_a_size():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[:, 1] = -5.0
    assert_allclose(Preparation.from_statistics(statistics_of(X)).factors[1], 0.2)


# ------------------------------------------------------------------------------- prepared rows


def prepared(X, preparation):
    """Return prepared rows, dense and one formula after the other."""
    measured, length = preparation.measured, np.ones((len(X), 1))
    inside = np.delete(np.arange(X.shape[1]), measured)
    if preparation.unit:
        length = np.linalg.norm(X[:, inside], axis=1, keepdims=True)
    out = X / np.where(length > 0, length, 1.0)
    out[:, measured] = X[:, measured] * preparation.factors
    return out


PREPARATIONS = [
    Preparation.none(),
    Preparation.none(unit=True),
    Preparation(True, np.array([0, 4, 29]), np.array([0.01, 3.0, 0.5])),
    Preparation(False, np.array([2]), np.array([4.0])),
    Preparation(True, np.arange(30), np.full(30, 2.0)),
    Preparation(True, np.array([4, 900]), np.array([3.0, 1.0])),  # one that rows do not reach
]
preparations = pytest.mark.parametrize("preparation", PREPARATIONS, ids=range(len(PREPARATIONS)))


def known(preparation, p=30):
    """Return the preparation of the columns that there are."""
    inside = preparation.measured < p
    return preparation._replace(
        measured=preparation.measured[inside], factors=preparation.factors[inside]
    )


@preparations
def test_prepared_rows_equal_dense_ones(preparation):
    X = words()
    X[5] = 0.0
    found = preparation.apply(rows_of(X))
    matrix = sparse.csr_array((found.values, found.columns.view(np.int32), found.starts), X.shape)
    assert_allclose(matrix.toarray(), prepared(X, known(preparation)), atol=1e-15)
    assert preparation.apply(Rows.none()).n == 0


def model_of(preparation, columns, n_outputs=1, seed=0):
    """Return a model, and its weights of prepared rows."""
    rng = np.random.default_rng(seed)
    columns = np.asarray(columns, np.int64)
    weights = rng.normal(size=(n_outputs, columns.size))
    fitted = Fitted(
        columns,
        preparation.raw_weights(columns, weights),
        rng.normal(size=n_outputs),
        max(30, int(preparation.measured.max(initial=0)) + 1),
        preparation,
    )
    return fitted, weights


COLUMNS = ([], [4], [0, 1, 4, 10, 29], range(30))


@preparations
@pytest.mark.parametrize("kept", [False, True])
def test_margins_of_raw_rows_equal_those_of_prepared_ones(preparation, kept):
    """Unknown columns lengthen rows, unless only the columns with a weight count."""
    preparation = preparation._replace(kept_length=kept and preparation.unit)
    for columns, n_outputs, p in product(COLUMNS, (1, 3), (30, 40)):
        X = words(p=p)
        X[5] = 0.0
        fitted, weights = model_of(preparation, columns, n_outputs)
        counted = X
        if preparation.kept_length:
            counted = np.zeros_like(X)
            counted[:, fitted.columns] = X[:, fitted.columns]
        rows = prepared(counted, known(preparation, p))[:, fitted.columns]
        found = Scorer(fitted).margins(rows_of(X))[0]
        assert_allclose(found, rows @ weights.T + fitted.intercepts, atol=1e-12)
        if preparation.kept_length:  # others may hold anything
            X[:, np.setdiff1d(np.arange(p), fitted.columns)] = 1e6
            assert_array_equal(Scorer(fitted).margins(rows_of(X))[0], found)


@preparations
def test_odd_rows_are_noticed_while_margins_are_computed(preparation):
    rows = rows_of(words())
    for n_outputs, kept in product((1, 3), (False, True)):
        fitted, _ = model_of(preparation._replace(kept_length=kept), [0, 1, 4, 29], n_outputs)
        scorer = Scorer(fitted)
        assert scorer.margins(rows)[1]
        for place in (0, rows.starts[20], rows.columns.size - 1):
            for column in (fitted.n_columns, (1 << 32) - 1, rows.columns[place - 1], 0):
                columns = rows.columns.copy()
                columns[[place - 1, place]] = column  # unknown, or twice in a row
                assert not scorer.margins(rows._replace(columns=columns))[1]
            for bad in (np.nan, np.inf, -np.inf):
                values = rows.values.copy()
                values[place] = bad
                margins = scorer.margins(rows._replace(values=values))[0]
                assert (~np.isfinite(margins)).any(axis=1).sum() == 1


def test_rows_of_any_length_agree():
    X = words() + np.eye(40, 30)
    X[30:, 0] += 1.0  # no row without a value
    for scale, n_outputs in product((1e-200, 1e-8, 1e8, 1e150), (1, 3)):
        fitted, _ = model_of(Preparation.none(unit=True), range(30), n_outputs)
        margins = Scorer(fitted).margins(rows_of(X * scale))[0]
        if scale < 1e-100:  # squares are 0
            assert_allclose(margins - fitted.intercepts, 0.0, atol=1e-100)
        else:
            assert_allclose(margins, Scorer(fitted).margins(rows_of(X))[0], rtol=1e-9)
