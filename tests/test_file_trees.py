"""Trees of plain values: they come back from a file bit for bit, or are not stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from container_cases import same
from thresher.files import container, tree
from thresher.files.container import ModelFileError


def through_bytes(value):
    return tree.unpack(*container.loads(container.dumps(*tree.pack(value))))


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
