"""Names and numbers: none is lost, none is given twice, and both survive a file."""

from hashlib import blake2b
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from format_cases import every
from thresher.formats import names as naming
from thresher.formats.names import ZERO, GrowingNames, HashedNames, KnownNames, names_from_tree

WORDS = st.lists(st.text(max_size=4), max_size=30)  # surrogates among them


def hash_of(name, n_bits):
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % 2**n_bits


def known():
    return KnownNames(np.array([2, 7]), ["b", "g"], 10, {"town": True, "age": False})


def some_names():
    """Return names of every kind that know a thing or two."""
    growing = GrowingNames(["x", "y", "z", "ü"], {"age": 4.5, "size": ZERO})
    hashed = HashedNames(3, map(str, range(40)), {"town": None})
    return [growing, hashed, known(), GrowingNames(), HashedNames(20)]


def test_growing_names_are_numbered_as_they_come():
    names = GrowingNames()
    assert names.number(["b", "a", "b"]).tolist() == [0, 1, 0]
    assert names.number(["c", "a"]).tolist() == [2, 1]
    assert names.number(["c"]).dtype == np.int64
    assert [names.name(k) for k in range(len(names))] == ["b", "a", "c"]


@given(WORDS, st.integers(0, 30))
def test_growing_names_do_not_depend_on_where_calls_end(words, cut):
    once, twice = GrowingNames(), GrowingNames()
    parts = np.concatenate([twice.number(words[:cut]), twice.number(words[cut:])])
    assert_array_equal(once.number(words), parts)
    assert [once.name(column) for column in parts] == words


@given(WORDS)
def test_hashed_names_are_their_hash(words):
    names = HashedNames(10)
    assert names.number(words).tolist() == [hash_of(word, 10) for word in words]
    assert len(names) == 1024


def test_hashed_names_are_remembered_also_together():
    names = HashedNames(1)
    columns = names.number([str(k) for k in range(20)])
    for column in (0, 1):
        shared = [str(k) for k in range(20) if columns[k] == column]
        assert names.name(column) == "|".join(shared[:3]) + "|…"
    assert HashedNames(1, ["x"]).name(hash_of("x", 1)) == "x"
    assert HashedNames(4).name(11) == "#11"


def test_the_cache_of_hashes_is_bounded():
    with mock.patch.object(naming, "CACHED", 10):
        names = HashedNames(30)
        for start in range(0, 200, 5):
            names.number([str(k) for k in range(start, start + 5)])
            assert len(names._columns) <= 15
    assert [names.name(hash_of(str(k), 30)) for k in range(200)] == [str(k) for k in range(200)]


@every("n_bits", [0, 63, -1])
def test_hashes_have_a_sensible_number_of_bits(n_bits):
    with pytest.raises(ValueError, match="1 to 62 bits"):
        HashedNames(n_bits)


def test_unknown_names_are_numbered_beyond_the_width_anew_in_every_call():
    names = known()
    assert names.number(["x", "b", "y", "x", "g"]).tolist() == [10, 2, 11, 10, 7]
    assert names.number(["y"]).tolist() == [10]
    assert len(names) == 10
    assert (names.name(7), names.name(3), names.name(11)) == ("g", "#3", "#11")


@given(WORDS)
def test_distinct_names_get_distinct_columns(words):
    columns = known().number(words)
    assert len(set(columns.tolist())) == len(set(words))
    assert all((columns[k] >= 10) == (word not in ("b", "g")) for k, word in enumerate(words))


@every("names", some_names())
def test_a_model_keeps_the_names_of_its_columns(names):
    columns = np.array([2, 7])[np.array([2, 7]) < len(names)]
    kept = names.only(columns)
    assert len(kept) == len(names)
    assert kept.kinds == names.kinds
    assert [kept.name(c) for c in columns] == [names.name(c) for c in columns]
    others = set(range(min(len(names), 20))) - set(columns.tolist())
    assert all(kept.name(c) == f"#{c}" for c in others)


def test_a_name_that_survives_is_found_again():
    names = GrowingNames(["a", "b", "c"])
    assert names.only(np.array([2, 1, 2])).number(["c", "a", "b"]).tolist() == [2, 3, 1]
    hashed = HashedNames(20, ["a", "b"])
    column = hashed.number(["b"])
    assert_array_equal(hashed.only(column).number(["a", "b"]), hashed.number(["a", "b"]))


@every("names", some_names())
def test_names_survive_a_tree(names):
    again = names_from_tree(names.tree())
    assert type(again) is type(names)
    assert len(again) == len(names)
    assert again.kinds == names.kinds
    width = min(len(names), 50)
    assert [again.name(c) for c in range(width)] == [names.name(c) for c in range(width)]
    more = ["z", "new", "b", "ü", "new"]
    assert_array_equal(again.number(more), names.number(more))


@given(WORDS)
def test_any_text_survives_a_tree(words):
    for names in (GrowingNames(words), HashedNames(30, words)):
        again = names_from_tree(names.tree())
        columns = names.number(words)
        assert [again.name(c) for c in columns] == [names.name(c) for c in columns]


def test_a_tree_of_another_kind_is_refused():
    with pytest.raises(ValueError, match="unknown kind: 'future'"):
        names_from_tree({**GrowingNames().tree(), "kind": "future"})
    with pytest.raises(ValueError, match="no strings"):
        names_from_tree({**GrowingNames().tree(), "names": [1]})
    with pytest.raises(ValueError, match="no number"):
        names_from_tree(GrowingNames([], {"a": np.nan}).tree())
