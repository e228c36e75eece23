"""The likeliest weights of classes, where many rows insist on them.

Steps that whole rows bear are short for a few of their features: where those tell classes well
apart, the refit is still on its way when it ends. That it has not come to the end does good where
rows are few, for it keeps weights small. Many rows say themselves how small they should be: the
penalty is the one under which the rows are likeliest (MacKay 1992), with weights that are taken
for independent. They insist if twice the loss falls by more than as many weights would take away
by chance; the fewer they are the more, since they think too well of features chosen from them.
Of features that were weighed against each other they think better still.

Where many rows leave most of what they should tell unexplained (clicks, opinions, wrong labels),
the refit has come too far instead: much of what so many weights explain is chance. There the
likeliest are taken whatever the loss, with the same caution.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from thresher.kernels.rows import Rows
from thresher.train.settling import Lesson, Look, Table

MANY_ROWS = 2000  # of which half as many must insist four times as much
CAUTION = 3.0  # times the penalty, of features that were chosen for what was likely, or chance
# Rows are noisy if no more than this share is explained of what they lose without any feature, and
# chance alone would have explained this share of that. Where nearly all seems explained, or a class
# has fewer than half as many rows as there are features, nobody can tell. Columns that have values
# in most rows have too much in common to be taken for independent.
EXPLAINED, BY_CHANCE, NEARLY_ALL, ROWS_PER_FEATURE, FILLED = 0.5, 0.03, 0.8, 0.5, 0.5
# How often the penalty follows the weights, and these the penalty; what is near, in logarithms.
PENALTY_ROUNDS, ROUNDS, CLOSE = 10, 5, 0.1
# If a look finds so little of what rows would insist on, nobody looks twice. The first asks by how
# much the loss would fall if features had nothing in common.
HARDLY = 0.5


class Likeliest(NamedTuple):
    """Weights, the intercept last, and whether they are held back by what they could not know."""

    weights: np.ndarray
    held_back: bool


def by_chance(lesson: Lesson, known: float) -> float:
    """Return by how much twice the loss must fall for so many weights that the rows know."""
    return known * max(MANY_ROWS / lesson.targets.size, 1.0) ** 2


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # such weights are not returned
def insisted_on(
    lesson: Lesson,
    rows: Rows,
    start: np.ndarray,
    check: Callable[[], None],
    weighed: bool = False,
) -> Likeliest | None:
    """Return the weights that rows insist on; None if they do not.

    The lesson is one of chances. ``start`` are the weights that the refit has come to; ``check`` is
    called before every longer look. Of features that were ``weighed`` against each other the
    penalty of what is returned is larger, and of noisy rows.
    """
    if not start[:-1].any():
        return None
    free = Table(replace(lesson, penalty=0.0), rows)
    begun = here = free.at(start)
    penalty, known = likely_penalty(free, begun)
    noisy = are_noisy(lesson, rows, begun, known)
    would_fall = np.sum(begun.slopes[:-1] ** 2 / (free.curvatures(begun) + penalty))
    if not noisy and would_fall < HARDLY * by_chance(lesson, known):
        return None
    for _ in range(ROUNDS):
        check()
        here = Table(replace(lesson, penalty=penalty), rows).settled(here.weights)
        fallen = begun.cost - (here.cost - penalty * squared(here) / 2)
        before, (penalty, known) = penalty, likely_penalty(free, here)
        enough = by_chance(lesson, known)
        if not (noisy or 2 * fallen > HARDLY * enough):  # nor if numbers overflow
            return None
        if abs(np.log(penalty / before)) < CLOSE:
            break
    held_back = noisy or weighed
    if held_back:
        here = Table(replace(lesson, penalty=CAUTION * penalty), rows).settled(here.weights)
    insist = noisy or 2 * fallen > enough
    if not (insist and np.isfinite(here.weights).all()):
        return None
    return Likeliest(here.weights, held_back)


def are_noisy(lesson: Lesson, rows: Rows, here: Look, known: float) -> bool:
    """Return whether many rows leave most unexplained by weights, of which they know so many.

    Twice the loss of these rows falls by one for each weight that says nothing, and that of others
    rises by as much (Akaike 1974).
    """
    n_rows, n_weights = lesson.targets.size, here.weights.size - 1
    positive = np.count_nonzero(lesson.targets > 0)
    enough = min(positive, n_rows - positive) >= ROWS_PER_FEATURE * n_weights
    filled = rows.values.size > FILLED * n_rows * n_weights
    if n_rows < MANY_ROWS or filled or not enough:
        return False
    nothing = lost_by_nothing(lesson)
    explained = nothing - here.cost
    unexplained = explained < NEARLY_ALL * nothing and explained - known < EXPLAINED * nothing
    return bool(unexplained and known > BY_CHANCE * 2 * explained)


def lost_by_nothing(lesson: Lesson) -> float:
    """Return the loss without any feature: of the intercept alone, if there is one."""
    count = float(np.sum(lesson.importance))
    share = float(np.sum(lesson.importance[lesson.targets > 0])) / count
    if not lesson.intercept:
        return count * math.log(2.0)
    return count * -sum(part * math.log(part) for part in (share, 1 - share) if part > 0)


def likely_penalty(free: Table, here: Look) -> tuple[float, float]:
    """Return the penalty under which rows are likeliest, seen from some weights.

    And how many of the weights the rows know, rather than the penalty: it is as many, over the sum
    of the weights' squares. The ``free`` table has no penalty.
    """
    curvatures, squares = free.curvatures(here), squared(here)
    known = float(curvatures.size)
    for _ in range(PENALTY_ROUNDS):
        known = float(np.sum(curvatures / (curvatures + known / squares)))
    return known / squares, known


def squared(here: Look) -> float:
    """Return the sum of the weights' squares."""
    return float(np.sum(here.weights[:-1] ** 2))
