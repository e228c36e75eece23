"""Files of trees: what was written comes back bit for bit, and nothing else is taken for it."""

import hashlib
import json
import math
import os
import pickle
import re
import struct
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from format_cases import every
from thresher.files import ModelFileError, access, container, tree
from thresher.files.access import as_tree, from_tree

TREE = {
    "kind": "test",
    "words": ["ä", "b"],
    "number": 0.1,
    "weights": np.linspace(0, 1, 7),
    "mask": np.array([True, False, True]),
    "inner": {"empty": np.zeros((0, 3), np.int32), "single": np.array(2.5)},
    "table": np.arange(6, dtype=np.uint32).reshape(2, 3),
}
DATA = tree.dumps(TREE)
CHECKSUM = re.compile(rb'\\"sha256\\":\\"([0-9a-f]{64})\\"')
few = settings(max_examples=60, deadline=None, derandomize=True, database=None)


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
    if isinstance(one, float):
        nans = math.isnan(one) and math.isnan(other)
        return nans or (one == other and math.copysign(1, one) == math.copysign(1, other))
    return one == other


def resealed(data):
    """Return a file with its checksum made right, as a forger would."""
    found = CHECKSUM.search(data)
    if found is None:
        return data
    first, last = found.span(1)
    blank = data[:first] + b"0" * 64 + data[last:]
    return data[:first] + hashlib.sha256(blank).hexdigest().encode() + data[last:]


# ---------------------------------------------------------------------------- there and back again


def test_a_tree_comes_back_from_a_file(tmp_path):
    (tmp_path / "file").write_bytes(tree.dumps(TREE))
    assert (tmp_path / "file").read_bytes() == DATA
    assert same(tree.read_tree(tmp_path / "file"), TREE)


texts = st.text(max_size=5) | st.sampled_from(["\ud800", "é", "", "\0"])
keys = texts.filter(lambda key: key != "$")
numbers = st.none() | st.booleans() | st.integers() | st.floats()
arrays = st.one_of(
    [
        hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
        for kind in ("f8", "f4", "i8", "i4", "u4", "u1", "?")
    ]
    + [hnp.arrays(object, st.integers(0, 4), elements=texts)]
)
trees = st.dictionaries(
    keys,
    st.recursive(
        numbers | texts | arrays | st.lists(texts, min_size=14, max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@few
@given(trees)
def test_any_tree_comes_back_bit_for_bit(value):
    assert same(tree.loads(tree.dumps(value)), value)


def test_numpys_numbers_and_strings_come_back_as_the_same_values():
    value = {
        "a": np.float32(0.1),
        "b": np.bool_(True),
        "c": np.int8(-3),
        "d": np.array(["ab", "ü"]),
    }
    plain = {"a": float(np.float32(0.1)), "b": True, "c": -3, "d": value["d"]}
    assert same(tree.loads(tree.dumps(value)), plain)


def test_arrays_that_would_have_the_same_name_are_told_apart():
    value = {
        "a/b": np.array([1]),
        "a": {"b": np.array([2]), "b'": np.array([3])},
        "__metadata__": np.array([4]),
    }
    assert same(tree.loads(tree.dumps(value)), value)


def test_the_same_content_gives_the_same_bytes():
    header, arrays = container.loads(DATA)
    assert container.dumps(header, dict(reversed(arrays.items()))) == DATA


def test_kernels_can_write_to_arrays_from_a_file():
    _, arrays = container.loads(DATA)
    assert all(array.flags.writeable and array.flags.c_contiguous for array in arrays.values())


def test_arrays_may_lie_in_any_order_of_bytes():
    odd = {
        "a": np.arange(6.0).reshape(2, 3).T,
        "b": np.arange(3, dtype=">i4"),
        "c": np.ones(9)[::3],
    }
    _, arrays = container.loads(container.dumps({}, odd))
    assert all(np.array_equal(arrays[name], odd[name]) for name in odd)


def test_it_is_a_safetensors_file_with_one_entry_of_metadata(tmp_path):
    (tmp_path / "file").write_bytes(DATA)
    with safetensors.safe_open(tmp_path / "file", "np") as file:
        (text,) = file.metadata().values()
    assert json.loads(text)["header"]["kind"] == "test"
    assert json.loads(text)["format"] == 1


def test_many_strings_take_little_more_than_their_letters():
    words = [f"feature {i}" for i in range(1000)]
    data = tree.dumps({"words": words})
    assert len(data) < sum(map(len, words)) + len(words) + 600


@every(
    "value",
    [
        {"a": (1, 2)},
        {"a": object()},
        {1: 2},
        {"$": 1},
        {"a": np.zeros(3, complex)},
        {"a": np.zeros(3, np.longdouble)},
        {"a": np.array([1, "b"], object)},
        {"a": np.array([["a"]], object)},
        {"a": np.array([["a"]])},
        {"a": np.longdouble(1)},
        {"a": np.datetime64("2020-01-01")},
        {"a": b"bytes"},
    ],
)
def test_what_cannot_come_back_is_not_written(value):
    with pytest.raises(TypeError):
        tree.dumps(value)


# ------------------------------------------------------------------------------------------ damage


def test_any_changed_byte_is_found():
    for place in range(len(DATA)):
        spoilt = bytearray(DATA)
        spoilt[place] ^= 1 << place % 8
        with pytest.raises(ModelFileError, match=r"damaged|not a file that Thresher wrote"):
            container.loads(bytes(spoilt))


def test_any_truncation_is_found():
    for size in range(len(DATA)):
        with pytest.raises(ModelFileError, match=r"damaged|not a file that Thresher wrote|empty"):
            container.loads(DATA[:size])


@every("more", [b"\0", b" ", DATA])
def test_what_was_appended_is_found(more):
    with pytest.raises(ModelFileError, match="damaged"):
        container.loads(DATA + more)


@every(
    "content",
    [
        pickle.dumps({"a": 1}),
        b"+1 1:0.5 7:1\n" * 100,
        b"PK\x03\x04" + bytes(500),
        b"{}",
        b"\xff" * 1000,
        safetensors.numpy.save({"a": np.zeros(3)}),
        safetensors.numpy.save({"a": np.zeros(3)}, {"thresher": "no JSON"}),
        DATA[:-1],
    ],
)
def test_other_files_are_refused_by_name(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"file cannot be loaded: it is (damaged|not a file)"):
        tree.read_tree(tmp_path / "file")


def test_what_is_not_a_file_is_refused(tmp_path):
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
            tree.read_tree(tmp_path / name)


@every("version", [0, 2, 999999999])
def test_another_format_says_so(version):
    other = DATA.replace(rb"\"format\":1,", rb"\"format\":%d," % version)
    with pytest.raises(ModelFileError, match=f"it has format {version}, and .* reads format 1"):
        container.loads(resealed(struct.pack("<Q", len_of_header(other)) + other[8:]))


def len_of_header(data):
    return int.from_bytes(DATA[:8], "little") + len(data) - len(DATA)


# ----------------------------------------------------------------------------------------- forgery


def forged(text, rest="}", data=b""):
    """Return a file with a right checksum and strange content."""
    about = '{"format":1,"sha256":"' + "0" * 64 + '",' + text
    header = ('{"__metadata__":{"thresher":' + json.dumps(about) + "}" + rest).encode()
    return resealed(struct.pack("<Q", len(header)) + header + data)


def with_array(about):
    return forged('"header":{}}', rest=',"a":{' + about + "}}", data=bytes(8))


@every(
    "spoilt",
    [
        forged('"header":' + "[" * 100_000 + "]" * 100_000 + "}"),
        forged('"header":{"a":' * 50_000 + "1" + "}" * 50_001),
        forged('"header":{}}', rest=',"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
        forged('"header":[]}'),
        forged('"header":{"a":' + "9" * 5000 + "}}"),
        forged('"header":{}'),
        forged('"nothing":{}}'),
        with_array('"dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,8]'),
        with_array('"dtype":"F64","shape":[1],"data_offsets":[0,9223372036854775807]'),
        with_array('"dtype":"BF16","shape":[4],"data_offsets":[0,8]'),
    ],
)
def test_a_right_checksum_is_not_trusted(spoilt):
    with pytest.raises(ModelFileError, match=r"content cannot be read|header is invalid"):
        tree.loads(spoilt)


@every("length", [2**63, 2**40, len(DATA)])
def test_a_header_that_claims_to_be_huge_is_not_read(tmp_path, length):
    spoilt = resealed(struct.pack("<Q", length) + DATA[8:])
    (tmp_path / "file").write_bytes(spoilt)
    for load in (lambda: tree.read_tree(tmp_path / "file"), lambda: container.loads(spoilt)):
        with pytest.raises(ModelFileError):
            load()


def test_booleans_are_0_or_1():
    rest = ',"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}'
    _, read = container.loads(forged('"header":{}}', rest, b"\x00\x01\x07"))
    assert read["a"].view(np.uint8).tolist() == [0, 1, 1]


STORED = {
    "bytes": np.array([0xFF, 0xFF], np.uint8),
    "long": np.array([2**64 - 1, 3], np.uint64),
    "signed": np.array([-1, 3]),
    "fitting": np.array([1, 1], np.uint8),
}


@every(
    "value",
    [
        {"$": "array", "at": "nothing"},
        {"$": "array"},
        {"$": "pickle", "at": "bytes"},
        {"$": ["array"]},
        {"$": "strings", "at": "bytes", "lengths": "bytes"},
        {"$": "strings", "at": "bytes", "lengths": "long"},
        {"$": "strings", "at": "bytes", "lengths": "signed"},
        {"$": "strings", "at": "bytes", "lengths": "fitting"},
        {"$": "text", "at": "bytes"},
        {"$": "text", "at": "bytes", "lengths": "fitting"},
    ],
)
def test_invalid_headers_are_refused(value):
    with pytest.raises(ModelFileError, match="header is invalid"):
        tree.loads(container.dumps({"a": value}, STORED))


@few
@given(st.binary(max_size=300), st.booleans())
@example(b"", True)
def test_random_bytes_are_refused(data, begun):
    with pytest.raises(ModelFileError):
        container.loads(DATA[:150] + data if begun else data)


@few
@given(st.data())
def test_forged_bytes_are_refused_or_read_as_another_tree(data):
    spoilt = bytearray(DATA)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(spoilt) - 1))
        spoilt[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with suppress(ModelFileError):
        tree.loads(resealed(bytes(spoilt)))


# ---------------------------------------------------------------------------------- checked reading


@every(
    ("read", "key", "words"),
    [
        (access.whole, "missing", "missing is missing"),
        (access.whole, "number", "number is of the type float"),
        (access.whole, "flag", "flag is of the type bool"),
        (lambda t, key: access.whole(t, key, most=2), "whole", "whole is 3"),
        (access.number, "nan", "nan is nan"),
        (lambda t, key: access.part(t, key, bool), "whole", "whole is of the type int"),
        (lambda t, key: access.part(t, key, str), "whole", "whole is of the type int"),
        (lambda t, key: access.part(t, key, access.Tree), "whole", "whole is of the type int"),
        (lambda t, key: access.part(t, key, list[access.Tree]), "list", "list.0. is of the type"),
        (lambda t, key: access.array(t, key, np.float32, (2,)), "array", "array of float64"),
        (lambda t, key: access.array(t, key, np.float64, (None, 2)), "array", r"shape \(2,\)"),
        (lambda t, key: access.integers(t, key, None, 9), "array", "array of float64"),
        (lambda t, key: access.integers(t, key, 3, 9), "integers", r"shape \(2,\)"),
        (lambda t, key: access.integers(t, key, 2, 9), "integers", "goes from 0 to 9"),
        (lambda t, key: access.same_names(t, [key], "parameters"), "a", "the parameters are array"),
    ],
)
def test_what_is_not_as_expected_is_refused(read, key, words):
    values = {"whole": 3, "number": 0.5, "flag": True, "nan": np.nan, "list": [1]}
    values |= {"array": np.zeros(2), "integers": np.array([0, 9], np.uint8)}
    with pytest.raises(ModelFileError, match=f"its content is invalid: .*{words}"):
        read(values, key)


def test_what_is_as_expected_is_returned():
    values = {"whole": np.int32(3), "number": 1, "flag": np.True_, "array": np.zeros(2).T}
    assert access.whole(values, "whole") == 3
    assert access.number(values, "number") == 1.0
    assert access.part(values, "flag", bool) is True
    assert access.part(values, "number", Any) == 1
    assert access.array(values, "array", np.float64, (None,)).flags.writeable
    assert access.integers({"a": np.array([1], np.uint8)}, "a", 1, 2).dtype == np.int64


# --------------------------------------------------------------------------- values of known types


class Inner(NamedTuple):
    name: str
    numbers: list[int]


class Outer(NamedTuple):
    size: int
    share: float
    clear: bool
    weights: list[np.ndarray]
    inner: Inner
    score: np.ndarray | None = None
    notes: dict[str, str | None] = MappingProxyType({})


OUTER = Outer(3, 0.5, True, [np.arange(2.0), np.zeros(0)], Inner("x", [1, 2]), notes={"a": None})


def test_values_of_declared_types_come_back():
    read = from_tree(Outer, tree.loads(tree.dumps(as_tree(OUTER))), "outer")
    assert type(read) is Outer
    assert type(read.inner) is Inner
    assert same(as_tree(read), as_tree(OUTER))
    scored = OUTER._replace(score=np.ones(2), share=np.float32(0.5), size=np.int8(3))
    read = from_tree(Outer, tree.loads(tree.dumps(as_tree(scored))), "outer")
    assert read.score.tolist() == [1.0, 1.0]
    assert type(read.size) is int
    assert type(read.share) is float


@every(
    ("place", "junk", "words"),
    [
        (("size",), 0.5, "outer.size is of the type float"),
        (("size",), True, "outer.size is of the type bool"),
        (("share",), "1", "outer.share is of the type str"),
        (("clear",), 1, "outer.clear is of the type int"),
        (("weights",), {}, "outer.weights is of the type dict"),
        (("weights", 0), 1.0, r"outer.weights\[0\] is of the type float"),
        (("inner",), [], "outer.inner is of the type list"),
        (("inner", "name"), None, "outer.inner.name is of the type NoneType"),
        (("inner", "more"), 1, "outer.inner has the fields more, name, numbers"),
        (("score",), 1, "outer.score is of the type int"),
        (("notes", "a"), 1, "outer.notes.a is of the type int"),
    ],
)
def test_values_of_other_types_are_refused(place, junk, words):
    value = as_tree(OUTER)
    inner = value
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = junk
    with pytest.raises(ModelFileError, match=words):
        from_tree(Outer, value, "outer")
