"""Shuffling out of core: every row once, in an order that a seed and a number tell."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from shard_cases import MadeSource, cut_up, order_of, random_chunk, rows_by_label, write
from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.sources import shuffle
from thresher.data.sources.cutting import CHUNK, Limits, in_order, joined, rows_that_fit
from thresher.data.sources.shards import ShardSource
from thresher.data.sources.shuffle import BufferedShuffle, ShuffledShards
from thresher.kernels.gather import cut, gather

N_ROWS = 120
ROWS = random_chunk(N_ROWS, weighted=True)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(shuffle, "BLOCK", Limits(4, 12))


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    return write(tmp_path_factory.mktemp("shuffle"), ROWS)


def both(shards, seed=0, buffer_rows=30):
    return {
        "shards": ShuffledShards(shards, seed, buffer_rows),
        "text": BufferedShuffle(MadeSource(cut_up(ROWS, [7, 50])), seed, buffer_rows),
    }


KINDS = ("shards", "text")


# ------------------------------------------------------------------------------------- kernels


@given(st.lists(st.integers(0, 11), max_size=20))
def test_gathering_is_indexing(order):
    rows = random_chunk(12)
    order = np.array(order, np.int64)
    starts, columns, values = gather(rows.starts, rows.columns, rows.values, order)
    ours = sparse.csr_array((values, columns, starts), shape=(order.size, rows.width))
    assert_array_equal(ours.toarray(), rows.rows.toarray()[order])


def greedy(rows, nonzeros, limits):
    """Cut as a person would: go on while the next item fits."""
    cuts, held = [0], (0, 0)
    for i, item in enumerate(zip(rows, nonzeros, strict=True)):
        held = (held[0] + item[0], held[1] + item[1])
        if i > cuts[-1] and (held[0] > limits.rows or held[1] > limits.nonzeros):
            cuts.append(i)
            held = item
    return [*cuts, len(rows)] if rows else cuts


items = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=30)


@given(items, st.integers(1, 10), st.integers(1, 20))
def test_cuts_are_greedy(sizes, most_rows, most_nonzeros):
    rows, nonzeros = [a for a, _ in sizes], [b for _, b in sizes]
    before = [np.concatenate([[0], np.cumsum(some)]).astype(np.int64) for some in (rows, nonzeros)]
    cuts = cut(*before, most_rows, most_nonzeros)
    assert cuts.tolist() == greedy(rows, nonzeros, Limits(most_rows, most_nonzeros))


@pytest.mark.jit
def test_kernels_are_compiled_once(shards):
    for kind in KINDS:
        list(both(shards)[kind].pass_chunks(0))
    list(shards.chunks())
    assert len(gather.signatures) == len(cut.signatures) == 1


# -------------------------------------------------------------------------------------- passes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("buffer_rows", [1, 3, 30, N_ROWS, 10 * N_ROWS])
def test_every_row_comes_once(shards, kind, buffer_rows):
    for number in range(3):
        chunks = both(shards, buffer_rows=buffer_rows)[kind].pass_chunks(number)
        assert rows_by_label(chunks) == rows_by_label([ROWS])


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_follows_from_seed_and_number(shards, kind):
    def order(seed, number):
        return order_of(both(shards, seed)[kind].pass_chunks(number))

    orders = {(seed, number): order(seed, number) for seed in range(3) for number in range(4)}
    assert len({tuple(found) for found in orders.values()}) == 12
    assert sorted(range(N_ROWS)) not in orders.values()
    again = both(shards, 2)[kind]
    for number in (3, 0, 2, 1):
        assert order_of(again.pass_chunks(number)) == orders[2, number]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("skip", [0, 1, 29, 30, 31, 75, N_ROWS - 1, N_ROWS, N_ROWS + 5])
def test_a_pass_can_begin_anywhere(shards, kind, skip):
    whole = order_of(both(shards)[kind].pass_chunks(1))
    assert order_of(both(shards)[kind].pass_chunks(1, skip=skip)) == whole[skip:]


def test_skipped_buffers_are_not_read(shards, monkeypatch):
    shuffled = ShuffledShards(shards, 0, 30)
    read = []
    gathered = ShardSource.gathered
    monkeypatch.setattr(ShardSource, "gathered", lambda *args: read.append(1) or gathered(*args))
    list(shuffled.pass_chunks(0))
    buffers = len(read)
    assert buffers >= N_ROWS // 30
    list(shuffled.pass_chunks(0, skip=N_ROWS - 1))
    assert len(read) == buffers + 1


@pytest.mark.parametrize("kind", KINDS)
def test_where_chunks_were_cut_does_not_matter(tmp_path, shards, kind):
    alike = {
        "shards": ShuffledShards(write(tmp_path, *cut_up(ROWS, range(1, N_ROWS))), 0, 30),
        "text": BufferedShuffle(MadeSource(cut_up(ROWS, range(1, N_ROWS))), 0, 30),
    }
    assert order_of(alike[kind].pass_chunks(2)) == order_of(both(shards)[kind].pass_chunks(2))


@pytest.mark.parametrize("kind", KINDS)
def test_one_buffer_gives_every_order(kind, tmp_path):
    """Of 24 orders of 4 rows, 600 passes meet each about 25 times."""
    rows = random_chunk(4)
    makers = {
        "shards": lambda: ShuffledShards(write(tmp_path, rows), 5, 100),
        "text": lambda: BufferedShuffle(MadeSource([rows]), 5, 100),
    }
    shuffled = makers[kind]()
    met = [tuple(order_of(shuffled.pass_chunks(number))) for number in range(600)]
    counts = np.array([met.count(order) for order in set(met)])
    assert counts.size == 24
    assert ((counts - 25) ** 2 / 25).sum() < 50  # chi square of 23 degrees; 50 once in a thousand


def test_rows_of_all_shards_meet_in_a_buffer(shards):
    """Where text comes in the order of its buffers, shards come from everywhere."""
    first = {kind: order_of(both(shards)[kind].pass_chunks(0))[:30] for kind in KINDS}
    assert max(first["text"]) < 30
    assert max(first["shards"]) > 90


def test_several_sets_are_shuffled_as_one(tmp_path):
    chunks = [random_chunk(40, seed=1), random_chunk(40, seed=2, weighted=True)]
    for k, chunk in enumerate(chunks):
        write(tmp_path, chunk, name=f"set {k}")
    source = ShardSource([tmp_path / "set 0", tmp_path / "set 1"])
    found = list(ShuffledShards(source, 0, 16).pass_chunks(0))
    expected = {**rows_by_label(chunks[:1]), **rows_by_label(chunks[1:])}
    weight_one = {mark: (a, b, 1.0 if w is None else w) for mark, (a, b, w) in expected.items()}
    assert rows_by_label(found) == weight_one
    assert len({mark >= 2000 for mark in order_of(found)[:16]}) == 2


@pytest.mark.parametrize("labels", ["words", "none"])
def test_labels_of_any_kind_go_with_their_rows(tmp_path, labels):
    rows = random_chunk(50, labels=labels)
    found = joined(list(ShuffledShards(write(tmp_path, rows), 0, 16).pass_chunks(0)))
    assert found.values.sum() == pytest.approx(rows.values.sum())
    if labels == "words":
        assert rows_by_label([found]) == rows_by_label([rows])
    else:
        assert found.labels is None


def test_what_can_be_read_once_cannot_be_shuffled():
    with pytest.raises(DataError, match="only once"):
        BufferedShuffle(MadeSource([ROWS], rewinds=False), 0, 10)


# -------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "nonzeros"), [(30, 10**6), (10**6, 60), (1, 1), (7, 25)])
def test_buffers_are_bounded(shards, kind, rows, nonzeros, monkeypatch):
    monkeypatch.setattr(shuffle, "BUFFER_NONZEROS", nonzeros)
    held = []
    monkeypatch.setattr(
        shuffle, "in_order", lambda chunk, order: held.append(chunk) or in_order(chunk, order)
    )
    list(both(shards, buffer_rows=rows)[kind].pass_chunks(0))
    sizes = [(len(chunk), chunk.columns.size) for chunk in held]
    assert len(sizes) > 1
    block = (4, 12) if kind == "shards" else (1, 8)  # what is never cut
    for size in sizes:
        alone = size[0] <= block[0] and size[1] <= block[1]
        assert alone or (size[0] <= rows and size[1] <= nonzeros)


def test_long_rows_make_short_blocks(tmp_path, monkeypatch):
    starts = np.arange(0, 401, 10)
    rows = Chunk(starts, np.tile(np.arange(10), 40), np.ones(400), 10, np.arange(40.0))
    shuffled = ShuffledShards(write(tmp_path, rows, limits=CHUNK), 0, 100)
    assert shuffled.blocks[:, shuffle.ROW_COUNT].tolist() == [1] * 40
    monkeypatch.setattr(shuffle, "BLOCK", Limits(4, 5))  # not even one
    shuffled = ShuffledShards(shuffled.source, 0, 100)
    assert rows_by_label(shuffled.pass_chunks(0)) == rows_by_label([rows])


def test_chunks_are_of_the_usual_size(monkeypatch):
    monkeypatch.setattr("thresher.data.sources.cutting.CHUNK", Limits(10, 30))
    chunks = list(in_order(ROWS, np.arange(N_ROWS)[::-1].copy()))
    assert all(len(chunk) <= 10 and chunk.columns.size <= 30 for chunk in chunks)
    assert order_of(chunks) == order_of([ROWS])[::-1]
    for one, following in pairwise(chunks):  # none is cut too early
        rows, nonzeros = len(one), one.columns.size
        assert rows_that_fit(following, Limits(10, 30), rows, nonzeros) == 0
