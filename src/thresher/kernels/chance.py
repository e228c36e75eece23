"""Numbers that look random, each a function of its own number."""

import numpy as np

from thresher.jit import jit


@jit
def mixed(keys):
    """Scatter numbers over all 64 bits (the finalizer of SplitMix64; arrays wrap silently)."""
    keys = keys * np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


@jit
def draw_weights(seed, cells, keep):
    """Return 1 / keep for the share ``keep`` of cells, 0 for the others; ``seed`` has one entry."""
    shares = mixed(cells + mixed(seed)) / 2.0**64
    return np.where(shares < keep, 1.0 / keep, 0.0)
