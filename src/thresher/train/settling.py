"""The best weights of few features, to the end: what judges features must not be on its way."""

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


def settle(lesson: Lesson, rows: Rows, start: np.ndarray) -> Settled:
    """Return the best weights for rows, from a start with the intercept last."""
    shape = rows.starts.size - 1, start.size - 1
    table = sparse.csr_array((rows.values.astype(np.float64), rows.slots, rows.starts), shape)

    def at(weights: np.ndarray) -> Settled:
        margins = table @ weights[:-1] + weights[-1]
        bends = bends_of(lesson.loss, margins, lesson.targets)
        ridge = lesson.penalty * float(np.sum(weights[:-1] ** 2)) / 2
        return Settled(weights, bends, float(np.sum(lesson.importance * bends.losses)) + ridge)

    def cost_and_slopes(steps: np.ndarray) -> tuple[float, np.ndarray]:
        here = at(steps * units)
        pulls = lesson.importance * here.bends.slopes
        ridge = lesson.penalty * here.weights[:-1]
        slopes = np.append(table.T @ pulls + ridge, np.sum(pulls) if lesson.intercept else 0.0)
        return here.cost, slopes * units

    # in units in which all weights matter alike, there are few steps to the end
    bends = lesson.importance * bends_of(lesson.loss, table @ start[:-1], lesson.targets).curvatures
    squares = sparse.csr_array((table.data**2, table.indices, table.indptr), shape).T @ bends
    units = 1 / np.sqrt(np.append(squares + lesson.penalty, max(float(np.sum(bends)), 1.0)))
    close = EXACT if lesson.loss in NUMBERS else CLOSE / lesson.importance.size
    options = {"maxiter": STEPS, "ftol": close}
    found = minimize(cost_and_slopes, start / units, jac=True, method="L-BFGS-B", options=options)
    return at(found.x * units)
