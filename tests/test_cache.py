"""The cache of text: made once, never stale, never half, never in the way."""

import errno
import gc
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shard_cases import MadeSource, assert_same_rows, leftovers, random_chunk
from thresher.data.errors import DataError
from thresher.data.naming import GrowingNames
from thresher.data.sources.cache import cache_folder, cached
from thresher.data.sources.protocol import Reading
from thresher.data.sources.shard_set import INDEX, is_shards, read_set
from thresher.data.sources.shuffle import ShuffledShards
from thresher.files.errors import FileError

HOW = Reading(format="svmlight")


@pytest.fixture
def text(tmp_path):
    """A file that stands for the rows; what it says does not matter here."""
    path = tmp_path / "data" / "rows.txt"
    path.parent.mkdir()
    path.write_text("1 1:1\n")
    return path


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Where temporary folders go."""
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def made(seed=0, **known):
    return MadeSource([random_chunk(30, seed=seed)], **known)


def folder_of(text):
    return Path(f"{text}.shards")


def test_it_lies_beside_the_file(text):
    said = []
    source = cached(made(), [str(text)], HOW, said.append)
    assert_same_rows(source.chunks(), [random_chunk(30)])
    assert is_shards(folder_of(text))
    assert sorted(os.listdir(text.parent)) == ["rows.txt", "rows.txt.shards"]
    assert said == [f"Keeping the rows of {text} in {folder_of(text)}."]


def test_it_is_used_again(text):
    said = []
    cached(made(), [str(text)], HOW)
    unread = made()
    source = cached(unread, [str(text)], HOW, said.append)
    assert unread.passes == 0
    assert said == [f"Reading {folder_of(text)}, made earlier from {text}."]
    assert_same_rows(source.chunks(), [random_chunk(30)])


def test_progress_is_told(text):
    told = []
    cached(made(), [str(text)], HOW, None, told.append)
    assert told == [30]


def touched(text):
    os.utime(text, ns=(1, 1))
    return made(1)


STALE = {
    "another fingerprint": lambda text: made(1, fingerprint="other"),
    "another time": touched,
    "another length": lambda text: text.write_text("1 1:1\n2 2:2\n") and made(1),
    "another reader": lambda text: Other([random_chunk(30, seed=1)]),
}


class Other(MadeSource):
    pass


@pytest.mark.parametrize("change", STALE)
def test_what_is_stale_is_made_again(text, change):
    cached(made(), [str(text)], HOW)
    source = cached(STALE[change](text), [str(text)], HOW)
    assert_same_rows(source.chunks(), [random_chunk(30, seed=1)])
    assert leftovers(text.parent) == []


@pytest.mark.parametrize("change", [{"hash_bits": 9}, {"on_error": "skip"}, {"label": "y"}])
def test_other_ways_of_reading_have_caches_of_their_own(text, change):
    cached(made(), [str(text)], HOW)
    other = replace(HOW, **change)
    assert_same_rows(cached(made(1), [str(text)], other).chunks(), [random_chunk(30, seed=1)])
    for how, seed in ((HOW, 0), (other, 1)):
        unread = made(seed)
        source = cached(unread, [str(text)], how)
        assert_same_rows(source.chunks(), [random_chunk(30, seed=seed)])
        assert unread.passes == 0


def test_several_files_have_a_cache_of_their_own(text):
    second = text.with_name("more.txt")
    second.write_text("0 1:1\n")
    both = [str(text), str(second)]
    folders = {cache_folder(paths, HOW) for paths in (both, both[::-1], both[:1], both[1:])}
    assert len(folders) == 4
    assert all(folder.parent == text.parent for folder in folders)
    assert all(folder.name.endswith(".shards") for folder in folders)
    cached(made(), both, HOW)
    second.write_text("0 2:1\n0 1:1\n")
    source = cached(made(1), both, HOW)
    assert_same_rows(source.chunks(), [random_chunk(30, seed=1)])


def test_names_are_kept(text):
    names = GrowingNames([f"feature {k}" for k in range(50)])
    for _ in range(2):
        source = cached(made(names=names), [str(text)], HOW)
        assert source.names.name(7) == "feature 7"


def test_a_training_that_goes_on_keeps_its_names(text):
    names = GrowingNames([f"feature {k}" for k in range(50)])
    known = GrowingNames(["other", "feature 49", "feature 3"])
    source = cached(made(names=names), [str(text)], HOW, names=known)
    assert source.names is known
    assert len(known) == 51
    before, after = random_chunk(30), next(iter(source.chunks()))
    for i in range(30):
        row = slice(before.starts[i], before.starts[i + 1])
        told = {f"feature {column}" for column in before.columns[row]}
        assert {known.name(column) for column in after.columns[row].tolist()} == told


@pytest.mark.parametrize("damage", ["index", "length", "gone"])
def test_what_is_visibly_damaged_is_made_again(text, damage):
    cached(made(), [str(text)], HOW)
    index, shard = folder_of(text) / INDEX, folder_of(text) / "00000.rows"
    if damage == "index":
        index.write_bytes(index.read_bytes().replace(b'"n_rows": 30', b'"n_rows": 31'))
    elif damage == "length":
        shard.write_bytes(shard.read_bytes()[:-64])
    else:
        shard.unlink()
    source = cached(made(), [str(text)], HOW)
    assert_same_rows(source.chunks(), [random_chunk(30)])


def test_damage_within_is_found_when_it_is_read(text):
    cached(made(), [str(text)], HOW)
    shard = folder_of(text) / "00000.rows"
    data = bytearray(shard.read_bytes())
    data[-10] ^= 1
    shard.write_bytes(data)
    with pytest.raises(DataError, match=r"00000\.rows: is damaged.* Delete the folder"):
        list(cached(made(), [str(text)], HOW).chunks())


# --------------------------------------------------------------------------- no place for it


def assert_temporary(source, temporary):
    """Look that the rows are in a temporary folder, which goes with them."""
    assert_same_rows(source.chunks(), [random_chunk(30)])
    assert source.sets[0].folder.is_relative_to(temporary)


def test_a_folder_that_cannot_be_written(text, temporary, monkeypatch):
    def refuse(dir):
        raise PermissionError(errno.EACCES, "Permission denied")

    said = []
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    source = cached(made(), [str(text)], HOW, said.append)
    assert_temporary(source, temporary)
    assert said[0] == f"{folder_of(text)} cannot be written."
    assert said[1].startswith(f"Keeping the rows in {temporary}")
    assert os.listdir(text.parent) == ["rows.txt"]
    del source
    gc.collect()
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_without_permission(text, temporary):
    text.parent.chmod(0o555)
    try:
        assert_temporary(cached(made(), [str(text)], HOW), temporary)
    finally:
        text.parent.chmod(0o755)


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch])
def test_something_else_by_that_name_is_left_alone(text, temporary, make):
    make(folder_of(text))
    assert_temporary(cached(made(), [str(text)], HOW), temporary)
    assert not is_shards(folder_of(text))


def test_standard_input_is_kept_for_further_passes(temporary):
    source = cached(made(rewinds=False), ["-"], HOW)
    assert_temporary(source, temporary)
    assert source.rewinds
    shuffled = ShuffledShards(source, 0, 100)
    assert sum(len(chunk) for chunk in shuffled.pass_chunks(0)) == 30


@pytest.mark.parametrize("paths", [["-"], None])
def test_no_space_left_leaves_nothing(text, temporary, monkeypatch, paths):
    def fail(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match="no space left"):
        cached(made(), paths or [str(text)], HOW)
    assert os.listdir(text.parent) == ["rows.txt"]
    assert list(temporary.iterdir()) == []


def test_an_error_in_the_text_leaves_nothing(text):
    source = made()

    def chunks():
        yield random_chunk(30)
        raise DataError("no number", file=text, line=31)

    source.chunks = chunks
    with pytest.raises(DataError, match=r"rows\.txt, line 31: no number"):
        cached(source, [str(text)], HOW)
    assert os.listdir(text.parent) == ["rows.txt"]


# ------------------------------------------------------------------------------ two at a time


def test_who_is_second_throws_the_own_away(text):
    """Another makes the same cache while this one is being made: theirs stays."""
    slow, quick = made(), made()
    marks = []

    def meanwhile(_):
        cached(quick, [str(text)], HOW)
        marks.append((folder_of(text) / INDEX).stat().st_ino)

    source = cached(slow, [str(text)], HOW, None, meanwhile)
    assert (slow.passes, quick.passes) == (1, 1)
    assert [(folder_of(text) / INDEX).stat().st_ino] == marks
    assert_same_rows(source.chunks(), [random_chunk(30)])
    assert leftovers(text.parent) == []


def test_rows_go_on_being_read_while_a_fresh_cache_takes_their_place(text):
    source = cached(made(), [str(text)], HOW)
    list(source.chunks())
    cached(made(fingerprint="other"), [str(text)], HOW)
    assert_same_rows(source.chunks(), [random_chunk(30)])
    np.testing.assert_equal(read_set(folder_of(text)).origin["fingerprint"], "other")


@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/usr/../dev/fd/0"])
def test_nothing_is_kept_beside_what_stands_for_another_file(path, text, monkeypatch):
    monkeypatch.setattr(os.path, "isfile", lambda _: True)  # as when a shell says < rows.svm
    assert cache_folder([path], HOW) is None
    assert cache_folder([str(text), path], HOW) is None
    assert cache_folder(["/dev/shm/rows.svm"], HOW) == Path("/dev/shm/rows.svm.shards")
    assert cache_folder(["/devices/rows.svm"], HOW) == Path("/devices/rows.svm.shards")
