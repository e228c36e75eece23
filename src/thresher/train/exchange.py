"""Features that were let go come back in place of weaker ones, where the rows insist on it.

Features go by their weights beside many others. Among a few that are left, one that went may say
more than one that stayed: what it said was said by others then. So all are asked again by how much
they would lower the loss, to second order. The one that says most joins the others, and the one
that says least beside it goes. As one of thousands seems to say something by chance alone, that
stays so only if the loss falls by more than chance gives the best of so many.

Where only few features have anything to say, those that stayed by chance have no better claim than
those that went by chance: whatever lowers the loss stays.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from thresher.data.given_rows import GivenRows, without
from thresher.kernels.evidence import BEND, LEVEL, PULL
from thresher.kernels.rows import Rows
from thresher.train.settling import Lesson, Look, Table, narrowed

MOST_FEATURES = 100  # of more, none has come back on any data that was tried
MOST_WEIGHED = 300  # features that are weighed against each other: the more, the longer it takes
MOST_SWAPS = 20
HARDLY = 0.2  # of twice the loss, which is not known any better


class Terms(NamedTuple):
    """By how much twice the loss must fall if features are to be exchanged, and how often it may.

    It is told in units of what the loss would fall by chance.
    """

    enough: float
    most: int


def insisting(n_features: int) -> Terms:
    """Return the terms of rows that must insist on one of so many features."""
    # twice the logarithm is about the largest of so many squares of standard normal numbers
    return Terms(2.0 * math.log(max(n_features, 2)), MOST_SWAPS)


def freely(n_kept: int) -> Terms:
    """Return the terms on which all of so many features may be others in the end."""
    return Terms(HARDLY, MOST_SWAPS + 2 * n_kept)


class Exchanged(NamedTuple):
    """The slots that stay, ascending; their best weights; and what every other slot would say."""

    slots: np.ndarray
    here: Look
    said: np.ndarray


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # such numbers change nothing
def exchanged(
    given: GivenRows,
    lesson: Lesson,
    slots: np.ndarray,
    start: np.ndarray,
    open_to: np.ndarray,
    terms: Terms,
    check: Callable[[], None],
) -> Exchanged:
    """Return what comes of an exchange: as many slots, all of them ``open_to`` a mask of slots.

    ``start`` are weights of the slots to begin with, the intercept last; ``check`` is called before
    every look at the rows.
    """
    rows = given.with_slots(slots)
    lesson = narrowed(lesson, rows)
    inside = _Inside(slots, rows, Table(lesson.of_slots(slots), rows).settled(start))
    said = said_by_others(given, lesson, slots, open_to, inside.here)
    for _ in range(terms.most):
        check()
        enough = terms.enough * lesson.dispersion(inside.here.bends, slots.size + 1)
        swap = _swapped(given, lesson, inside, said, enough)
        if swap is None:
            break
        inside = swap
        said = said_by_others(given, lesson, inside.slots, open_to, inside.here)
    return Exchanged(inside.slots, inside.here, said)


class _Inside(NamedTuple):
    """Some slots, ascending; rows that have these only; and their best weights."""

    slots: np.ndarray
    rows: Rows
    here: Look


def _swapped(
    given: GivenRows, lesson: Lesson, inside: _Inside, said: np.ndarray, enough: float
) -> _Inside | None:
    """Return what is inside with the loudest other slot; None if it is not worth it."""
    slots, rows, here = inside
    comes = int(np.argmax(said))
    if not said[comes] > enough:  # nor if numbers overflow
        return None
    place = int(np.searchsorted(slots, comes))
    more, wider = np.insert(slots, place, comes), given.with_another(rows, comes, place)
    table = Table(lesson.of_slots(more), wider)
    both = table.settled(np.insert(here.weights, place, 0.0))
    goes = int(np.argmin(said_inside(table, both)))
    if goes == place:
        return None
    after, rows = np.delete(more, goes), without(wider, goes)
    there = Table(lesson.of_slots(after), rows).settled(np.delete(both.weights, goes))
    return _Inside(after, rows, there) if 2 * (here.cost - there.cost) > enough else None


def said_inside(table: Table, here: Look) -> np.ndarray:
    """Return by how much the loss would rise, twice, without each of the features of a table."""
    return here.weights[:-1] ** 2 * table.curvatures(here)


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
