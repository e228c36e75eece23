"""What the kernels of the flagship know: a bundle of paths, the rules of bursts, who takes part."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RATE, FRESH = range(2)  # columns of ``pace``, and the first of the constant input's facts
PUSH, SQUARES = 2, 3


class Bundle(NamedTuple):
    """The weights of paths that read the same rows, and what is known of every slot.

    ``pace[slot]`` holds how long its steps are relative to others' (0 once it is purged) and the
    squared gradients of the burst under way, above 0 once that has touched it; ``squares`` those
    before it. ``push`` are the sums of gradients, and empty if nobody asks for them; ``bias_facts``
    is all of this of the constant input. ``ratios[: pooled[0]]`` are |sum of gradients| / sqrt(sum
    of squares) of the stage's last burst, of the slots in ``owners``; ``total`` sums of weights.
    ``behind`` is by how much paths with long steps erred more than those with short ones.

    Where some paths do not select but fit, lines are parted: ``weights`` are halves of lines, those
    of the paths that select. The paths that fit have weights at a few slots only, in the half line
    of ``fits`` whose number ``places`` says, or rather minus it if they no longer learn that slot;
    the first half line is that of all other slots, and 0.
    """

    weights: NDArray[np.floating]
    pace: NDArray[np.floating]
    squares: NDArray[np.floating]
    push: NDArray[np.floating]
    places: NDArray[np.int32]
    fits: NDArray[np.floating]
    bias: NDArray[np.floating]
    bias_facts: NDArray[np.floating]
    total: NDArray[np.float64]
    bias_total: NDArray[np.float64]
    behind: NDArray[np.float64]
    owners: NDArray[np.uint32]
    ratios: NDArray[np.float64]
    pooled: NDArray[np.int64]


class Rules(NamedTuple):
    """How long bursts are, and what is done at their ends.

    Weights are summed where it ``averages``. ``first`` is the number, in the stage of ``bursts``
    bursts, of the one under way. Steps have halved where the root of the sum of squared gradients
    is ``halving``. ``asks`` says that a stage's last burst is asked how far gradients went one way;
    ``parted`` that some paths fit while others select.
    """

    loss: int
    size: int
    gravity: float
    halving: float
    averages: bool
    first: int
    bursts: int
    asks: bool
    parted: bool


class Shares(NamedTuple):
    """Who takes part in each burst, a row for each, and in what.

    ``takes`` are the paths' weights, 0 where one lets the burst pass; ``parts`` is 1 where it takes
    part, else 0, and ``active`` counts those. ``steps`` has a row with the length of each path's
    steps relative to others', one in which those of paths that fit are 0, and one with what each
    path's errors count in the comparison of long steps with short ones. Paths that fit are the
    last, from ``fitting`` on.
    """

    takes: NDArray[np.floating]
    parts: NDArray[np.floating]
    active: NDArray[np.int64]
    steps: NDArray[np.floating]
    fitting: int
