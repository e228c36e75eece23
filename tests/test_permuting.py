"""Random orders: the bits of NumPy's Philox, and what an obvious shuffle makes of them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher.kernels.permuting import MOST
from thresher.kernels.philox import DRAWS, draw, round_keys
from thresher.randomness import permutation

LOW = 2**32 - 1
KEYS = [(0, 0), (1, 2), (2**31, 7 << 32), (2**64 - 1, 2**64 - 1)]
LENGTHS = [0, 1, 2, 3, 7, 8, 9, 16, 17, 100]


def drawn_by_numpy(key, n):
    """Return the first n draws of 32 bits; that these never change is NumPy's promise."""
    words = np.random.Philox(key=np.array(key, np.uint64)).random_raw(-(-n // 2))
    return np.stack([words & np.uint64(2**32 - 1), words >> np.uint64(32)], axis=1).ravel()[:n]


def obvious_order(key, n):
    """Return the numbers below n after the shuffle of Fisher and Yates, draws thrown away."""
    draws = iter(drawn_by_numpy(key, 8 * n + 64).tolist())
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        bits = (1 << last.bit_length()) - 1
        other = next(draw & bits for draw in draws if draw & bits <= last)
        order[last], order[other] = order[other], order[last]
    return order


@pytest.mark.parametrize("key", KEYS)
def test_draws_are_those_of_numpys_philox(key):
    draws = np.empty(5 * DRAWS, np.uint32)
    draw(round_keys(*key), 1, draws)
    assert_array_equal(draws, drawn_by_numpy(key, draws.size))
    later = np.empty(2 * DRAWS, np.uint32)
    draw(round_keys(*key), 4, later)
    assert_array_equal(later, draws[3 * DRAWS :])


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("n", LENGTHS)
def test_an_order_is_that_of_an_obvious_shuffle(key, n):
    assert_array_equal(permutation(key[0], key[1] >> 32, key[1] & LOW, n), obvious_order(key, n))


def test_an_order_that_needs_more_draws_than_are_made_at_once_is_the_same():
    n = DRAWS * MOST + 5
    assert_array_equal(permutation(3, 1, 2, n), obvious_order((3, (1 << 32) + 2), n))
