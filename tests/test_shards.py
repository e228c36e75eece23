"""Shards: what is written is read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from shard_cases import (
    UNLABELLED,
    MadeSource,
    assert_same_rows,
    cut_up,
    random_chunk,
    write,
)
from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.sources.cutting import CHUNK, Limits
from thresher.data.sources.protocol import Reading
from thresher.data.sources.shard_writer import write_shards
from thresher.data.sources.shards import ShardSource

# ----------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labels", ["numbers", "words", "none"])
@pytest.mark.parametrize("values", ["normal", "ones", "short"])
def test_rows_come_back_as_they_were(tmp_path, values, labels, weighted):
    chunk = random_chunk(70, values=values, labels=labels, weighted=weighted)
    source = write(tmp_path, *cut_up(chunk, [10, 11, 50]), index_base=1)
    assert_same_rows(source.chunks(), [chunk])
    assert (source.n_rows, source.width, source.index_base) == (70, 50, 1)
    assert source.n_shards > 2
    assert source.rewinds
    assert_same_rows(source.chunks(), [chunk])


finite = st.floats(allow_nan=False, allow_infinity=False).filter(bool)
sparse_rows = st.lists(
    st.dictionaries(st.integers(0, 2**40), finite, max_size=4), min_size=1, max_size=12
)


@settings(max_examples=30)
@given(rows=sparse_rows, data=st.data())
def test_any_rows_come_back_as_they_were(tmp_path_factory, rows, data):
    labels = data.draw(st.lists(st.text(), min_size=len(rows), max_size=len(rows)))
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    pairs = [pair for row in rows for pair in sorted(row.items())]
    columns = np.array([column for column, _ in pairs], np.int64)
    values = np.array([value for _, value in pairs], np.float64)
    width = int(columns.max(initial=0)) + 1
    chunk = Chunk(starts, columns, values, width, np.array(labels, object))
    cuts = data.draw(st.lists(st.integers(1, len(rows)), unique=True).map(sorted))
    source = write(tmp_path_factory.mktemp("any"), *cut_up(chunk, cuts), limits=Limits(5, 9))
    assert_same_rows(source.chunks(), [chunk])
    classes, counts = source.labels
    assert classes.tolist() == sorted(set(labels))
    assert counts.tolist() == [labels.count(label) for label in classes]


def stored_types(source, name):
    return {source._rows_of(k).shard._places.get(name, [None])[0] for k in range(source.n_shards)}


@pytest.mark.parametrize(("values", "dtype"), [("ones", None), ("short", "<f4"), ("normal", "<f8")])
def test_values_take_no_more_than_they_need(tmp_path, values, dtype):
    source = write(tmp_path, random_chunk(60, values=values), limits=CHUNK)
    assert stored_types(source, "values") == {dtype}


def test_one_long_value_makes_its_shard_long(tmp_path):
    ones, short = random_chunk(5, values="ones"), random_chunk(5, values="short", seed=1)
    source = write(tmp_path, ones, short, limits=CHUNK)
    assert stored_types(source, "values") == {"<f4"}
    short.values[0] = 0.1
    source = write(tmp_path, ones, short, limits=CHUNK)
    assert stored_types(source, "values") == {"<f8"}
    assert_same_rows(source.chunks(), [ones, short])


@pytest.mark.parametrize("value", [1e300, 5e-324, 1e-45, 3.4028235677973366e38, -1e39])
def test_values_beyond_single_precision_stay_what_they_are(tmp_path, value):
    chunk = Chunk(np.array([0, 1]), np.array([3]), np.array([value]), 4, np.array([1.0]))
    (back,) = write(tmp_path, chunk).chunks()
    assert back.values.tolist() == [value]


@pytest.mark.parametrize(("column", "dtype"), [(2**32 - 1, "<u4"), (2**32, "<i8"), (2**62, "<i8")])
def test_columns_of_any_size(tmp_path, column, dtype):
    columns = np.array([7, column])
    chunk = Chunk(np.array([0, 2]), columns, np.array([1.0, 2.0]), column + 1, np.array([1.0]))
    source = write(tmp_path, chunk)
    assert stored_types(source, "columns") == {dtype}
    assert_same_rows(source.chunks(), [chunk])
    assert source.width == column + 1


def test_chunks_are_of_the_types_that_kernels_are_compiled_for(tmp_path):
    for chunk in write(tmp_path, random_chunk(70, values="short", weighted=True)).chunks():
        arrays = (chunk.starts, chunk.columns, chunk.values, chunk.labels, chunk.weights)
        assert [a.dtype.name for a in arrays] == ["int64", "int64", "float64", "float64", "float64"]
        assert all(a.flags.writeable and a.flags.c_contiguous for a in arrays)


def test_only_empty_rows(tmp_path):
    chunk = Chunk(np.zeros(31, np.int64), np.zeros(0, np.int64), np.zeros(0), 5, np.arange(30.0))
    source = write(tmp_path, chunk)
    assert_same_rows(source.chunks(), [chunk])
    assert source.n_shards == 2


def test_a_row_larger_than_a_shard_has_one_to_itself(tmp_path):
    row = Chunk(np.array([0, 200]), np.arange(200), np.ones(200), 200, np.array([7.0]))
    chunks = [random_chunk(5, seed=1), row, random_chunk(5, seed=2)]
    source = write(tmp_path, *chunks)
    assert 200 in [shard["nonzeros"] for shard in source.sets[0].shards]
    assert_same_rows(source.chunks(), chunks)


@pytest.mark.parametrize("cuts", [[], [1], range(1, 70), [13, 40]], ids=str)
def test_where_chunks_were_cut_does_not_matter(tmp_path, cuts):
    chunk = random_chunk(70)
    whole = write(tmp_path, chunk, name="whole")
    parts = write(tmp_path, *cut_up(chunk, cuts), name="parts")
    assert parts.fingerprint() == whole.fingerprint()
    for shard in (tmp_path / "whole").iterdir():
        assert (tmp_path / "parts" / shard.name).read_bytes() == shard.read_bytes()


def test_other_rows_have_another_fingerprint(tmp_path):
    marks = {write(tmp_path, random_chunk(30, seed=seed)).fingerprint() for seed in range(5)}
    marks.add(write(tmp_path, random_chunk(30, labels="words")).fingerprint())
    assert len(marks) == 6


def test_blocks_are_runs_of_a_shard(tmp_path):
    chunk = random_chunk(70, weighted=True)
    source = write(tmp_path, chunk)
    first = source.sets[0].shards[0]["rows"]
    assert_same_rows([source.block(1, 2, 9)], [chunk[first + 2 : first + 9]])
    assert len(source.block(0, 3, 3)) == 0


def test_more_shards_than_are_open_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("thresher.data.sources.shards.OPEN", 2)
    chunk = random_chunk(70)
    source = write(tmp_path, chunk, limits=Limits(10, 1000))
    for _ in range(2):
        assert_same_rows(source.chunks(), [chunk])
    assert len(source._open) == 2


def test_progress_is_told(tmp_path):
    told = []
    chunks = cut_up(random_chunk(70), [10, 50])
    write_shards(MadeSource(chunks), tmp_path / "set", told.append)
    assert told == [10, 50, 70]


def test_weights_are_one_where_nobody_gave_any(tmp_path):
    chunks = [random_chunk(20, seed=1), random_chunk(20, seed=2, weighted=True)]
    for limits in (Limits(20, 1000), CHUNK):
        source = write(tmp_path, *chunks, limits=limits)
        weights = np.concatenate([chunk.weights for chunk in source.chunks()])
        assert_array_equal(weights, [*np.ones(20), *chunks[1].weights])


def test_rows_that_were_skipped_are_still_told_of(tmp_path):
    made = MadeSource([random_chunk(20)])
    made.skipped.add(DataError("no number", file="a.txt", line=3))
    skipped = write_shards(made, tmp_path / "set").skipped
    assert (skipped.count, skipped.examples) == (1, ["a.txt, line 3: no number"])


# ------------------------------------------------------------------------------------------- labels


def test_classes_are_known_without_reading(tmp_path):
    chunk = random_chunk(40)
    chunk.labels[:] = np.where(np.arange(40) % 4 == 0, -1, 1)
    classes, counts = write(tmp_path, chunk).labels
    assert (classes.tolist(), counts.tolist()) == ([-1.0, 1.0], [10, 30])


def relabelled(chunk, labels):
    return Chunk(chunk.starts, chunk.columns, chunk.values, chunk.width, labels)


@pytest.mark.parametrize(
    ("labels", "kept"),
    [
        (np.array([3, -1], np.int64), [3.0, -1.0]),
        (np.array([True, False]), [1.0, 0.0]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([1, 2.5], object), [1.0, 2.5]),
    ],
)
def test_labels_of_other_types(tmp_path, labels, kept):
    (chunk,) = write(tmp_path, relabelled(random_chunk(2), labels)).chunks()
    assert chunk.labels.tolist() == kept


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([2**53 + 1, 0]), "beyond 2\\^53"),
        (np.array([np.nan, 0]), "not a finite number"),
        (np.array(["a", 1], object), "all numbers or all strings"),
        (np.array([1, 2j]), "all numbers or all strings"),
    ],
)
def test_labels_that_cannot_be_kept(tmp_path, labels, message):
    with pytest.raises(DataError, match=message):
        write(tmp_path, relabelled(random_chunk(2), labels))
    assert list(tmp_path.iterdir()) == []


def test_labels_of_two_kinds(tmp_path):
    with pytest.raises(DataError, match="numbers for labels, others words for labels"):
        write(tmp_path, random_chunk(5), random_chunk(5, labels="words"))


def test_too_many_labels_are_no_classes(tmp_path, monkeypatch):
    monkeypatch.setattr("thresher.data.sources.shard_labels.MOST_CLASSES", 30)
    with pytest.raises(DataError, match="different labels"):
        write(tmp_path, random_chunk(31)).labels  # noqa: B018
    assert write(tmp_path, random_chunk(30)).labels[0].size == 30


def test_training_needs_labels(tmp_path):
    write(tmp_path, random_chunk(5, labels="none"))
    with pytest.raises(DataError, match="has no labels"):
        ShardSource([str(tmp_path / "set")], Reading())
    unlabelled = ShardSource([str(tmp_path / "set")], UNLABELLED)
    with pytest.raises(DataError, match="has no labels"):
        unlabelled.labels  # noqa: B018
