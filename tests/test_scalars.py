"""The smallest parts, each alone: losses, thresholds, quantiles, annealing, chance."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
from thresher.estimators.parameters import CLASS_LOSSES as LOSSES
from thresher.kernels.losses import slope_of
from thresher.kernels.quantile import FEW, kth_smallest
from thresher.kernels.shrink import soft_threshold, truncate_below
from thresher.learners.annealing import annealed_rejection_rate, grown_burst_size
from thresher.learners.gravity import gravity_for
from thresher.learners.selection import bar_at, judge, shrinking_size, strongest
from thresher.randomness import burst_weights, permutation

VALUES = {
    "hinge": lambda z: max(0.0, 1.0 - z),
    "log_loss": lambda z: math.log1p(math.exp(-z)),
    "squared_hinge": lambda z: max(0.0, 1.0 - z) ** 2,
    "modified_huber": lambda z: max(0.0, 1.0 - z) ** 2 if z >= -1 else -4.0 * z,
}
numbers = st.floats(-1e6, 1e6)
pulls = st.floats(0, 1e6)


# -------------------------------------------------------------------------------------- losses


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("target", [-1.0, 1.0])
@given(margin=st.floats(-20, 20))
def test_slope_is_the_derivative_of_the_loss(loss, target, margin):
    step = 1e-6
    near_corner = min(abs(target * margin - 1), abs(target * margin + 1)) < 2 * step
    if near_corner:
        return
    above, below = (VALUES[loss](target * m) for m in (margin + step, margin - step))
    slope = slope_of(LOSSES[loss], margin, target)
    assert_allclose(slope, (above - below) / (2 * step), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@given(margin=st.floats(-1e4, 1e4), target=st.sampled_from([-1.0, 1.0]))
def test_slope_equals_the_twin_however_large_the_margin(loss, margin, target):
    expected = reference.slope(loss, margin, target)
    assert_allclose(slope_of(LOSSES[loss], margin, target), expected, rtol=1e-12, atol=1e-300)


# --------------------------------------------------------------------------------- thresholds


@given(numbers, pulls)
def test_soft_threshold_pulls_towards_zero_and_never_past_it(weight, gravity):
    pulled = soft_threshold(weight, gravity)
    assert pulled * weight >= 0
    assert abs(pulled) <= abs(weight)
    assert (pulled == 0) == (abs(weight) <= gravity)


@given(numbers, pulls)
def test_soft_threshold_is_odd_and_equals_the_twin(weight, gravity):
    assert soft_threshold(-weight, gravity) == -soft_threshold(weight, gravity)
    assert_allclose(
        soft_threshold(weight, gravity), reference.soft_threshold(weight, gravity), rtol=1e-12
    )


@given(numbers)
def test_no_gravity_changes_nothing(weight):
    assert soft_threshold(weight, 0.0) == weight


@given(numbers, pulls, st.integers(1, 5))
def test_several_truncations_are_one_by_their_sum(weight, gravity, times):
    pulled = weight
    for _ in range(times):
        pulled = soft_threshold(pulled, gravity)
    assert_allclose(pulled, soft_threshold(weight, times * gravity), rtol=1e-9, atol=1e-6)


@given(numbers, pulls, pulls)
def test_a_weight_above_the_ceiling_is_not_shrunk(weight, gravity, ceiling):
    expected = weight if abs(weight) > ceiling else soft_threshold(weight, gravity)
    assert truncate_below(weight, gravity, ceiling) == expected


# ---------------------------------------------------------------------------------- quantiles


@given(st.lists(st.sampled_from([0.0, 1e-300, 0.5, 1.0, 3.25]) | st.floats(0, 1e9), min_size=1))
def test_kth_smallest_of_few_is_the_sorted_kth(values):
    values = np.array(values) + 0.0  # no negative zeros
    for k in range(1, values.size + 1):
        assert kth_smallest(values, k) == np.sort(values)[k - 1]


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(FEW - 2, 3 * FEW),
    digits=st.integers(0, 12),
    share_of_zeros=st.sampled_from([0.0, 0.3, 0.99, 1.0]),
    place=st.floats(0, 1),
)
def test_kth_smallest_of_many_is_the_sorted_kth(seed, size, digits, share_of_zeros, place):
    rng = np.random.default_rng(seed)
    values = np.round(rng.exponential(size=size), digits)  # few digits give many ties
    values[rng.random(size) < share_of_zeros] = 0.0
    k = 1 + int(place * (size - 1))
    assert kth_smallest(values, k) == np.sort(values)[k - 1]


@given(st.lists(st.floats(0, 10), max_size=30), st.floats(0, 1))
def test_gravity_is_the_inverted_cdf(ratios, rate):
    assert gravity_for(np.array(ratios) + 0.0, rate) == reference.quantile(ratios, rate)


# ----------------------------------------------------------------------------------- annealing

rates = st.floats(-50, 50)
shares = st.floats(0, 1)


@given(rates)
def test_annealing_runs_from_nothing_to_the_maximum(gamma):
    ends = [annealed_rejection_rate(share, 0.8, gamma) for share in (0.0, 1.0)]
    assert_allclose(ends, [0.0, 0.8], atol=1e-12)


@given(rates, shares, shares)
def test_annealing_never_rises_as_features_go(gamma, one, other):
    fewer, more = (annealed_rejection_rate(share, 0.8, gamma) for share in sorted([one, other]))
    assert fewer <= more + 1e-12


@given(rates, rates, shares)
def test_a_higher_annealing_rate_falls_faster(one, other, share):
    slow, fast = (annealed_rejection_rate(share, 0.8, gamma) for gamma in sorted([one, other]))
    assert fast <= slow + 1e-12


@given(shares, st.floats(1e-12, 1e-3), st.sampled_from([-1, 1]))
def test_annealing_is_continuous_at_rate_zero_where_it_is_linear(share, size, sign):
    assert annealed_rejection_rate(share, 0.8, 0.0) == pytest.approx(0.8 * share, abs=1e-15)
    assert abs(annealed_rejection_rate(share, 0.8, sign * size) - 0.8 * share) <= size


@given(rates.filter(lambda gamma: abs(gamma) > 1e-6 or gamma == 0), shares)
def test_annealing_equals_the_twin(gamma, share):
    expected = reference.anneal(share, 0.8, gamma)
    assert_allclose(annealed_rejection_rate(share, 0.8, gamma), expected, rtol=1e-6, atol=1e-9)


@given(st.integers(1, 1000), st.floats(0.01, 3), st.floats(0.001, 1), st.floats(0.001, 1))
def test_bursts_grow_as_features_go_and_are_never_empty(size, growth, one, other):
    fewer, more = (grown_burst_size(size, share, growth) for share in sorted([one, other]))
    assert fewer >= more >= 1


# ----------------------------------------------------------------------------------- selection


def test_only_stable_features_with_enough_evidence_are_judged():
    stable = np.array([True, True, False, True])
    judged, probability = judge(np.array([4, 2, 9, 3]), np.array([1, 2, 9, 3]), stable, 2)
    assert_array_equal(judged, [True, False, False, True])
    assert_array_equal(probability, [0.25, 1.0])


def test_ties_go_to_the_earlier_column_whatever_its_slot():
    scores = np.array([2.0, 1.0, 1.0, 1.0, 9.0])
    stable = np.array([True, True, True, True, False])
    columns = np.array([30, 20, 10, 15, 5])
    kept = strongest(scores, stable, columns.__getitem__, 3)
    assert_array_equal(kept, [True, False, True, True, False])


@given(st.lists(st.floats(0, 5), max_size=20), st.integers(0, 20))
def test_the_bar_leaves_fewer_than_n_above_it(saliency, n):
    above = np.sum(np.array(saliency) > bar_at(np.array(saliency) + 0.0, n))
    assert above < n or len(saliency) < n or n == 0


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.integers(1, 60))
def test_the_number_of_features_shrinks_to_the_wanted_one(start, end, n_stages):
    start, end = max(start, end), min(start, end)
    sizes = [shrinking_size(start, end, stage, n_stages) for stage in range(1, n_stages + 1)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == end


# -------------------------------------------------------------------------------------- chance


@given(st.integers(0, 2**31 - 1), st.integers(0, 10**9), st.integers(1, 12))
def test_a_bursts_weights_do_not_depend_on_who_asks_for_how_many(seed, first, n_paths):
    many = burst_weights(seed, first, 6, n_paths, 0.8)
    for number in range(6):
        one = burst_weights(seed, first + number, 1, n_paths, 0.8)
        assert_array_equal(one[0], many[number])


def test_a_path_takes_the_share_of_bursts_it_should_with_mean_weight_one():
    weights = burst_weights(1, 0, 4000, 5, 0.8)
    assert_array_equal(np.unique(weights), [0.0, 1.25])
    assert_allclose(weights.mean(axis=0), 1.0, atol=0.05)
    assert np.all(np.abs(np.corrcoef(weights.T) - np.eye(5)) < 0.08)  # each path on its own


def test_orders_are_permutations_and_differ_by_seed_path_and_pass():
    drawn = [permutation(*which, 30) for which in [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1)]]
    for order in drawn:
        assert_array_equal(np.sort(order), np.arange(30))
    assert len({order.tobytes() for order in drawn}) == len(drawn)
    assert_array_equal(drawn[0], permutation(1, 0, 0, 30))
