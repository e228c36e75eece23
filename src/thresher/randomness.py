"""Chance that can be asked for by number.

Every draw is a function of the seed and of what it is for, never of how many draws came before: the
same bits for any number of threads, any chunks, and after a pause, with no generator to be saved.
"""

import numpy as np

from thresher.kernels.chance import draw_weights, mixed
from thresher.kernels.permuting import write_order
from thresher.kernels.philox import round_keys


def permutation(seed: int, stream: int, number: int, n: int) -> np.ndarray:
    """Return a random order of n rows for pass ``number`` of a stream (a path, or 0 for all)."""
    order = np.empty(n, np.int64)
    write_permutation(seed, stream, number, order)
    return order


def write_permutation(seed: int, stream: int, number: int, order: np.ndarray) -> None:
    """Write such an order."""
    write_order(round_keys(seed, 0), stream, number, order)


def burst_weights(seed: int, first: int, n_bursts: int, n_paths: int, keep: float) -> np.ndarray:
    """Return the weights of the bursts from number ``first`` on, one row each, a column per path.

    A path takes part in a burst with probability ``keep``, and then with weight 1/keep.
    """
    cells = np.arange(first * n_paths, (first + n_bursts) * n_paths, dtype=np.uint64)
    weights = draw_weights(np.array([seed], np.uint64), cells, keep)
    return weights.reshape(n_bursts, n_paths)


def earlier(seed: int, rows: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return, for each row's draw of a number, the row itself or one before it."""
    cells = (rows.astype(np.uint64) << np.uint64(32)) + numbers.astype(np.uint64)
    shares = (mixed(mixed(cells) + np.uint64(seed)) >> np.uint64(11)) * 2.0**-53
    return (shares * (rows + 1)).astype(np.int64)
