"""Units of targets: what spread is, and that a stream's do not depend on its cuts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from thresher.estimators.target_units import SETTLING, Measure, Units, weighted_median

NUMBERS = st.lists(st.integers(-50, 50), min_size=1, max_size=30)
MEASURES = [
    Measure(robust, centred, times)
    for robust in (False, True)
    for centred in (False, True)
    for times in (1.0, 1.35)
]


def ones(targets):
    return np.ones(len(targets))


def followed(targets, measure, cuts=(), weights=None):
    """Return units and scaled targets of a stream that comes in pieces."""
    weights = ones(targets) if weights is None else weights
    units, pieces = Units(), []
    for first, last in pairwise([0, *cuts, len(targets)]):
        units, scales = units.follow(targets[first:last], weights[first:last], measure)
        pieces.append((targets[first:last] - scales[:, 0]) / scales[:, 1])
    return units, np.concatenate(pieces)


@given(NUMBERS)
def test_the_weighted_median_of_equal_weights_is_the_median(numbers):
    numbers = np.array(numbers, float)
    assert weighted_median(numbers, ones(numbers)) == np.median(numbers)


@given(NUMBERS, st.integers(0, 2**31))
def test_weights_count_rows(numbers, seed):
    numbers = np.array(numbers, float)
    weights = np.random.default_rng(seed).integers(1, 4, numbers.size)
    repeated = np.repeat(numbers, weights)
    for measure in MEASURES:
        assert_allclose(measure(numbers, weights), measure(repeated, ones(repeated)), atol=1e-12)


def test_measures_are_what_their_names_say():
    targets = np.random.default_rng(0).normal(7, 3, size=500)
    assert_allclose(Measure()(targets, ones(targets)), [targets.mean(), targets.std()])
    rms = np.sqrt(np.mean(targets**2))
    assert_allclose(Measure(centred=False, times=2.0)(targets, ones(targets)), [0.0, 2 * rms])
    median = np.median(targets)
    spread = np.median(np.abs(targets - median)) / 0.6745
    assert_allclose(Measure(robust=True)(targets, ones(targets)), [median, spread])


def test_a_robust_spread_stays_where_a_quarter_is_wild_or_most_are_the_same():
    targets = np.random.default_rng(0).normal(size=1000)
    wild = np.where(np.arange(1000) % 4 == 0, 1e9, targets)
    assert 1 < Measure(robust=True)(wild, ones(wild))[1] < 2
    counts = np.where(np.arange(1000) % 10 == 0, 5.0, 0.0)
    assert_allclose(Measure(robust=True)(counts, ones(counts)), [0.0, 0.5 / 0.7979])


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@given(
    st.lists(st.sampled_from([0.1, 0.2, 0.7, 3.0, -11.0]), min_size=1, max_size=40),
    st.sampled_from([(1000.0, 7.0), (-3.0, 0.25), (1e-9, 0.0), (1e12, 0.0)]),
)
def test_scaled_targets_do_not_know_their_units(measure, targets, change):
    times, plus = change
    targets = np.array(targets)
    changed = times * targets + (plus if measure.centred else 0.0)
    _, scaled = followed(targets, measure)
    _, same = followed(changed, measure)
    assert_allclose(same, np.sign(times) * scaled, rtol=1e-9, atol=1e-9)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 1900), max_size=5), st.integers(0, 2**31), st.booleans())
def test_cuts_do_not_matter(cuts, seed, same_at_first):
    rng = np.random.default_rng(seed)
    targets, weights = rng.normal(size=1900), rng.choice([0.0, 1.0, 2.5], size=1900)
    counts = weights > 0  # the others are left out
    if same_at_first:
        targets[:1800] = 0.3
    for measure in (Measure(), Measure(robust=True, times=1.35)):
        units, scaled = followed(targets, measure, weights=weights)
        cut, same = followed(targets, measure, sorted(cuts), weights)
        assert scaled[counts].tobytes() == same[counts].tobytes()
        assert (cut.centre, cut.unit, cut.settled) == (units.centre, units.unit, units.settled)
        assert_array_equal(cut.first, units.first)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_the_first_rows_settle_units_for_good(measure):
    targets = np.random.default_rng(0).normal(3, 2, size=2 * SETTLING)
    targets[SETTLING:] *= 1e6
    units, _ = followed(targets, measure)
    assert units.settled
    first = targets[:SETTLING]
    assert_array_equal((units.centre, units.unit), measure(first, ones(first)))
    assert units.first.size == 0  # what is settled needs no rows


def test_units_are_measured_anew_when_rows_have_doubled():
    targets = np.random.default_rng(0).normal(3, 2, size=1000)
    for n_rows, known in [(1, 1), (2, 2), (3, 2), (511, 256), (512, 512), (1000, 512)]:
        units, _ = followed(targets[:n_rows], Measure())
        assert (units.centre, units.unit) == Measure()(targets[:known], np.ones(known))


@pytest.mark.parametrize("n_same", [1, 5, SETTLING - 1, SETTLING, 3 * SETTLING])
def test_targets_that_are_all_the_same_settle_nothing(n_same):
    same = np.full(n_same, 0.1)
    units, scaled = followed(same, Measure())
    assert (units.centre, units.unit, units.settled) == (0.1, 0.0, False)
    assert not scaled.any()
    assert units.first.size <= SETTLING
    later, scales = units.follow(np.array([0.1, 5.0]), np.ones(2), Measure())
    assert later.unit > 0
    assert scales.tolist() == [[0.1, 1.0], [later.centre, later.unit]]
    assert 0 < later.scaled(5.0) <= np.sqrt(SETTLING) + 1


def test_units_of_what_was_learnt_stay_in_a_warm_start():
    kept = Units(1.0, 2.0).settle(np.array([5.0, 9.0]), np.ones(2), Measure())
    assert (kept.centre, kept.unit, kept.settled) == (1.0, 2.0, True)
    fresh = Units().settle(np.array([5.0, 9.0, 1e9]), np.array([1.0, 1.0, 0.0]), Measure())
    assert (fresh.centre, fresh.unit) == (7.0, 2.0)
