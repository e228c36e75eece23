"""The weights of least cost, step by step: limited-memory BFGS (Liu & Nocedal 1989).

SciPy's solver hands matrices of twenty rows to a BLAS with as many threads as there are cores;
where others use these too it waits for them at every step, a hundred times as long as it computes
(scipy#22438, scipy#23191). Nothing waits here, and sums have one order: the same bits everywhere.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels.bends import Bends, look_at
from thresher.kernels.rows import Rows

REMEMBERED = 10  # steps
# Wolfe's conditions on a step: the share that it saves of what the slope promises, and the share
# of the slope that may be left. Nobody halves or doubles it more often than that.
SAVED, LEFT, TRIES = 1e-4, 0.9, 40


class Goal(NamedTuple):
    """What is to be least: what rows lose, and for each weight its penalty times half its square.

    Weights have the intercept last; it has no penalty, and stays if there is ``intercept`` none.
    """

    rows: Rows
    loss: int
    targets: NDArray[np.float64]
    importance: NDArray[np.float64]
    penalties: NDArray[np.float64]
    intercept: bool


class Trail(NamedTuple):
    """The last steps: how far each weight went, how its slope changed, and their products in sum.

    ``shares`` is room to compute in.
    """

    moves: NDArray[np.float64]
    changes: NDArray[np.float64]
    products: NDArray[np.float64]
    shares: NDArray[np.float64]


class Place(NamedTuple):
    """Weights, and how steep the cost is along each of them."""

    weights: NDArray[np.float64]
    slopes: NDArray[np.float64]


def trail_for(n_weights: int) -> Trail:
    """Return a trail of no steps yet."""
    moves, changes = np.zeros((2, REMEMBERED, n_weights))
    products, shares = np.zeros((2, REMEMBERED))
    return Trail(moves, changes, products, shares)


@jit
def look_from(goal: Goal, place: Place, bends: Bends) -> float:
    """Write how weights bend every row's loss, and how steep the cost is; return the cost."""
    weights, slopes = place
    slopes[:] = 0.0
    cost = look_at(goal.rows, goal.loss, goal.targets, goal.importance, weights, bends, slopes)
    for j in range(goal.penalties.size):
        pull = goal.penalties[j] * weights[j]
        slopes[j] += pull
        cost += pull * weights[j] / 2.0
    if not goal.intercept:
        slopes[goal.penalties.size] = 0.0
    return cost


@jit
def product(first, second):
    """Return the sum of products, in order."""
    total = 0.0
    for j in range(first.size):
        total += first[j] * second[j]
    return total


@jit
def point_downhill(slopes, units, trail, n_steps, direction):
    """Write where the cost falls fastest, as far as the last steps tell how it curves.

    Before the first they tell nothing: it is taken to curve as much in all ``units`` of weights.
    """
    moves, changes, products, shares = trail
    depth = products.size
    oldest = max(n_steps - depth, 0)
    direction[:] = -slopes
    for step in range(n_steps - 1, oldest - 1, -1):
        k = step % depth
        shares[k] = product(moves[k], direction) / products[k]
        direction -= shares[k] * changes[k]
    direction *= units * units
    if n_steps > 0:
        k = (n_steps - 1) % depth
        curved = changes[k] * units
        direction *= products[k] / product(curved, curved)
    for step in range(oldest, n_steps):
        k = step % depth
        direction += (shares[k] - product(changes[k], direction) / products[k]) * moves[k]


@jit
def step_down(goal, units, trail, n_steps, bends, here, there, direction, cost):
    """Go a step downhill from ``here``, and remember it; return the cost there.

    If there is no lower place that numbers can tell, stay. ``there`` and ``direction`` are room to
    compute in.
    """
    point_downhill(here.slopes, units, trail, n_steps, direction)
    slope = product(here.slopes, direction)
    if not slope < 0.0:
        return cost
    length = 1.0
    if n_steps == 0:  # nothing is known of how the cost curves: at most one unit
        length = min(1.0, 1.0 / np.sqrt(product(direction / units, direction / units)))
    shortest, longest = 0.0, np.inf
    for _ in range(TRIES):
        there.weights[:] = here.weights + length * direction
        found = look_from(goal, there, bends)
        if not found <= cost + SAVED * length * slope:
            longest = length
        elif product(there.slopes, direction) < LEFT * slope:
            shortest = length
        else:
            k = n_steps % trail.products.size
            trail.moves[k] = there.weights - here.weights
            trail.changes[k] = there.slopes - here.slopes
            trail.products[k] = product(trail.moves[k], trail.changes[k])
            here.weights[:] = there.weights
            here.slopes[:] = there.slopes
            return found
        length = (shortest + longest) / 2.0 if longest < np.inf else 2.0 * length
    return cost
