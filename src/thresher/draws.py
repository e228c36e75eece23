"""Random numbers by number: every draw is a function of the seed and of what it is for.

It never depends on how many draws came before. So the bits are the same for any number of threads,
any chunks, and after a pause, and no generator has to be saved.
"""

import numpy as np

from thresher.jit import jit

AT_ONCE = 1024  # numbers drawn together, so that they stay in the cache


@jit
def mixed(keys):
    """Scatter numbers over all 64 bits (the finalizer of SplitMix64; arrays wrap silently)."""
    keys = keys * np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


@jit
def permutation(seed, stream, number, n):
    """Return a random order of n rows for pass ``number`` of a stream (a path, or 0 for all).

    From the last on, each changes places; the other place is a share of those left, whose bias is
    below n / 2^53.
    """
    key, order = mixed(np.array([seed]).astype(np.uint64)), np.arange(n)
    key = mixed(mixed(key + np.uint64(stream)) + np.uint64(number))
    last = n - 1
    while last > 0:
        count = min(AT_ONCE, last)
        cells = np.arange(last - count + 1, last + 1).astype(np.uint64)
        shares = (mixed(cells + key) >> np.uint64(11)) * 2.0**-53
        for k in range(count - 1, -1, -1):
            other = np.int64(shares[k] * (last + 1))
            order[last], order[other] = order[other], order[last]
            last -= 1
    return order


@jit
def uniforms(seed, cells):
    """Return a number in [0, 1) for each of the numbered cells."""
    keys = mixed(cells.astype(np.uint64) + mixed(np.array([seed]).astype(np.uint64)))
    return (keys >> np.uint64(11)) * 2.0**-53


@jit
def burst_weights(seed, first, n_bursts, n_paths, keep):
    """Return the weights of the bursts from number ``first`` on, a row per path.

    A path takes part in a burst with probability ``keep``, and then with weight 1/keep.
    """
    cells = np.arange(first * n_paths, (first + n_bursts) * n_paths)
    weights = np.where(uniforms(seed, cells) < keep, 1.0 / keep, 0.0)
    return np.ascontiguousarray(weights.reshape(n_bursts, n_paths).T)
