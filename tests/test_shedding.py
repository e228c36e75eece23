"""Rows that lose features: the same however many threads there are, and as a copy would be."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from thresher.kernels.leaving import share_out
from thresher.kernels.masks import places_of
from thresher.kernels.rows import Rows
from thresher.train.shedding import shed_in_place
from thresher.workers import workers

N_SLOTS = 9


def some_rows(n_rows, density, seed=0):
    table = sparse.random_array((n_rows, N_SLOTS), density=density, rng=seed, format="csr")
    table.sort_indices()
    return Rows(table.indptr.astype(np.int64), table.indices.astype(np.uint32), table.data.copy())


def as_table(rows, n_slots):
    return sparse.csr_array(
        (rows.values, rows.slots, rows.starts), (rows.starts.size - 1, n_slots)
    ).toarray()


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
@pytest.mark.parametrize(("n_rows", "density"), [(1, 0.5), (2, 1.0), (40, 0.3), (40, 0.02), (5, 0)])
@pytest.mark.parametrize("kept", [[], [4], [0, 3, 8], range(N_SLOTS)])
def test_rows_lose_slots_where_they_lie(n_threads, n_rows, density, kept):
    rows = some_rows(n_rows, density)
    mask = np.isin(np.arange(N_SLOTS), list(kept))
    expected = as_table(rows, N_SLOTS)[:, mask]
    others = []
    with workers(n_threads) as run_all:
        shed = shed_in_place(rows, places_of(mask), [lambda: others.append("done")], run_all)
    assert_array_equal(as_table(shed, len(list(kept))), expected)
    assert shed.starts[-1] == shed.slots.size == shed.values.size == np.count_nonzero(expected)
    assert np.shares_memory(shed.starts, rows.starts)
    assert others == ["done"]


@pytest.mark.parametrize("n_shares", [1, 2, 3, 60])
def test_shares_cover_all_rows_in_turn(n_shares):
    rows = some_rows(40, 0.3)
    cuts, begins = np.empty(n_shares + 1, np.int64), np.empty(n_shares, np.int64)
    share_out(rows.starts, cuts, begins)
    assert cuts[0] == 0
    assert cuts[-1] == 40
    assert_array_equal(cuts, np.sort(cuts))
    assert_array_equal(begins, rows.starts[cuts[:-1]])
    if n_shares == 2:
        assert abs(rows.starts[cuts[1]] - rows.slots.size / 2) <= N_SLOTS
