"""Random orders."""

import numpy as np

from thresher.jit import jit
from thresher.kernels.philox import DRAWS, draw

MOST = 1024  # numbers that are drawn at once, so that their draws stay in the cache


@jit
def shuffle(keys, order):
    """Write the numbers from 0 on in a random order: from the last on, each changes places.

    The other is among those up to it: the first draw that is none too large, of as few bits as will
    do. That is NumPy's way, but without branches, half of which would be guessed wrong. There can
    be no more numbers than 32 bits can tell apart.
    """
    n = order.size
    for k in range(n):
        order[k] = k
    draws = np.empty(DRAWS * min(MOST, n // DRAWS + 1), np.uint32)
    number, used = 1, draws.size
    last, bits = max(n - 1, 0), 1
    while bits < last:
        bits = 2 * bits + 1
    while last > 0:
        if used == draws.size:
            draw(keys, number, draws)
            number, used = number + draws.size // DRAWS, 0
        while last > bits // 2 and used < draws.size:
            other = np.int64(draws[used] & bits)
            used += 1
            fits = other <= last
            other = other if fits else last
            order[np.uint64(last)], order[np.uint64(other)] = order[other], order[last]
            last -= fits
        if last <= bits // 2:
            bits //= 2


@jit
def write_order(seed_keys, stream, number, order):
    """Write the order of rows in pass ``number`` of a stream; the seed's keys are of other 0."""
    keys = seed_keys.copy()
    keys[:, 1] += np.uint64((stream << 32) + number)
    shuffle(keys, order)
