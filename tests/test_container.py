"""Files of arrays: what was written comes back, and nothing else is ever taken for it."""

import contextlib
import json
import math
import os
import pickle
import struct

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from files_cases import flips, resealed, truncations, with_flipped_bit
from thresher.files import container, tree
from thresher.files.container import ModelFileError

HEADER = {"kind": "test", "words": ["ä", "b"], "number": 0.1}
ARRAYS = {
    "weights": np.linspace(0, 1, 7),
    "mask": np.array([True, False, True]),
    "empty": np.zeros((0, 3), np.int32),
    "single": np.array(2.5),
    "table": np.arange(6, dtype=np.uint32).reshape(2, 3),
}
DATA = container.dumps(HEADER, ARRAYS)


def same(one, other):
    """Return whether two trees are equal in values, types and bits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and (one.tolist() == other.tolist() or one.tobytes() == other.tobytes())
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float | np.floating):
        nans = math.isnan(one) and math.isnan(other)
        return nans or (one == other and math.copysign(1, one) == math.copysign(1, other))
    return one == other


def through_bytes(value):
    return tree.unpack(*container.loads(container.dumps(*tree.pack(value))))


# ------------------------------------------------------------------------------------- container


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
    newer = resealed(DATA.replace(rb"\"format\":3", rb"\"format\":7"))
    with pytest.raises(ModelFileError, match=r"newer version of Thresher \(format 7, .* up to 3\)"):
        container.loads(newer)


def test_older_versions_are_upgraded_one_after_the_other(monkeypatch):
    monkeypatch.setattr(container, "FORMAT", 5)
    monkeypatch.setitem(
        container.UPGRADES, 3, lambda header, arrays: ({**header, "fourth": 4}, arrays)
    )
    with pytest.raises(ModelFileError, match="4, is none that Thresher ever wrote"):
        container.loads(DATA)
    monkeypatch.setitem(
        container.UPGRADES, 4, lambda header, arrays: ({**header, "fifth": 5}, {**arrays, "new": 0})
    )
    header, arrays = container.loads(DATA)
    assert header == {**HEADER, "fourth": 4, "fifth": 5}
    assert "new" in arrays


# ------------------------------------------------------------------------------ hostile headers


def hostile(text, rest="}", data=b""):
    """Return a file with a right checksum that says something strange."""
    about = '{"format":1,"sha256":"' + "0" * 64 + '",' + text
    header = ('{"__metadata__":{"thresher":' + json.dumps(about) + "}" + rest).encode()
    return resealed(struct.pack("<Q", len(header)) + header + data)


@pytest.mark.parametrize(
    "spoilt",
    [
        hostile('"header":' + "[" * 100_000 + "]" * 100_000 + "}"),
        hostile('"header":{"a":' * 50_000 + "1" + "}" * 50_001),
        hostile('"header":{}}', rest=',"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
        hostile('"header":[]}'),
        hostile('"header":{"a":NaN}}'),
        hostile('"header":{"a":' + "9" * 5000 + "}}"),
        hostile('"header":{}'),
        hostile('"nothing":{}}'),
        hostile(
            '"header":{}}',
            rest=',"a":{"dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,8]}}',
            data=bytes(8),
        ),
        hostile(
            '"header":{}}',
            rest=',"a":{"dtype":"F64","shape":[1],"data_offsets":[0,9223372036854775807]}}',
            data=bytes(8),
        ),
        hostile(
            '"header":{}}',
            rest=',"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}',
            data=bytes(8),
        ),
    ],
    ids=range(11),
)
def test_a_right_checksum_is_not_trusted(spoilt):
    with pytest.raises(ModelFileError, match=r"nobody can read|makes no sense"):
        tree.unpack(*container.loads(spoilt))


def test_a_header_that_claims_to_be_huge_is_not_believed(tmp_path):
    for length in (2**63, 2**40, len(DATA)):
        spoilt = resealed(struct.pack("<Q", length) + DATA[8:])
        (tmp_path / "file").write_bytes(spoilt)
        with pytest.raises(ModelFileError):
            container.read(tmp_path / "file")
        with pytest.raises(ModelFileError):
            container.loads(spoilt)


def test_truth_is_0_or_1():
    rest = ',"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}'
    _, arrays = container.loads(hostile('"header":{}}', rest, b"\x00\x01\x07"))
    assert arrays["a"].view(np.uint8).tolist() == [0, 1, 1]


@given(st.binary(max_size=300), st.booleans())
@example(b"", True)
def test_random_bytes_are_refused(data, begun):
    with pytest.raises(ModelFileError):
        container.loads(DATA[:150] + data if begun else data)


@given(st.data())
def test_mutated_bytes_are_refused_or_read_as_something(data):
    spoilt = bytearray(DATA)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(spoilt) - 1))
        spoilt[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    if bytes(spoilt) != DATA:
        with pytest.raises(ModelFileError):
            container.loads(bytes(spoilt))
    with contextlib.suppress(ModelFileError):
        tree.unpack(*container.loads(resealed(bytes(spoilt))))


# ----------------------------------------------------------------------------------------- trees

texts = st.text(max_size=5) | st.sampled_from(["\ud800", "é", "", "\0"])
keys = texts.filter(lambda key: key != "$")
numbers = st.none() | st.booleans() | st.integers() | st.floats()
arrays = st.one_of(
    [
        hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
        for kind in ("f8", "f4", "i8", "i4", "u4", "u1", "?", "U3")
    ]
    + [hnp.arrays(object, st.integers(0, 4), elements=texts)]
)
scalars = st.one_of(hnp.from_dtype(np.dtype(kind)) for kind in ("f8", "f4", "i8", "u8", "i2", "?"))
trees = st.dictionaries(
    keys,
    st.recursive(
        numbers | texts | arrays | scalars | st.lists(texts, min_size=14, max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@given(trees)
def test_trees_come_back_bit_for_bit(value):
    assert same(through_bytes(value), value)


def test_arrays_that_would_be_called_the_same_are_not_mixed_up():
    value = {
        "a/b": np.array([1]),
        "a": {"b": np.array([2]), "b'": np.array([3])},
        "__metadata__": np.array([4]),
    }
    assert same(through_bytes(value), value)


def test_many_words_take_little_more_than_their_letters():
    words = [f"feature {i}" for i in range(1000)]
    data = container.dumps(*tree.pack({"words": words}))
    assert len(data) < sum(map(len, words)) + len(words) + 600


@pytest.mark.parametrize(
    "value",
    [
        {"a": (1, 2)},
        {"a": object()},
        {1: 2},
        {"$": 1},
        {"a": np.zeros(3, complex)},
        {"a": np.array([1, "b"], object)},
        {"a": np.array([["a"]], object)},
        {"a": np.longdouble(1)},
        {"a": np.datetime64("2020-01-01")},
        {"a": b"bytes"},
    ],
    ids=lambda value: type(next(iter(value.values()))).__name__,
)
def test_what_cannot_come_back_is_not_stored(value):
    with pytest.raises(TypeError):
        container.dumps(*tree.pack(value))


@pytest.mark.parametrize(
    "header",
    [
        {"a": {"$": "array", "at": "nothing"}},
        {"a": {"$": "array"}},
        {"a": {"$": "pickle", "at": "bytes"}},
        {"a": {"$": ["array"]}},
        {"a": {"$": "number", "type": "object", "value": 1}},
        {"a": {"$": "number", "type": "int8", "value": 1000}},
        {"a": {"$": "number", "type": "int8", "value": {"a": 1}}},
        {"a": {"$": "float", "value": "1e9"}},
        {"a": {"$": "words", "at": "bytes", "lengths": "bytes"}},
        {"a": {"$": "words", "at": "bytes", "lengths": "long"}},
        {"a": {"$": "words", "at": "bytes", "lengths": "signed"}},
        {"a": {"$": "words", "at": "bytes", "lengths": "fitting"}},
        {"a": {"$": "text", "at": "bytes"}},
        {"a": {"$": "text", "at": "characters"}},
    ],
    ids=str,
)
def test_headers_that_make_no_sense_are_refused(header):
    stored = {
        "bytes": np.array([0xFF, 0xFF], np.uint8),
        "long": np.array([2**64 - 1, 3], np.uint64),
        "signed": np.array([-1, 3]),
        "fitting": np.array([1, 1], np.uint8),
        "characters": np.array([[0x110000]], np.uint32),
    }
    with pytest.raises(ModelFileError, match="makes no sense"):
        tree.unpack(header, stored)
