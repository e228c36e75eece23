"""Parted lines of weights: paths that fit keep few, and everything is as with whole lines."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from cases import labelled_rows, make
from thresher.bench.bars import BARS
from thresher.bench.memory import features
from thresher.bench.setting import Setting
from thresher.data.scattered import Scattered
from thresher.kernels.adaptive import run_bursts
from thresher.kernels.bundle import Rules
from thresher.kernels.judging import follow_members
from thresher.kernels.losses import LOG_LOSS
from thresher.kernels.parted import run_parted
from thresher.kernels.rows import Rows, Updates
from thresher.learners.adaptive_unit import AdaptiveUnit

N_SLOTS, N_ROWS, BURST = 12, 20, 5
KINDS = [(16, "float32"), (5, "float32"), (2, "float32"), (8, "float64"), (3, "float64")]


def unit_of(lanes, dtype, members, seed=0, everywhere=True):
    """Return a unit with weights on all paths, or, of those that fit, at members only."""
    rng = np.random.default_rng(seed)
    unit = AdaptiveUnit(lanes, np.dtype(dtype))
    unit.grow(N_SLOTS, False)
    lines = unit.arrays["weights"]
    lines[:N_SLOTS, :lanes] = rng.normal(size=(N_SLOTS, lanes))
    if not everywhere:
        lines[:N_SLOTS][~members, unit.fitting.start :] = 0.0
    unit.arrays["places"][:N_SLOTS] = members
    unit.arrays["bias"][0, :lanes] = rng.normal(size=lanes)
    return unit


def learn(unit, parted, gravity=0.0):
    """Give a unit some rows; return its tree."""
    rng = np.random.default_rng(1)
    dtype = unit.dtype
    slots = np.concatenate([rng.choice(N_SLOTS, 4, replace=False) for _ in range(N_ROWS)])
    starts = np.arange(N_ROWS + 1) * 4
    rows = Rows(starts, slots.astype(np.uint32), rng.normal(size=slots.size).astype(dtype))
    ones = np.ones(N_ROWS)
    targets = np.where(rng.random(N_ROWS) < 0.5, -1.0, 1.0)
    updates = Updates(np.arange(N_ROWS), 0.5 * ones, ones, ones, targets, ones)
    bursts = N_ROWS // BURST
    rules = Rules(LOG_LOSS, BURST, gravity, 0.5, False, 0, bursts, True, parted)
    unit.make_ready(True, True, False, parted)
    takes = rng.integers(0, 2, (bursts, unit.lanes)) * 1.25
    takes[:, [0, -1]] = 1.25
    run = run_parted if parted else run_bursts
    shares = unit.shares(takes)
    assert run(rows, updates, rules, 0, shares, unit.kernel_view()) == N_ROWS
    return flat(unit.tree())


def flat(tree):
    """Return the arrays of a unit's tree."""
    arrays = {**tree["arrays"]["by_slot"], **tree["arrays"]["whole"], **tree["pool"]}
    return {name: np.array(one) for name, one in arrays.items()}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, one in expected.items():
        assert_array_equal(found[name], one, err_msg=name)


@pytest.mark.parametrize("gravity", [0.0, 0.3])
@pytest.mark.parametrize("kind", KINDS)
def test_with_every_slot_a_member_parted_lines_learn_what_whole_ones_do(kind, gravity):
    members = np.ones(N_SLOTS, np.bool_)
    expected = learn(unit_of(*kind, members), parted=False, gravity=gravity)
    unit = unit_of(*kind, members)
    assert_same(learn(unit, parted=True, gravity=gravity), expected)
    assert unit.parted
    assert not np.array_equal(expected["weights"], unit_of(*kind, members).arrays["weights"])


@pytest.mark.parametrize("kind", KINDS)
def test_fitting_paths_learn_members_only_but_use_what_others_have(kind):
    members = np.arange(N_SLOTS) % 3 == 0
    before = unit_of(*kind, members)
    start = before.fitting.start
    unit = copy.deepcopy(before)
    lines = learn(unit, parted=True)["weights"]
    old = before.arrays["weights"][:N_SLOTS]
    assert_array_equal(lines[~members, start:], old[~members, start:])
    assert (lines[members, start:] != old[members, start:]).any(axis=1).all()
    assert not lines[:, unit.lanes :].any()
    without = unit_of(*kind, members, everywhere=False)
    others = learn(without, parted=True)["weights"]
    assert not others[~members, start:].any()
    assert not np.array_equal(others[members, start:], lines[members, start:])
    assert len(unit.fits) == N_SLOTS + 1
    assert len(without.fits) == np.count_nonzero(members) + 1


@given(st.lists(st.booleans(), min_size=N_SLOTS, max_size=N_SLOTS), st.booleans())
def test_lines_are_parted_and_joined_without_a_trace(members, everywhere):
    unit = unit_of(5, "float32", np.array(members), everywhere=everywhere)
    before = flat(unit.tree())
    unit.part()
    assert unit.arrays["weights"].shape == (N_SLOTS, 8)
    assert_same(flat(unit.tree()), before)
    for lanes in (range(5), range(3), range(3, 5)):
        sums = np.zeros(N_SLOTS)
        unit.add_weights(sums, lanes)
        whole = before["weights"][:, lanes.start : lanes.stop].astype(float)
        assert_array_equal(sums, np.cumsum(whole, axis=1)[:, -1])
    unit.join()
    assert not unit.parted
    assert_same(flat(unit.tree()), before)


@given(*[st.lists(st.booleans(), min_size=N_SLOTS, max_size=N_SLOTS).map(np.array)] * 2)
def test_new_members_begin_with_the_given_weights_and_old_ones_lose_theirs(members, chosen):
    unit = unit_of(5, "float32", members)
    expected = unit.arrays["weights"][:N_SLOTS].copy()
    given_weights = np.arange(1.0, N_SLOTS + 1)
    expected[members & ~chosen, 3:] = 0.0
    expected[chosen & ~members, 3:5] = given_weights[chosen & ~members, None]
    unit.set_members(chosen, given_weights)
    found = flat(unit.tree())
    assert_array_equal(found["weights"], expected)
    assert_array_equal(found["members"], chosen)
    assert len(unit.fits) == 1 + np.count_nonzero(chosen | ~members)


@pytest.mark.parametrize("some", [None, [0, 1, 3, 7]])
@pytest.mark.parametrize("parted", [False, True])
def test_a_unit_comes_back_in_the_form_it_had(parted, some):
    members = np.arange(N_SLOTS) % 3 == 0
    unit = unit_of(16, "float32", members, everywhere=False)
    if parted:
        unit.part()
    before = flat(unit.tree())
    slots = None if some is None else np.array(some)
    restores = unit.savepoint(slots)
    unit.part()
    if slots is None:
        learn(unit, parted=True)
        unit.set_members(~members, np.ones(N_SLOTS))
    else:
        unit.arrays["weights"][slots] = 7.0
        unit.fits[unit.arrays["places"][slots]] = 7.0
    for restore in restores:
        restore()
    assert unit.parted == parted
    assert_same(flat(unit.tree()), before)


def test_purged_members_lose_what_fits_and_strange_numbers_are_seen():
    members = np.arange(N_SLOTS) % 3 == 0
    unit = unit_of(16, "float32", members)
    unit.part()
    unit.purge(np.array([0, 1]))
    assert not flat(unit.tree())["weights"][:2].any()
    assert unit.finite(np.arange(N_SLOTS))
    unit.fits[unit.arrays["places"][3], 0] = np.inf
    assert unit.finite(np.array([0, 1]))
    assert not unit.finite(np.array([0, 3]))


@given(*[st.lists(st.sampled_from([0.0, 1.0, -2.5]), min_size=9, max_size=9).map(np.array)] * 3)
def test_running_means_of_members_follow_their_weights(before, weights, choice):
    chosen, known = choice > 0, Scattered.of(before)
    expected = np.where(chosen, np.where(before == 0, weights, before), 0.0)
    expected += 0.25 * (weights - expected)
    found = Scattered(*follow_members(known.slots, known.numbers, chosen, weights, 0.25))
    assert_array_equal(found.spread(9), expected)
    assert found.numbers.all()
    assert found.slots.dtype == known.slots.dtype


def test_one_path_alone_learns_a_stream():
    rows, labels = labelled_rows(n=400, p=40, density=0.2)
    model = make("ThresherClassifier", n_paths=1)
    for first in range(0, 400, 100):
        now = slice(first, first + 100)
        model.partial_fit(rows[now], labels[now], classes=[0, 1])
    assert len(model.history_) > 1
    assert model.score(rows, labels) > 0.8


@pytest.mark.jit
def test_a_stream_keeps_no_more_bytes_of_a_feature_than_it_may():
    (measured,) = features(Setting(small=True))
    assert measured.value <= BARS["features"].must
