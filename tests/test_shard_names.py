"""Shards: columns by name, and several sets read as one."""

import numpy as np
import pytest

from shard_cases import UNLABELLED, assert_same_rows, named_fifty, random_chunk, write
from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.naming import GrowingNames, HashedNames, KnownNames
from thresher.data.sources.protocol import Reading
from thresher.data.sources.shards import ShardSource

# -------------------------------------------------------------------------------------------- names


def named_chunk(names, words, seed=0, labels="numbers"):
    """Return rows of two features each, numbered by ``names``."""
    columns = names.number(words).reshape(-1, 2)
    columns.sort(axis=1)
    n_rows = len(columns)
    return Chunk(
        np.arange(0, columns.size + 1, 2),
        columns.ravel(),
        np.arange(1.0, columns.size + 1),
        len(names),
        np.arange(n_rows) + 10.0 * seed,
    )


def named_rows(source):
    """Return every row as names and values."""
    for chunk in source.chunks():
        for i in range(len(chunk)):
            part = slice(chunk.starts[i], chunk.starts[i + 1])
            assert (np.diff(chunk.columns[part]) > 0).all()
            assert (chunk.columns[part] < chunk.width).all()
            names = [source.names.name(column) for column in chunk.columns[part].tolist()]
            yield dict(zip(names, chunk.values[part].tolist(), strict=True))


def test_names_are_kept(tmp_path):
    names = GrowingNames(categorical={"size": True, "price": False})
    chunk = named_chunk(names, ["a", "é\ud800", "", "a b"])
    source = write(tmp_path, chunk, names=names)
    assert [source.names.name(column) for column in range(4)] == ["a", "é\ud800", "", "a b"]
    assert len(source.names) == source.width == 4
    assert source.names.categorical == names.categorical
    assert_same_rows(source.chunks(), [chunk])


def test_hashed_names_are_kept(tmp_path):
    names = HashedNames(10)
    chunk = named_chunk(names, ["a", "b"])
    source = write(tmp_path, chunk, names=names)
    assert source.width == 1024
    assert {source.names.name(column) for column in chunk.columns.tolist()} == {"a", "b"}


def test_names_of_a_finished_model_are_not_enough(tmp_path):
    names = KnownNames(np.array([0]), ["a"], 3)
    with pytest.raises(DataError, match="names of a finished model"):
        write(tmp_path, named_chunk(names, ["a", "b"]), names=names)


def two_sets(tmp_path, one, other):
    write(tmp_path, named_chunk(one, ["a", "b", "b", "c"]), name="one", names=one)
    write(tmp_path, named_chunk(other, ["d", "c", "c", "a"], 1), name="other", names=other)
    return [str(tmp_path / "one"), str(tmp_path / "other")]


THE_ROWS = ["ab", "bc", "dc", "ca"]


@pytest.mark.parametrize("make", [GrowingNames, lambda: HashedNames(20)])
def test_sets_with_names_of_their_own_are_read_by_name(tmp_path, make):
    source = ShardSource(two_sets(tmp_path, make(), make()))
    rows = list(named_rows(source))
    assert [set(row) for row in rows] == [set(row) for row in THE_ROWS]
    assert len(source.names) == source.width


def test_names_of_a_model_number_the_columns(tmp_path):
    paths = two_sets(tmp_path, GrowingNames(), GrowingNames())
    known = KnownNames(np.array([40, 7]), ["c", "a"], 50)
    source = ShardSource(paths, UNLABELLED, known)
    chunks = list(source.chunks())
    assert chunks[0].columns.tolist()[0] == 7
    assert chunks[0].columns[1] >= 50
    assert all((np.diff(chunk.columns.reshape(-1, 2)) > 0).all() for chunk in chunks)
    assert chunks[1].columns.reshape(-1, 2)[1].tolist() == [7, 40]
    assert source.width > 50


def test_names_can_be_hashed_later(tmp_path):
    paths = two_sets(tmp_path, GrowingNames(), GrowingNames())
    names = HashedNames(1)
    chunks = list(ShardSource(paths, UNLABELLED, names).chunks())
    assert max(chunk.columns.max() for chunk in chunks) < 2
    assert sum(chunk.values.sum() for chunk in chunks) == 20
    assert all((np.diff(np.diff(chunk.starts)) <= 1).all() for chunk in chunks)


def test_hashed_names_need_the_same_hash(tmp_path):
    paths = two_sets(tmp_path, HashedNames(10), HashedNames(12))
    with pytest.raises(DataError, match="hashed to 12 bits"):
        ShardSource(paths)
    with pytest.raises(DataError, match="hashed to 10 bits"):
        ShardSource(paths[:1], UNLABELLED, GrowingNames())


def test_numbers_are_not_names(tmp_path):
    write(tmp_path, random_chunk(5))
    with pytest.raises(DataError, match="just numbers"):
        ShardSource([str(tmp_path / "set")], UNLABELLED, GrowingNames())


# ------------------------------------------------------------------------------------- several sets


def test_sets_are_read_one_after_the_other(tmp_path):
    chunks = [random_chunk(30, seed=1, width=20), random_chunk(30, seed=2, width=40)]
    paths = []
    for k, chunk in enumerate(chunks):
        write(tmp_path, chunk, name=f"set {k}")
        paths.append(tmp_path / f"set {k}")
    source = ShardSource(paths)
    assert_same_rows(source.chunks(), chunks)
    assert {chunk.width for chunk in source.chunks()} == {40}
    assert (source.n_rows, source.labels[0].size) == (60, 60)
    assert source.fingerprint() != ShardSource(paths[::-1]).fingerprint()
    assert ShardSource(paths[0]).n_rows == 30


@pytest.mark.parametrize(
    ("chunk", "known", "message"),
    [
        (random_chunk(5, labels="words"), {}, "numbers for labels.* words for labels"),
        (random_chunk(5, labels="none"), {}, "numbers for labels.* no labels"),
        (random_chunk(5), {"index_base": 1}, "columns from 0.* columns from 1"),
        (random_chunk(5), {"names": named_fifty()}, "numbers its.* has names"),
    ],
)
def test_sets_that_cannot_be_read_together(tmp_path, chunk, known, message):
    write(tmp_path, random_chunk(5), name="one")
    write(tmp_path, chunk, name="other", **known)
    with pytest.raises(DataError, match=message):
        ShardSource([str(tmp_path / "one"), str(tmp_path / "other")], UNLABELLED)


def test_the_index_base_cannot_be_changed_any_more(tmp_path):
    write(tmp_path, random_chunk(5), index_base=1)
    ShardSource([str(tmp_path / "set")], Reading(index_base=1))
    with pytest.raises(DataError, match="counts its columns from 1, not from 0"):
        ShardSource([str(tmp_path / "set")], Reading(index_base=0))
