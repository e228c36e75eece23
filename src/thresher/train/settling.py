"""The best weights of few features, to the end: what judges features must not be on its way."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from thresher.kernels.rows import Rows
from thresher.learners.thresher import Thresher
from thresher.train.bends import NUMBERS, Bends, bends_of
from thresher.train.feed import Batch

RIDGE = 0.1  # the penalty, in mean squared norms of the rows
STEPS = 200  # at most
# What a last step may still save: of chances a cost, of numbers, whose spread may be tiny, a share.
CLOSE, EXACT = 0.05, 1e-9


@dataclass(frozen=True)
class Lesson:
    """What is learnt: a loss of rows with targets, each as important as a row, and a penalty.

    The ``penalty`` is what half the square of a weight costs.
    """

    loss: int
    targets: np.ndarray
    importance: np.ndarray
    penalty: float
    intercept: bool

    def start(self, weights: np.ndarray, bias: float) -> np.ndarray:
        """Return weights with the intercept last, from that of a constant as long as a row."""
        return np.append(weights, bias * math.sqrt(self.penalty / RIDGE))

    def curvatures(self, squares: np.ndarray, levels: np.ndarray, total: float) -> np.ndarray:
        """Return how the cost curves along weights, from what rows' bends are in sum.

        Times the squares of features, times features, and on their own: the intercept takes over
        what a feature says of all rows alike.
        """
        alike = np.minimum(levels**2 / total, squares) if self.intercept and total > 0 else 0.0
        return squares - alike + self.penalty


@dataclass(frozen=True)
class Settled:
    """Weights that cannot be improved, the intercept last, and what they say of the rows."""

    weights: np.ndarray
    bends: Bends
    cost: float


def lesson_of(learner: Thresher, batch: Batch, targets: np.ndarray) -> Lesson:
    """Return what a learner learns; that rows are twice as important says nothing more of them."""
    count = batch.importance[batch.importance > 0]
    importance = batch.importance / (float(np.mean(count)) if count.size else 1.0)
    penalty = RIDGE * float(np.mean(batch.norms))
    return Lesson(learner.loss, targets, importance, penalty, learner.refitting.fit_intercept)


class Table:
    """Rows of few features."""

    def __init__(self, lesson: Lesson, rows: Rows, n_features: int) -> None:
        self.lesson = lesson
        shape, values = (rows.starts.size - 1, n_features), rows.values.astype(np.float64)
        self.values = sparse.csr_array((values, rows.slots, rows.starts), shape)
        self.squares = sparse.csr_array((values**2, rows.slots, rows.starts), shape)

    def at(self, weights: np.ndarray) -> Settled:
        """Return what weights, the intercept last, say of the rows."""
        lesson = self.lesson
        margins = self.values @ weights[:-1] + weights[-1]
        bends = bends_of(lesson.loss, margins, lesson.targets)
        ridge = lesson.penalty * float(np.sum(weights[:-1] ** 2)) / 2
        return Settled(weights, bends, float(np.sum(lesson.importance * bends.losses)) + ridge)

    def slopes(self, here: Settled) -> np.ndarray:
        """Return how steep the cost is along each weight."""
        pulls = self.lesson.importance * here.bends.slopes
        ridge = self.lesson.penalty * here.weights[:-1]
        constant = np.sum(pulls) if self.lesson.intercept else 0.0
        return np.append(self.values.T @ pulls + ridge, constant)

    def curvatures(self, here: Settled) -> np.ndarray:
        """Return how the cost curves along the weight of each feature."""
        bends = self.lesson.importance * here.bends.curvatures
        sums = self.squares.T @ bends, self.values.T @ bends
        return self.lesson.curvatures(*sums, float(np.sum(bends)))

    def settled(self, start: np.ndarray) -> Settled:
        """Return the best weights, from a start."""
        first = self.at(start)
        # in units in which all weights matter alike, there are few steps to the end
        total = float(np.sum(self.lesson.importance * first.bends.curvatures))
        units = 1 / np.sqrt(np.append(self.curvatures(first), max(total, 1.0)))

        def cost_and_slopes(steps: np.ndarray) -> tuple[float, np.ndarray]:
            here = self.at(steps * units)
            return here.cost, self.slopes(here) * units

        numbers = self.lesson.loss in NUMBERS
        close = EXACT if numbers else CLOSE / self.lesson.importance.size
        options = {"maxiter": STEPS, "ftol": close}
        found = minimize(
            cost_and_slopes, start / units, jac=True, method="L-BFGS-B", options=options
        )
        return self.at(found.x * units)
