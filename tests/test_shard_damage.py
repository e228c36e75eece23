"""Shards: what was not written is not read."""

import shutil

import numpy as np
import pytest

from shard_cases import UNLABELLED, named_fifty, random_chunk, write
from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.sources.shard_set import INDEX
from thresher.data.sources.shards import ShardSource
from thresher.files import shard as shard_files


def damaged_set(tmp_path):
    """Write a set with every kind of array in it, and return its files."""
    write(tmp_path, random_chunk(40, labels="words", weighted=True), names=named_fifty())
    return sorted((tmp_path / "set").iterdir())


def read_everything(folder):
    return list(ShardSource([str(folder)], UNLABELLED).chunks())


def test_any_flipped_bit_is_refused(tmp_path):
    files = damaged_set(tmp_path)
    assert [file.name for file in files][-2:] == ["index.json", "names"]
    rng = np.random.default_rng(0)
    for _ in range(400):
        file = files[rng.integers(len(files))]
        good = file.read_bytes()
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        file.write_bytes(bad)
        with pytest.raises(DataError, match=f"{file.name}.*(damaged|index)") as caught:
            read_everything(tmp_path / "set")
        assert "thresher convert" in str(caught.value)
        file.write_bytes(good)
    assert sum(map(len, read_everything(tmp_path / "set"))) == 40


def test_any_truncation_and_any_addition_is_refused(tmp_path):
    files = damaged_set(tmp_path)
    rng = np.random.default_rng(1)
    for file in files:
        good = file.read_bytes()
        lengths = {0, 1, 15, 19, 20, 21, len(good) - 1, *rng.integers(0, len(good), 20).tolist()}
        for bad in [*(good[:length] for length in lengths), good + b"\0", good + b"\n", good * 2]:
            file.write_bytes(bad)
            with pytest.raises(DataError, match=f"{file.name}.*damaged"):
                read_everything(tmp_path / "set")
        file.write_bytes(good)


def test_a_missing_shard(tmp_path):
    for file in damaged_set(tmp_path):
        if file.name != INDEX:
            shutil.move(file, tmp_path / "away")
            with pytest.raises(DataError, match=f"{file.name}: is missing. Delete the folder"):
                read_everything(tmp_path / "set")
            shutil.move(tmp_path / "away", file)


def test_a_shard_of_another_set(tmp_path):
    for seed in (1, 2):
        chunk = random_chunk(20, seed=seed, width=8)
        chunk.columns[:] = 7 - seed  # the same length
        write(tmp_path, chunk[:1], name=f"set {seed}")
    shards = [tmp_path / f"set {seed}" / "00000.rows" for seed in (1, 2)]
    shards[0].write_bytes(shards[1].read_bytes())
    with pytest.raises(DataError, match=r"does not belong here|bytes long"):
        read_everything(tmp_path / "set 1")


@pytest.mark.parametrize(
    ("arrays", "facts", "reason"),
    [
        ({"starts": [0, 9, 2], "columns": [0, 1]}, {}, "starts contradict"),
        ({"starts": [0, 1, 3], "columns": [0, 1]}, {}, "starts contradict"),
        ({"starts": [0, 1], "columns": [0, 1]}, {}, "starts contradict"),
        ({"starts": [1, 1, 2], "columns": [0, 1]}, {}, "starts contradict"),
        ({"starts": [], "columns": [0, 1]}, {}, "starts contradict"),
        ({"starts": [0, 1, 2], "columns": [0, 1, 2]}, {}, "columns contradict"),
        ({"starts": [0, 1, 2], "columns": [0, 9]}, {}, "columns contradict"),
        ({"starts": [0, 1, 2], "columns": [0, -1]}, {}, "columns contradict"),
        ({"starts": [0, 1, 2], "columns": [0, 1], "values": [1.5]}, {}, "values contradict"),
        ({"starts": [0, 1, 2], "columns": [0, 1], "labels": [0.0]}, {}, "labels contradict"),
        ({"columns": [0, 1]}, {}, "has no starts"),
        ({"starts": [0, 1, 2], "columns": [0, 1]}, {}, "has no labels"),
    ],
)
def test_a_shard_that_was_made_up(tmp_path, monkeypatch, arrays, facts, reason):
    """Checksums hold, but compiled code would read outside the arrays."""
    arrays = {
        name: np.array(a, float if name in ("values", "labels") else np.int64)
        for name, a in arrays.items()
    }
    made_up = (arrays, {"rows": 2, "nonzeros": 2, **facts})
    monkeypatch.setattr("thresher.data.sources.shard_writer.packed", lambda pieces: made_up)
    chunk = Chunk(np.array([0, 1, 2]), np.array([0, 1]), np.ones(2), 3, np.zeros(2))
    write(tmp_path, chunk)
    with pytest.raises(DataError, match=reason):
        read_everything(tmp_path / "set")


def test_a_newer_format_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(shard_files, "VERSION", 2)
    write(tmp_path, random_chunk(5))
    monkeypatch.undo()
    with pytest.raises(DataError, match="version 2"):
        read_everything(tmp_path / "set")


def test_arrays_are_checked_once(tmp_path, monkeypatch):
    source = write(tmp_path, random_chunk(70))
    list(source.chunks())
    monkeypatch.setattr(shard_files.Shard, "_check", lambda *_: pytest.fail("checked again"))
    monkeypatch.setattr("thresher.data.sources.shards.OPEN", 1)
    list(source.chunks())


def test_arrays_lie_where_the_layout_says(tmp_path):
    """A reader written from the description alone."""
    write(tmp_path, random_chunk(5, values="short"))
    data = (tmp_path / "set" / "00000.rows").read_bytes()
    assert data[:12] == b"THRSHARD\1\0\0\0"
    begin = 20 + int.from_bytes(data[12:16], "little")
    assert begin % 64 == 0
    header = shard_files.json.loads(data[20:begin])
    for dtype, size, offset, _ in header["arrays"].values():
        assert offset % 64 == 0
        assert np.frombuffer(data, dtype, size, begin + offset).size == size
    assert list(header["arrays"]) == ["starts", "columns", "values", "labels"]
