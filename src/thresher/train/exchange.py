"""Features that were let go come back in place of weaker ones, where the rows insist on it.

Features go by their weights beside many others. Among a few that are left, one that went may say
more than one that stayed: what it said was said by others then. So all are asked again by how much
they would lower the loss, to second order. The one that says most joins the others, and the one
that says least beside it goes. As one of thousands seems to say something by chance alone, that
stays so only if the loss falls by more than chance gives the best of so many.
"""

import math
from collections.abc import Callable

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.kernels.evidence import BEND, LEVEL, PULL
from thresher.train.settling import Lesson, Look, Table, narrowed

MOST_FEATURES = 100  # of more, none has come back on any data that was tried
MOST_SWAPS = 20


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # such numbers change nothing
def exchanged(
    given: GivenRows,
    lesson: Lesson,
    slots: np.ndarray,
    start: np.ndarray,
    open_to: np.ndarray,
    check: Callable[[], None],
) -> np.ndarray:
    """Return the slots that stay, ascending: as many, all of them ``open_to`` a mask of slots.

    ``start`` are weights of the slots to begin with, the intercept last; ``check`` is called before
    every look at the rows.
    """
    # twice the logarithm is about the largest of so many squares of standard normal numbers
    chance = 2.0 * math.log(max(int(np.count_nonzero(open_to)), 2))

    rows = given.with_slots(slots)
    lesson = narrowed(lesson, rows)

    def table_of(slots: np.ndarray) -> Table:
        return Table(lesson, given.with_slots(slots))

    here = Table(lesson, rows).settled(start)
    for _ in range(MOST_SWAPS):
        check()
        enough = chance * lesson.dispersion(here.bends, slots.size + 1)
        said = said_by_others(given, lesson, slots, open_to, here)
        comes = int(np.argmax(said))
        if not said[comes] > enough:  # nor if numbers overflow
            break
        place = int(np.searchsorted(slots, comes))
        more = np.insert(slots, place, comes)
        table = table_of(more)
        both = table.settled(np.insert(here.weights, place, 0.0))
        goes = int(np.argmin(both.weights[:-1] ** 2 * table.curvatures(both)))
        after = np.delete(more, goes)
        there = table_of(after).settled(np.delete(both.weights, goes))
        if goes == place or not 2 * (here.cost - there.cost) > enough:
            break
        slots, here = after, there
    return slots


def said_by_others(
    given: GivenRows, lesson: Lesson, slots: np.ndarray, open_to: np.ndarray, here: Look
) -> np.ndarray:
    """Return by how much every slot would lower the loss, twice; 0 of those inside."""
    bends = lesson.importance * here.bends.curvatures
    found = given.evidence(lesson.importance * here.bends.slopes, bends)
    curvatures = lesson.curvatures(found[:, BEND], found[:, LEVEL], float(np.sum(bends)))
    said = found[:, PULL] ** 2 / curvatures
    said[~open_to] = 0.0
    said[slots] = 0.0
    return said
