"""What threads have summed up of a stage says the same as the paths themselves."""

import numpy as np
import pytest

from thresher.kernels.stage_sums import count_nonzero, new_sums, sum_up
from thresher.kernels.units import EVERY, Tally

# A row per path, a column per slot; the tenths sum up to what is nearly zero, and is not.
WEIGHTS = np.array(
    [
        [1.0, 1.0, 0.1, 0.0, 0.0, 1e-320, 1e300],
        [2.0, -0.5, 0.2, 0.0, -3.0, 0.0, 1e300],
        [3.0, -0.5, -0.3, 0.0, 0.0, 0.0, -1e300],
    ]
)


def tallies(n_paths, n_slots):
    evidence, selected = np.zeros((2, n_paths, n_slots), np.int64)
    return Tally(
        evidence,
        selected,
        np.zeros((n_paths, 1), np.uint32),
        np.zeros((n_paths, 1)),
        np.zeros((n_paths, 1), np.int64),
    )


@pytest.mark.parametrize("threads", [[0, 0, 0], [0, 1, 1], [2, 0, 1]])
def test_means_that_are_not_zero_are_counted_whoever_led_the_paths(threads):
    n_paths, n_slots = WEIGHTS.shape
    counts, sums = tallies(n_paths, n_slots), new_sums(3, n_slots, 1)
    stable = np.ones(n_slots, np.bool_)
    for stage in range(2):  # the second begins with nothing of the first
        for path, thread in enumerate(threads):
            sum_up(EVERY, 5, 0.0, thread, path, n_slots, WEIGHTS, counts, sums)
        expected = np.array([sum(column) / n_paths != 0 for column in WEIGHTS.T])
        assert expected.tolist() == [True, False, True, False, True, True, True]
        stable[0] = stage == 0
        assert count_nonzero(stable, WEIGHTS, sums) == np.sum(expected & stable)
