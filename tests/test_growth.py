"""Arrays by slot: where they begin, how they rest, and how entries leave and come back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from cases import PATHED, assert_same_bits, labelled_rows, make, stream
from thresher.data.growth import LINE, Arrays, Log, zeros
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.masks import above, picked, places_of, sum_of
from thresher.kernels.slots import by_frequency

MASKS = st.lists(st.booleans(), min_size=1, max_size=30).map(np.array)


def filled(n):
    """Return arrays of every width of an entry, numbered from 1, and one that rests."""
    arrays = Arrays(
        {
            "line": np.zeros((0, 16), np.float32),
            "eight": np.zeros(0),
            "four": np.zeros(0, np.int32),
            "one": np.zeros(0, np.bool_),
            "resting": np.zeros(0),
        },
        {"whole": np.zeros(1)},
        resting={"resting": 0.5},
    )
    arrays.grow(n)
    numbers = np.arange(1, n + 1)
    arrays["line"][:n] = numbers[:, None] + np.arange(16) / 16
    arrays["eight"][:n], arrays["four"][:n], arrays["one"][:n] = numbers, numbers, numbers % 2
    return arrays


@given(st.integers(1, 300), st.sampled_from([np.float32, np.float64, np.bool_]))
def test_arrays_begin_where_a_cache_line_does(n, kind):
    found = zeros((n, 16), np.dtype(kind))
    assert found.ctypes.data % LINE == 0
    assert found.shape == (n, 16)
    assert not found.any()


def test_lines_of_weights_stay_aligned_as_features_appear():
    rows, labels = labelled_rows(n=60, p=40, density=0.2)
    model = stream(make("ThresherClassifier"), rows, labels, cuts=range(5, 60, 5))
    for problem in model._model.problems:
        for unit in problem.state.units:
            assert unit.arrays["weights"].ctypes.data % LINE == 0


def test_copied_lines_are_aligned_again_before_they_are_used():
    arrays = filled(5)
    room = np.zeros(5 * 64 + 128, np.uint8)
    first = -room.ctypes.data % LINE + 4
    arrays.by_slot["line"] = room[first : first + 5 * 64].view(np.float32).reshape(5, 16)
    arrays.by_slot["line"][...] = 3.0
    arrays.grow(5)
    assert arrays["line"].ctypes.data % LINE == 0
    assert arrays["line"].shape == (5, 16)
    assert (arrays["line"] == 3).all()


@given(MASKS)
def test_entries_leave_and_come_back(keep):
    arrays, slots = filled(keep.size), np.flatnonzero(keep)
    before = {name: arrays.shown(name).copy() for name in arrays.by_slot}
    arrays.keep(slots)
    assert arrays.n_slots == slots.size
    for name, numbers in before.items():
        assert_array_equal(arrays.shown(name), numbers[slots])
    arrays.spread(slots, keep.size)
    for name in set(before) - {"resting"}:
        assert_array_equal(arrays.shown(name)[keep], before[name][keep])
        assert not arrays.shown(name)[~keep].any()


def test_what_woke_while_others_were_away_is_spread_too():
    arrays = filled(5)
    arrays.keep(np.array([1, 4]))
    arrays["resting"][:2] = 7.0, 8.0
    arrays.spread(np.array([1, 4]), 5)
    assert arrays.shown("resting").tolist() == [0.0, 7.0, 0.0, 0.0, 8.0]


def test_arrays_rest_until_somebody_writes():
    arrays = filled(3)
    assert arrays.shown("resting").tolist() == [0.5] * 3
    assert arrays.tree()["by_slot"]["resting"].tolist() == [0.5] * 3
    assert arrays.at_hand("resting").size == 0
    read = arrays.from_tree(arrays.tree())
    assert read.at_hand("resting").size == 0
    arrays["resting"][1] = 2.0
    assert arrays.shown("resting").tolist() == [0.5, 2.0, 0.5]
    read = arrays.from_tree(arrays.tree())
    assert read.at_hand("resting").tolist() == [0.5, 2.0, 0.5]
    arrays.rest("resting", 0.25)
    assert arrays.shown("resting").tolist() == [0.25] * 3


def test_a_savepoint_knows_what_rested():
    arrays = filled(4)
    restore = arrays.savepoint(np.array([1, 2]))
    arrays["resting"][[1, 2]] = 9.0
    restore()
    assert arrays.shown("resting").tolist() == [0.5] * 4
    arrays["resting"][3] = 6.0
    restore = arrays.savepoint(None)
    arrays.rest("resting")
    restore()
    assert arrays.shown("resting").tolist() == [0.5, 0.5, 0.5, 6.0]


def test_a_log_drops_what_has_no_place():
    log = Log(a=np.array([3, 0, 2, 1, 9], np.uint32), b=np.arange(10.0).reshape(5, 2))
    log.length[0] = 4
    log.renumber("a", np.array([-1, 0, 1, 2]))
    assert log.length[0] == 3
    assert log["a"][:3].tolist() == [2, 1, 0]
    assert log["b"][:3].tolist() == [[0.0, 1.0], [4.0, 5.0], [6.0, 7.0]]


@given(MASKS)
def test_masks_say_the_same_as_numpy(mask):
    numbers = np.arange(mask.size) % 3 * 1.0
    assert_array_equal(picked(numbers, mask), numbers[mask])
    assert_array_equal(places_of(mask), np.where(mask, np.cumsum(mask) - 1, -1))
    counts = np.arange(mask.size)
    assert sum_of(counts, mask) == counts[mask].sum()
    higher, level = above(numbers, mask, 1.0)
    assert_array_equal(higher, mask & (numbers > 1))
    assert_array_equal(level, np.flatnonzero(mask & (numbers == 1)))


@given(st.lists(st.integers(0, 9), max_size=40).map(lambda few: np.array(few, np.int64)))
def test_frequent_columns_come_first_equal_ones_as_they_come(counts):
    assert_array_equal(by_frequency(counts), np.argsort(-counts, kind="stable"))


def test_looking_for_slots_leaves_no_trace_and_finds_each_once():
    vocabulary = Vocabulary(40)
    rows, _ = labelled_rows(n=30, p=40, density=0.2)
    vocabulary.absorb(rows[:10], np.dtype(np.float64))
    before = vocabulary.slot_of.copy()
    found = vocabulary.slots_in(rows)
    assert_array_equal(vocabulary.slot_of, before)
    assert_array_equal(np.sort(found), np.arange(len(vocabulary)))


def test_columns_may_occur_in_more_rows_than_four_bytes_count():
    vocabulary = Vocabulary(40)
    rows, _ = labelled_rows(n=30, p=40, density=0.2)
    vocabulary.absorb(rows, np.dtype(np.float64))
    tree = vocabulary.tree()
    tree["occurrences"][0] = 2**32 - 1
    read = Vocabulary.from_tree(tree)
    read.absorb(rows, np.dtype(np.float64))
    assert read["occurrences"][0] == 2**32 - 1 + vocabulary["occurrences"][0]


@pytest.mark.parametrize("name", PATHED)
def test_looking_at_every_pass_changes_nothing(name, capsys):
    """Features that have left are brought back to be looked at, and leave again."""
    rows, labels = labelled_rows(n=120, p=60, density=0.2)
    watched, alone = (make(name, verbose=verbose) for verbose in (1, 0))
    assert_same_bits(watched.fit(rows, labels), alone.fit(rows, labels))
    assert "pass" in capsys.readouterr().out
