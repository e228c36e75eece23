"""The best weights of few features, to the end: what judges features must not be on its way."""

import math
from dataclasses import dataclass, replace

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.bends import Bends, add_curvatures
from thresher.kernels.descent import Goal, Place, look_from, step_down, trail_for
from thresher.kernels.losses import HUBER, SQUARED_ERROR
from thresher.kernels.rows import Rows, squared_norms
from thresher.learners.thresher import Thresher

NUMBERS = (SQUARED_ERROR, HUBER)
RIDGE = 0.1  # the penalty, in mean squared norms of the rows
# ... of numbers, once it is known what share of their spread is noise. Rows from which features
# were chosen show half of it: others were not chosen for the noise they fit.
NOISE_RIDGE, LEAST_NOISE = 2.0, 1e-9
STEPS = 200  # at most
# What a last step may still save: of chances a cost, of numbers, whose spread may be tiny, a share;
# nothing of weights that stay.
CLOSE, CLOSE_SHARE, EXACTLY = 0.01, 1e-7, 1e-15


@dataclass(frozen=True)
class Lesson:
    """What is learnt: a loss of rows with targets, each as important as a row, and a penalty.

    The ``penalty`` is what half the square of a weight costs: of all alike, or by slot.
    """

    loss: int
    targets: np.ndarray
    importance: np.ndarray
    penalty: float | np.ndarray
    intercept: bool

    def of_slots(self, slots: np.ndarray) -> "Lesson":
        """Return the same of some slots only."""
        if isinstance(self.penalty, np.ndarray):
            return replace(self, penalty=self.penalty[slots])
        return self

    @property
    def of_numbers(self) -> bool:
        """Return whether targets are numbers; classes have chances."""
        return self.loss in NUMBERS

    def curvatures(self, squares: np.ndarray, levels: np.ndarray, total: float) -> np.ndarray:
        """Return how the cost curves along weights, from what rows' bends are in sum.

        Times the squares of features, times features, and on their own: the intercept takes over
        what a feature says of all rows alike.
        """
        alike = np.minimum(levels**2 / total, squares) if self.intercept and total > 0 else 0.0
        return squares - alike + self.penalty

    def dispersion(self, bends: Bends, n_weights: int) -> float:
        """Return what a unit of the loss counts: 1 for chances; numbers have a spread of their own.

        So many weights have been fitted to them, and have taken as many rows' errors away.
        """
        if not self.of_numbers:
            return 1.0
        curvature = float(np.sum(self.importance * bends.curvatures)) - n_weights
        spread = float(np.sum(self.importance * bends.slopes**2))
        return spread / curvature if curvature > 0 else math.inf


@dataclass(frozen=True)
class Look:
    """Weights, the intercept last, how they bend the rows, what they cost, how steep that is."""

    weights: np.ndarray
    bends: Bends
    cost: float
    slopes: np.ndarray


def lesson_of(
    learner: Thresher, importance: np.ndarray, mean_norm: float, targets: np.ndarray
) -> Lesson:
    """Return what a learner learns from rows of a mean squared norm.

    That all are twice as important says nothing more of them.
    """
    count = importance[importance > 0]
    importance = importance / (float(np.mean(count)) if count.size else 1.0)
    intercept = learner.refitting.fit_intercept
    return Lesson(learner.loss, targets, importance, RIDGE * mean_norm, intercept)


def of_usual_effects(lesson: Lesson, vocabulary: Vocabulary) -> Lesson:
    """Return a lesson that expects the same of every feature, however often it occurs.

    Its weight times a usual value of it is taken for a standard normal number, in log odds.
    """
    usual = vocabulary["squares"] / np.maximum(vocabulary["occurrences"], 1)
    return replace(lesson, penalty=usual)


class Table:
    """Rows of few features."""

    def __init__(self, lesson: Lesson, rows: Rows) -> None:
        self.lesson = lesson
        self.rows = rows

    def at(self, weights: np.ndarray) -> Look:
        """Return what is seen from some weights."""
        place, bends = Place(weights, np.empty(weights.size)), self._bends()
        cost = look_from(self._goal(weights.size), place, bends)
        return Look(weights, bends, cost, place.slopes)

    def curvatures(self, here: Look) -> np.ndarray:
        """Return how the cost curves along the weight of each feature."""
        bends = self.lesson.importance * here.bends.curvatures
        squares, levels = np.zeros((2, here.weights.size - 1))
        add_curvatures(self.rows, bends, squares, levels)
        return self.lesson.curvatures(squares, levels, float(np.sum(bends)))

    def settled(self, start: np.ndarray, exactly: bool = False) -> Look:
        """Return the best weights, from a start; whoever only compares needs not have the last."""
        first = self.at(start)
        # in units in which all weights matter alike, there are few steps to the end
        total = float(np.sum(self.lesson.importance * first.bends.curvatures))
        units = 1 / np.sqrt(np.append(self.curvatures(first), max(total, 1.0)))
        place = Place(start.astype(np.float64), first.slopes.copy())
        self._descend(place, first.cost, units, exactly)
        return self.at(place.weights)

    def _descend(self, here: Place, cost: float, units: np.ndarray, exactly: bool) -> None:
        """Go down from a place, step by step: whoever presses Ctrl-C is heard between two."""
        goal, bends, trail = self._goal(units.size), self._bends(), trail_for(units.size)
        there, direction = Place(*np.empty((2, units.size))), np.empty(units.size)
        for n_steps in range(STEPS):
            before = cost
            cost = step_down(goal, units, trail, n_steps, bends, here, there, direction, before)
            if not before - cost > self._close(exactly) * max(before, 1.0):  # nor if it overflows
                return

    def _close(self, exactly: bool) -> float:
        """Return what a last step may still save, as a share of the cost."""
        if exactly:
            return EXACTLY
        return CLOSE_SHARE if self.lesson.of_numbers else CLOSE / self.lesson.importance.size

    def _goal(self, n_weights: int) -> Goal:
        lesson = self.lesson
        penalties = np.full(n_weights - 1, lesson.penalty)
        known = lesson.loss, lesson.targets, lesson.importance
        return Goal(self.rows, *known, penalties, lesson.intercept)

    def _bends(self) -> Bends:
        return Bends(*np.empty((3, self.lesson.targets.size)))


def narrowed(lesson: Lesson, rows: Rows, ridge: float = RIDGE) -> Lesson:
    """Return a lesson of numbers whose penalty is relative to rows of the features in play.

    How much weights can say of a number depends on those: where they are a few of thousands, what
    is little for whole rows would hold them back. Of chances they say what they say.
    """
    if not lesson.of_numbers:
        return lesson
    norm = norm_in_play(lesson, rows)
    return replace(lesson, penalty=ridge * norm) if norm > 0 else lesson


def norm_in_play(lesson: Lesson, rows: Rows) -> float:
    """Return the mean squared norm of rows, each as important as it is."""
    norms = squared_norms(rows.starts, rows.values)
    return float(np.average(norms, weights=lesson.importance))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # such weights are not returned
def best_of(
    lesson: Lesson, rows: Rows, start: np.ndarray, exactly: bool = False
) -> np.ndarray | None:
    """Return the weights that predict numbers best: the more of them is noise, the shorter.

    None if there are none, for values are too small or too large to be squared.
    """
    first = Table(narrowed(lesson, rows), rows).settled(start, exactly)
    noise = min(lesson.dispersion(first.bends, start.size), 1.0)
    ridge = NOISE_RIDGE * max(noise, LEAST_NOISE)
    found = Table(narrowed(lesson, rows, ridge), rows).settled(first.weights, exactly).weights
    return found if np.isfinite(found).all() else None
