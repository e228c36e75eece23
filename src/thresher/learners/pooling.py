"""How much the paths of the paper's learner may have to pool in a stage."""

import numpy as np

from thresher.kernels.annealing import grown_burst_size
from thresher.kernels.rows import Rows
from thresher.kernels.stages import Rules
from thresher.learners.counting_unit import CountingUnit
from thresher.learners.paths import Paths

STEPS = 64  # at which burst sizes are looked at, while features become fewer


def most_pooled(
    paths: Paths, units: list[CountingUnit], rows: Rows, rules: Rules, n_updates: int
) -> int:
    """Return how many entries no pool will ever have more of, within so many updates.

    A burst touches a feature once, and a row touches as many features as it has nonzeros. What of
    this room is never written takes no memory.
    """
    n_slots = paths.n_slots
    # what a burst that is open has touched so far is pooled at its end
    length = max(int(unit.pool.length[0] + unit.burst.length[0]) for unit in units)
    longest = np.cumsum(np.sort(np.diff(rows.starts))[::-1])
    sizes = [(n_slots, paths.stage.burst_size), *_burst_sizes(n_slots, rules)]
    return (
        length + max(_entries(n, size, longest, rules.bursts, n_updates) for n, size in sizes) + 1
    )


def _entries(n: int, size: int, longest: np.ndarray, bursts: int, n_updates: int) -> int:
    """Return how many entries a stage's bursts of a size have at most, of so many features."""
    ends = min(bursts, n_updates // size + 1)  # one burst may have begun before
    return min(ends * n, _nonzeros(longest, min(bursts * size, n_updates)))


def _burst_sizes(n_slots: int, rules: Rules) -> list[tuple[int, int]]:
    """Return pairs: with so many features or fewer, down to the pair before, no burst is longer."""
    if rules.growth == 0.0 or n_slots == 0:
        return [(n_slots, rules.burst_size)]
    numbers = np.unique(np.geomspace(1, n_slots, STEPS).astype(np.int64)).tolist()
    shares = [number / rules.n_columns for number in numbers]
    sizes = [grown_burst_size(rules.burst_size, share, rules.growth) for share in shares]
    return list(zip([*numbers[1:], n_slots], sizes, strict=True))


def _nonzeros(longest: np.ndarray, n_updates: int) -> int:
    """Return how many nonzeros so many updates have at most.

    ``longest`` are the nonzeros of the longest row, the two longest, and so on. A row comes once in
    every pass, and the updates may begin and end amid passes.
    """
    n_passes = n_updates // longest.size + 2
    return n_passes * int(longest[min(-(-n_updates // n_passes), longest.size) - 1])
