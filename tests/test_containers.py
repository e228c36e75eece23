"""The same numbers give the same model whatever holds them, and nobody's matrix is changed."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from cases import NAMES, assert_same_bits, labelled_rows, make, stream
from thresher.data import scoring
from thresher.kernels.margins import margins


def halves(rows):
    """Return numbers that float32 holds exactly, so that every container holds the same ones."""
    return sparse.csr_array(np.round(rows.toarray() * 8) / 8)


def unsorted(rows):
    """Return CSR with every row's columns in descending order."""
    backwards = np.concatenate(
        [np.arange(rows.indptr[i + 1] - 1, rows.indptr[i] - 1, -1) for i in range(rows.shape[0])]
    )
    shuffled = rows.data[backwards], rows.indices[backwards], rows.indptr
    return sparse.csr_array(shuffled, shape=rows.shape)


def with_explicit_zeros(rows):
    """Return CSR that stores every zero."""
    everything = rows.toarray().ravel()
    n, p = rows.shape
    return sparse.csr_array((everything, np.tile(np.arange(p), n), np.arange(n + 1) * p), (n, p))


def doubled(rows):
    """Return the coordinates and values of CSR rows, each number as a sum of two."""
    coo = rows.tocoo()
    coords = np.tile(coo.row, 2), np.tile(coo.col, 2)
    return coords, np.concatenate([0.25 * coo.data, 0.75 * coo.data])


def coo_with_duplicates(rows):
    coords, values = doubled(rows)
    return sparse.coo_array((values, coords), shape=rows.shape)


def csr_with_duplicates(rows):
    (i, j), values = doubled(rows)
    order = np.argsort(i, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(i, minlength=rows.shape[0]))])
    return sparse.csr_array((values[order], j[order], starts), shape=rows.shape)


def with_indices(kind):
    def convert(rows):
        parts = rows.data, rows.indices.astype(kind), rows.indptr.astype(kind)
        converted = sparse.csr_array(parts, shape=rows.shape)
        converted.indices, converted.indptr = parts[1], parts[2]  # SciPy may narrow them
        return converted

    return convert


def read_only(rows):
    frozen = with_indices(np.int64)(rows.copy())
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.setflags(write=False)
    return frozen


def strided(rows):
    spread = rows.copy()
    spread.data = np.repeat(rows.data, 2)[::2]
    return spread


def frame(rows):
    columns = [f"word {j}" for j in range(rows.shape[1])]
    return pd.DataFrame(rows.toarray(), columns=columns)


CONTAINERS = {
    "dense": lambda rows: rows.toarray(),
    "dense by columns": lambda rows: np.asfortranarray(rows.toarray()),
    "dense every second": lambda rows: np.repeat(rows.toarray(), 2, axis=1)[:, ::2],
    "float32": lambda rows: rows.toarray().astype(np.float32),
    "float32 sparse": lambda rows: rows.astype(np.float32),
    "lists": lambda rows: rows.toarray().tolist(),
    **{
        f"{form} {kind}": lambda rows, f=form, k=kind: getattr(sparse, f"{f}_{k}")(rows)
        for form in ("csr", "csc", "coo", "lil", "bsr", "dok", "dia")
        for kind in ("matrix", "array")
    },
    "int32 indices": with_indices(np.int32),
    "int64 indices": with_indices(np.int64),
    "unsorted": unsorted,
    "explicit zeros": with_explicit_zeros,
    "coo duplicates": coo_with_duplicates,
    "csr duplicates": csr_with_duplicates,
    "read-only": read_only,
    "strided": strided,
    "frame": frame,
    "sparse frame": lambda rows: pd.DataFrame.sparse.from_spmatrix(
        rows, columns=[f"word {j}" for j in range(rows.shape[1])]
    ),
}
# Every learner meets rows through the same door; two of them stand for all where time matters.
PAIR = ["PlainSGDClassifier", "ThresherClassifier"]


@pytest.fixture(scope="module", params=[2, 3], ids=["binary", "multiclass"])
def exact(request):
    """Rows of numbers that all containers hold exactly."""
    rows, labels = labelled_rows(n_classes=request.param)
    return halves(rows), labels


def assert_judged_alike(model, held, same, rows):
    """Assert that models give rows and what holds them the same margins.

    To the last bit, unless zeros are stored: entries are added to two sums by turns, and a zero
    takes a turn.
    """
    found, expected = model.decision_function(held), same.decision_function(rows)
    assert_array_equal(model.predict(held), same.predict(rows))
    if getattr(held, "format", "") == "csr" and held.nnz > np.count_nonzero(held.data):
        assert_allclose(found, expected, rtol=0, atol=8 * np.spacing(np.abs(expected).max()))
    else:
        assert_array_equal(found, expected)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", PAIR)
def test_the_container_does_not_matter(exact, name, container):
    rows, labels = exact
    held = CONTAINERS[container](rows)
    expected = make(name).fit(rows, labels)
    model = make(name).fit(held, labels)
    assert_same_bits(model, expected)
    assert_judged_alike(model, held, expected, rows)
    streamed = make(name).partial_fit(held, labels, classes=np.unique(labels))
    assert_same_bits(streamed, stream(make(name), rows, labels))


@pytest.mark.parametrize("container", ["dense", "csc array", "float32", "frame", "unsorted"])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in PAIR])
def test_the_container_does_not_matter_to_any_learner(exact, name, container):
    rows, labels = exact
    model = make(name).fit(CONTAINERS[container](rows), labels)
    assert_same_bits(model, make(name).fit(rows, labels))


def numbers_in(held):
    """Return copies of all arrays a container is made of."""
    if sparse.issparse(held) and held.format in ("csr", "csc"):
        return [held.data.copy(), held.indices.copy(), held.indptr.copy()]
    if sparse.issparse(held) and held.format == "coo":
        return [held.data.copy(), held.row.copy(), held.col.copy()]
    return [np.array(held.toarray() if sparse.issparse(held) else held)]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", PAIR)
def test_the_callers_numbers_are_never_changed(exact, name, container):
    rows, labels = exact
    held = CONTAINERS[container](rows)
    before, labels_before = numbers_in(held), labels.copy()
    weights = np.linspace(0.5, 1.5, labels.size)
    model = make(name).fit(held, labels, sample_weight=weights)
    model.partial_fit(held, labels, sample_weight=weights)
    model.predict(held)
    model.transform(held)
    for array, copy in zip(numbers_in(held), before, strict=True):
        assert_array_equal(array, copy)
        assert array.dtype == copy.dtype
    assert_array_equal(labels, labels_before)
    assert_array_equal(weights, np.linspace(0.5, 1.5, labels.size))


@pytest.mark.parametrize("kind", [list, pd.Series, lambda y: pd.Series(y, index=y * 0 + 7)])
@pytest.mark.parametrize("name", PAIR)
def test_labels_and_weights_may_be_lists_or_series(exact, name, kind):
    rows, labels = exact
    weights = np.linspace(0.5, 1.5, labels.size)
    model = make(name).fit(rows, kind(labels), sample_weight=list(weights))
    assert_same_bits(model, make(name).fit(rows, labels, sample_weight=weights))


@pytest.mark.parametrize("name", NAMES)
def test_integers_and_booleans_are_numbers(name):
    rows, labels = labelled_rows()
    present = rows.toarray() != 0
    expected = make(name).fit(present.astype(float), labels)
    assert_same_bits(make(name).fit(present, labels), expected)
    assert_same_bits(make(name).fit(present.astype(np.int32), labels), expected)


@pytest.mark.parametrize("name", NAMES)
def test_feature_names_are_kept_and_checked(exact, name):
    rows, labels = exact
    words = frame(rows)
    model = make(name).fit(words, labels)
    assert_array_equal(model.feature_names_in_, words.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(words.rename(columns={"word 0": "other"}))
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(words.rename(columns={"word 0": "other"}), labels)


@pytest.mark.parametrize("name", NAMES)
def test_rows_without_any_number_teach_the_intercept_only(name):
    labels = np.array([1, 1, 1, 0] * 5)
    model = make(name).fit(np.zeros((20, 3)), labels)
    assert not model.coef_.any()
    assert np.isfinite(model.intercept_).all()
    assert set(model.predict(np.ones((2, 3)))) <= {0, 1}


@pytest.mark.parametrize("name", ["ThresherClassifier", "FTRLClassifier"])
def test_weights_by_column_or_at_places_of_their_own_judge_alike(monkeypatch, name):
    rows, labels = labelled_rows(n_classes=3)
    model = make(name).fit(rows, labels)
    by_column = model.decision_function(rows)
    monkeypatch.setattr(scoring, "FEW", 0)
    model._model.scored = None
    assert_array_equal(model.decision_function(rows), by_column)
    assert model._scorer().place_of is not None


def sum_by_turns(numbers):
    """Return the sum of numbers, every second one in a sum of its own."""
    sums = [0.0, 0.0]
    for place, number in enumerate(numbers):
        sums[place % 2] += number
    return sums[0] + sums[1]


@pytest.mark.parametrize("normalize", [False, True])
def test_rows_are_judged_one_by_one_in_the_order_that_is_written_down(normalize):
    rng = np.random.default_rng(0)
    rows = sparse.random_array((40, 30), density=0.3, format="csr", rng=rng) * 7.0
    weights = rng.normal(size=30)
    bounds, columns = rows.indptr.astype(np.int64), rows.indices.view(np.uint32)
    found = margins(bounds, columns, rows.data, weights, 0.25, normalize)
    for i, (first, last) in enumerate(pairwise(bounds.tolist())):
        mine = rows.data[first:last]
        dot = sum_by_turns(weights[columns[first:last]] * mine)
        if normalize and mine.size:
            dot *= 1.0 / math.sqrt(sum_by_turns(mine * mine))
        assert found[i] == dot + 0.25
        alone = bounds[i : i + 2].copy(), columns, rows.data, weights, 0.25, normalize
        assert margins(*alone)[0] == found[i]
