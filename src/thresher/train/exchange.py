"""Features that were let go come back in place of weaker ones, where the rows insist on it.

Features go by their weights beside many others. Among a few that are left, one that went may say
more than one that stayed: what it said was said by others then. So all are asked again. What a
feature says is how much it would lower the loss, or how much its loss would cost, both to second
order. As one of thousands seems to say something by chance alone, it comes back only where that is
more than chance gives the best of so many.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.kernels.evidence import BEND, LEVEL, PULL
from thresher.train.bends import dispersion
from thresher.train.settling import Lesson, Settled, settle

MOST_FEATURES = 100  # of more, none has come back on any data that was tried
MOST_SWAPS = 20


class Swap(NamedTuple):
    """The slot that comes, the place of the one that goes, and what that seems to be worth."""

    comes: int
    goes: int
    gain: float


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # such numbers change nothing
def exchanged(
    given: GivenRows,
    lesson: Lesson,
    slots: np.ndarray,
    open_to: np.ndarray,
    check: Callable[[], None],
) -> np.ndarray:
    """Return the slots that stay, ascending: as many, all of them ``open_to`` a mask of slots.

    ``check`` is called before every look at the rows.
    """
    # twice the logarithm is about the largest of so many squares of standard normal numbers
    chance = 2.0 * math.log(max(int(np.count_nonzero(open_to)), 2))
    here = settle(lesson, given.with_slots(slots), np.zeros(slots.size + 1))
    for _ in range(MOST_SWAPS):
        check()
        unit = dispersion(lesson.loss, here.bends, lesson.importance, here.weights.size)
        swap = best_swap(given, lesson, slots, open_to, here)
        if not swap.gain > chance * unit:  # nor if numbers overflow
            break
        others, weights = np.delete(slots, swap.goes), np.delete(here.weights, swap.goes)
        place = int(np.searchsorted(others, swap.comes))
        after = np.insert(others, place, swap.comes)
        there = settle(lesson, given.with_slots(after), np.insert(weights, place, 0.0))
        if not 2 * (here.cost - there.cost) > chance * unit:
            break
        slots, here = after, there
    return slots


def best_swap(
    given: GivenRows, lesson: Lesson, slots: np.ndarray, open_to: np.ndarray, here: Settled
) -> Swap:
    """Return the feature that says most of those outside, for the one that says least inside."""
    bends = lesson.importance * here.bends.curvatures
    found = given.evidence(lesson.importance * here.bends.slopes, bends)
    curvatures = found[:, BEND] + lesson.penalty
    total = float(np.sum(bends))
    if lesson.intercept and total > 0:  # it takes over what a feature says of all rows alike
        curvatures -= np.minimum(found[:, LEVEL] ** 2 / total, found[:, BEND])
    said = found[:, PULL] ** 2 / curvatures
    said[~open_to] = 0.0
    said[slots] = 0.0
    missed = here.weights[:-1] ** 2 * curvatures[slots]
    comes, goes = int(np.argmax(said)), int(np.argmin(missed))
    return Swap(comes, goes, float(said[comes] - missed[goes]))
