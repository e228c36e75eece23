"""Millions of declared columns of which few occur: costs follow those."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from cases import labelled_rows, make
from thresher.data.matrix import count_columns
from thresher.estimators.decisions.selecting_steps import common_share

WIDE = 1_000_000


def wide_rows():
    """Return rows of a million columns of which forty may occur, and labels."""
    rows, labels = labelled_rows()
    parts = rows.data, 20_000 * rows.indices, rows.indptr
    return sparse.csr_array(parts, shape=(rows.shape[0], WIDE)), labels


def most_memory(function):
    """Return what a function returns, and how many bytes it had at once."""
    tracemalloc.start()
    try:
        found = function()
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["FTRLClassifier", "ThresherClassifier"])
def test_only_selected_columns_are_given_names(name):
    rows, labels = wide_rows()
    model = make(name).fit(rows, labels)
    model.get_feature_names_out()  # what is done once
    names, peak = most_memory(model.get_feature_names_out)
    assert_array_equal(names, [f"x{column}" for column in model.get_support(indices=True)])
    assert names.dtype == object
    assert peak < WIDE // 10


def test_names_that_are_given_or_known_are_shown():
    rows, labels = labelled_rows()
    names = np.array([f"word {j}" for j in range(40)], dtype=object)
    plain = make("FTRLClassifier").fit(rows, labels)
    selected = plain.get_support()
    assert_array_equal(plain.get_feature_names_out(names), names[selected])
    named = make("FTRLClassifier").fit(pd.DataFrame(rows.toarray(), columns=names), labels)
    assert_array_equal(named.get_feature_names_out(), names[selected])
    with pytest.raises(ValueError, match="input_features"):
        plain.get_feature_names_out(names[:5])


def test_columns_that_occur_are_counted_at_the_cost_of_entries():
    rows, _ = wide_rows()
    dense = sparse.csr_array(np.ones((3, 5)))
    assert (count_columns(rows), count_columns(dense)) == (38, 5)
    assert most_memory(lambda: count_columns(rows))[1] < WIDE // 10


@pytest.mark.parametrize("normalize", [False, True])
def test_what_is_common_to_rows_has_the_bits_of_its_formula(normalize):
    rows, _ = wide_rows()
    lengths = np.sqrt((rows**2).sum(axis=1))
    scales = 1 / lengths if normalize else np.ones(lengths.size)
    mean = rows.T @ scales / lengths.size
    assert common_share(rows, normalize) == np.sum(mean**2) / np.mean((lengths * scales) ** 2)
    assert most_memory(lambda: common_share(rows, normalize))[1] < 10 * WIDE


def test_columns_in_one_unit_share_their_scale():
    model = make("FTRLClassifier").fit(*wide_rows())
    scales, peak = most_memory(lambda: model.column_scales_)
    assert_array_equal(scales, np.ones(WIDE))
    assert peak < WIDE // 10
