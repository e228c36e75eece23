"""Entries of arrays moved up to where others have left."""

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
