"""What kernels know of paths: a bundle of them, its tallies, and the rules of a burst.

A unit is a bundle of paths that read the same rows in the same order: one path, when every path has
its own permutation, or a handful side by side on a shared stream. Their weights lie next to each
other, ``weights[slot, lane]``, so that a row is read once for all of them. Of a path that is alone,
arrays have no axis of lanes; of many such paths, a first axis of paths.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit

LINEAR, SQRT = range(2)
INFORMATIVE, EVERY = range(2)


class Unit(NamedTuple):
    """The weights of a bundle of paths, and the burst they are in.

    Slots touched in the burst stand in ``touched[: cursor[0]]``, their weights before it at the
    same place in ``before``.
    """

    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    touches: NDArray[np.int32]
    touched: NDArray[np.uint32]
    before: NDArray[np.float64]
    cursor: NDArray[np.int64]


class Tally(NamedTuple):
    """What a stage learns about each slot on one unit.

    ``evidence`` counts bursts that touched the slot, ``selected`` ends of bursts at which it was
    selected. ``ratios`` pools ``|dw| / dose`` per touched slot (in ``owners``) and lane, NaN where
    the lane let the burst pass.
    """

    evidence: NDArray[np.int64]
    selected: NDArray[np.int64]
    owners: NDArray[np.uint32]
    ratios: NDArray[np.float64]
    pooled: NDArray[np.int64]


class Burst(NamedTuple):
    """How long bursts are, how they shrink weights, and what counts as being selected."""

    loss: int
    size: int
    gravity: float
    shrinkage: int
    event: int


@jit
def dose_of(shrinkage, touches):
    """Return how much gravity a feature touched so often receives: k, or its square root."""
    return float(touches) if shrinkage == LINEAR else math.sqrt(touches)
