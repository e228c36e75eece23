"""Stability measures: values computed by hand, slow twins, and the cases with no answer."""

import itertools
import math
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import cohen_kappa_score

from thresher.stability import (
    cohen_kappa,
    kappa_from_overlaps,
    mean_pairwise_kappa,
    nogueira_stability,
    stability_from_overlaps,
)


def random_masks(seed, runs=6, p=40, share=0.3):
    return np.random.default_rng(seed).random((runs, p)) < share


def nogueira_by_loops(masks):
    """The published formulas, one run and one feature at a time."""
    runs, p = masks.shape
    share = [sum(masks[:, j]) / runs for j in range(p)]
    size = sum(share)
    spread = size / p * (1 - size / p)
    within = sum(runs / (runs - 1) * s * (1 - s) for s in share) / p
    stability = 1 - within / spread
    influence = []
    for row in masks:
        k = sum(row)
        shared = sum(s for s, chosen in zip(share, row, strict=True) if chosen) / p
        shift = 2 * k * size / p**2 - k / p - size / p + 1
        influence.append((shared - k * size / p**2 + stability / 2 * shift) / spread)
    middle = sum(influence) / runs
    variance = 4 / runs**2 * sum((value - middle) ** 2 for value in influence)
    return stability, variance


def test_kappa_by_hand():
    # p11 = 1, p12 = 1, p21 = 0, p22 = 2: observed 3/4, expected 2/4 1/4 + 2/4 3/4 = 1/2.
    assert cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("a", "b", "kappa"),
    [
        ([1, 0, 1, 0], [1, 0, 1, 0], 1.0),
        ([1, 1, 0, 0], [0, 0, 1, 1], -1.0),
        ([1, 0, 0, 0], [0, 1, 0, 0], -1 / 3),
        ([0, 0, 0, 0], [1, 0, 0, 0], 0.0),
        ([1, 1, 1, 1], [1, 0, 0, 0], 0.0),
    ],
)
def test_kappa_limits(a, b, kappa):
    assert cohen_kappa(a, b) == pytest.approx(kappa)
    assert cohen_kappa(b, a) == pytest.approx(kappa)


@pytest.mark.parametrize("mask", [[0, 0, 0], [1, 1, 1]])
def test_chance_alone_has_no_answer(mask):
    assert math.isnan(cohen_kappa(mask, mask))
    assert math.isnan(mean_pairwise_kappa([mask] * 3))
    assert all(math.isnan(value) for value in nogueira_stability([mask] * 3))


@pytest.mark.parametrize("seed", range(5))
def test_mean_kappa_is_the_mean_over_pairs(seed):
    masks = random_masks(seed)
    pairs = [cohen_kappa_score(a, b) for a, b in itertools.combinations(masks, 2)]
    assert mean_pairwise_kappa(masks) == pytest.approx(np.mean(pairs))


def test_undefined_pairs_are_left_out():
    masks = np.zeros((3, 4), dtype=bool)
    masks[0, 0] = True
    # empty-empty has no kappa; the two pairs with one empty set have kappa 0.
    assert mean_pairwise_kappa(masks) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_nogueira_equals_its_formulas(seed):
    masks = random_masks(seed)
    stability, variance = nogueira_by_loops(masks)
    result = nogueira_stability(masks)
    assert result.stability == pytest.approx(stability)
    assert result.variance == pytest.approx(variance)
    assert result.high - result.stability == pytest.approx(1.959964 * math.sqrt(variance))
    assert result.stability - result.low == pytest.approx(1.959964 * math.sqrt(variance))


def test_nogueira_by_hand():
    # Shares 1, 1/2, 1/2, 0: mean variance 2/4 (2 * 1/4) = 1/4; mean size 2 of 4, spread 1/4.
    assert nogueira_stability([[1, 1, 0, 0], [1, 0, 1, 0]]).stability == pytest.approx(0.0)
    same = nogueira_stability([[1, 0, 0, 1]] * 4)
    assert same == pytest.approx((1.0, 1.0, 1.0, 0.0))


def test_a_wider_level_is_a_wider_interval():
    masks = random_masks(0)
    narrow, wide = nogueira_stability(masks, level=0.5), nogueira_stability(masks, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert nogueira_stability(np.eye(2), level=0.9).high <= 1


def test_one_feature_for_most_runs_and_none_for_one():
    result = nogueira_stability([[1, 0, 0], [1, 0, 0], [0, 0, 0]])
    assert result.stability == pytest.approx(1 - 1.5 * (2 / 9 / 3) / (2 / 9 * 7 / 9))


def test_sparse_and_dense_tables_agree():
    masks = random_masks(1)
    table = sparse.csr_matrix(masks)
    assert mean_pairwise_kappa(table) == pytest.approx(mean_pairwise_kappa(masks))
    assert nogueira_stability(table) == pytest.approx(nogueira_stability(masks))


@pytest.mark.parametrize("seed", range(5))
def test_overlaps_say_as_much_as_masks(seed):
    masks = random_masks(seed)
    sets = [set(np.flatnonzero(mask)) for mask in masks]
    overlaps = [[len(a & b) for b in sets] for a in sets]
    assert kappa_from_overlaps(overlaps, 40) == pytest.approx(mean_pairwise_kappa(masks))
    measured = stability_from_overlaps(overlaps, 40, level=0.9)
    assert measured == pytest.approx(nogueira_stability(masks, level=0.9))
    assert measured[::3] == pytest.approx(nogueira_by_loops(masks))


def test_weights_may_stand_for_masks():
    weights = np.where(random_masks(2), -0.5, 0.0)
    assert mean_pairwise_kappa(weights) == mean_pairwise_kappa(random_masks(2))


def test_fifty_runs_of_a_hundred_thousand_features_are_quick():
    masks = random_masks(3, runs=50, p=100_000, share=0.02)
    started = time.perf_counter()
    assert mean_pairwise_kappa(masks) == pytest.approx(0, abs=0.01)
    assert nogueira_stability(masks).stability == pytest.approx(0, abs=0.01)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("call", [mean_pairwise_kappa, nogueira_stability])
@pytest.mark.parametrize("masks", [[[1, 0]], [1, 0], np.zeros((2, 0))])
def test_too_little_to_compare(call, masks):
    with pytest.raises(ValueError, match="two rows or more"):
        call(masks)


def test_bad_arguments():
    with pytest.raises(ValueError, match="same features"):
        cohen_kappa([1, 0], [1, 0, 0])
    with pytest.raises(ValueError, match="level"):
        nogueira_stability([[1, 0], [0, 1]], level=1.5)
    for overlaps in ([[3]], [3, 1], [[3, 1]]):
        with pytest.raises(ValueError, match="square table with two rows or more"):
            kappa_from_overlaps(overlaps, 9)
        with pytest.raises(ValueError, match="square table with two rows or more"):
            stability_from_overlaps(overlaps, 9)
