"""Files of arrays: what was written comes back, and nothing else is ever taken for it."""

import json
import os
import pickle

import numpy as np
import pytest
import safetensors.numpy

from container_cases import ARRAYS, DATA, HEADER, same
from files_cases import flips, resealed, truncations, with_flipped_bit
from thresher.files import container
from thresher.files.container import ModelFileError


def test_what_was_written_comes_back(tmp_path):
    container.write(tmp_path / "file", HEADER, ARRAYS)
    assert (tmp_path / "file").read_bytes() == DATA
    header, arrays = container.read(tmp_path / "file")
    assert header == HEADER
    assert set(arrays) == set(ARRAYS)
    assert all(same(arrays[name], ARRAYS[name]) for name in ARRAYS)


def test_kernels_can_write_to_arrays_from_a_file():
    _, arrays = container.loads(DATA)
    assert all(array.flags.writeable and array.flags.c_contiguous for array in arrays.values())


def test_the_same_content_gives_the_same_bytes():
    assert container.dumps(HEADER, dict(reversed(ARRAYS.items()))) == DATA


def test_arrays_may_lie_in_any_order_of_bytes():
    odd = {
        "a": np.arange(6.0).reshape(2, 3).T,
        "b": np.arange(3, dtype=">i4"),
        "c": np.ones(9)[::3],
    }
    _, arrays = container.loads(container.dumps({}, odd))
    assert all(np.array_equal(arrays[name], odd[name]) for name in odd)


def test_it_is_a_safetensors_file_with_a_single_entry_of_metadata(tmp_path):
    (tmp_path / "file").write_bytes(DATA)
    assert set(safetensors.numpy.load_file(tmp_path / "file")) == set(ARRAYS)
    with safetensors.safe_open(tmp_path / "file", "np") as file:
        (text,) = file.metadata().values()
    assert json.loads(text)["header"] == HEADER
    assert json.loads(text)["format"] == container.FORMAT


def test_any_flipped_bit_is_found():
    for spoilt in flips(DATA):
        with pytest.raises(ModelFileError, match=r"damaged|not a file that Thresher wrote"):
            container.loads(spoilt)


def test_any_flipped_bit_of_the_beginning_is_found():
    for place in range(8 * 300):
        with pytest.raises(ModelFileError):
            container.loads(with_flipped_bit(DATA, place))


def test_any_truncation_is_found(tmp_path):
    for spoilt in truncations(DATA):
        with pytest.raises(ModelFileError):
            container.loads(spoilt)
    (tmp_path / "file").write_bytes(DATA[:-1])
    with pytest.raises(ModelFileError, match=r"file cannot be loaded: it is damaged"):
        container.read(tmp_path / "file")


def test_what_was_appended_is_found():
    for more in (b"\0", b" ", DATA):
        with pytest.raises(ModelFileError, match="damaged"):
            container.loads(DATA + more)


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps({"a": 1}),
        b"+1 1:0.5 7:1\n" * 100,
        b"PK\x03\x04" + bytes(500),
        b"{}",
        bytes(1000),
        b"\xff" * 1000,
        safetensors.numpy.save({"a": np.zeros(3)}),
        safetensors.numpy.save({"a": np.zeros(3)}, {"thresher": "no JSON"}),
    ],
    ids=["pickle", "text", "zip", "json", "zeros", "ones", "safetensors", "alike"],
)
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"file cannot be loaded: it is (damaged|not a file)"):
        container.read(tmp_path / "file")


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    for name, words in [
        ("missing", "there is no such file"),
        ("empty", "it is empty"),
        ("pipe", "a device or a pipe"),
        (".", "it is a directory"),
        ("empty/file", "Not a directory"),
    ]:
        with pytest.raises(ModelFileError, match=words):
            container.read(tmp_path / name)


def test_a_newer_version_says_so():
    now = container.FORMAT
    newer = resealed(DATA.replace(rb"\"format\":%d" % now, rb"\"format\":%d" % (now + 4)))
    words = rf"newer version of Thresher \(format {now + 4}, .* up to {now}\)"
    with pytest.raises(ModelFileError, match=words):
        container.loads(newer)


def test_older_versions_are_upgraded_one_after_the_other(monkeypatch):
    now = container.FORMAT
    monkeypatch.setattr(container, "FORMAT", now + 2)
    monkeypatch.setitem(
        container.UPGRADES, now, lambda header, arrays: ({**header, "next": 1}, arrays)
    )
    with pytest.raises(ModelFileError, match=f"{now + 1}, is none that Thresher ever wrote"):
        container.loads(DATA)
    monkeypatch.setitem(
        container.UPGRADES,
        now + 1,
        lambda header, arrays: ({**header, "last": 2}, {**arrays, "new": 0}),
    )
    header, arrays = container.loads(DATA)
    assert header == {**HEADER, "next": 1, "last": 2}
    assert "new" in arrays
