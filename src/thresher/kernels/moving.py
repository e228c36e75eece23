"""Entries of arrays moved up to where others have left, and back to where they came from."""

import numpy as np

from thresher.jit import jit


@jit
def move_up(words, width, places):
    """Move the entries at the given places, in ascending order, to the front."""
    n, size = np.uint64(0), np.uint64(width)
    for k in range(places.size):
        first = np.uint64(places[k]) * size
        for b in range(size):
            words[n + b] = words[first + b]
        n += size


@jit
def spread_out(words, width, places):
    """Move the first entries to the given places, in ascending order, with zeros between them."""
    k, size = places.size - 1, np.uint64(width)
    for i in range(words.size // width - 1, -1, -1):
        first = np.uint64(i) * size
        if k >= 0 and places[k] == i:
            mine = np.uint64(k) * size
            for b in range(size):
                words[first + b] = words[mine + b]
            k -= 1
        else:
            for b in range(size):
                words[first + b] = 0
