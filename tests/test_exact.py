"""Exact sums: one result for any order and any parts, as precise as the best of floats."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher.exact import ExactSums

RNG = np.random.default_rng(0)
NUMBERS = RNG.integers(0, 7, 600)
TERMS = {
    "usual": RNG.normal(size=600),
    "of all sizes": RNG.normal(size=600) * 10.0 ** RNG.integers(-250, 250, 600),
    "whole": RNG.integers(-3, 4, 600).astype(float),
    "cancelling": np.repeat(RNG.normal(size=300), 2) * np.tile([1.0, -1.0], 300),
    "too large": np.full(600, 1.7e308),
    "tiny": RNG.normal(size=600) * 1e-280,
}
case = pytest.mark.parametrize("terms", TERMS.values(), ids=TERMS.keys())


@case
@pytest.mark.parametrize("n_parts", [1, 2, 90])
def test_order_and_parts_change_no_bit(terms, n_parts):
    whole, added = ExactSums.of(NUMBERS, terms, 7), ExactSums.none(7)
    for part in np.array_split(RNG.permutation(600), n_parts):
        numbers, places = np.unique(NUMBERS[part], return_inverse=True)
        added.add(numbers, ExactSums.of(places, terms[part], numbers.size))
    for mine, its in zip(added, whole, strict=True):
        assert_array_equal(mine, its)
    assert added.totals().tobytes() == whole.totals().tobytes()


@case
def test_totals_are_those_of_fractions(terms):
    totals = ExactSums.of(NUMBERS, terms, 7).totals()
    for number, total in enumerate(totals):
        mine = terms[number == NUMBERS]
        expected = math.fsum(mine) if abs(mine).max() < 1e308 else math.inf
        assert total == pytest.approx(expected, rel=1e-15, abs=600 * (abs(mine).max() * 2.0**-64))


def test_what_is_not_finite_makes_its_sum_infinite():
    terms = np.array([1.0, np.inf, 2.0, np.nan, 3.0])
    totals = ExactSums.of([0, 1, 1, 2, 0], terms, 4).totals()
    assert_array_equal(totals, [4.0, math.inf, math.inf, 0.0])
