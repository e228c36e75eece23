"""Penalized weights to convergence: Newton steps by preconditioned conjugate gradients.

Minimized is sum_i s_i loss(m_i, y_i) + sum_j penalty_j |w_j|^2 / 2 with m_i = (x_i - c) . w + b,
c the columns' means. With an intercept that costs nothing, c changes no solution; it keeps dense
columns far from zero apart from the intercept.

There is one margin and one weight per output: one for two classes or numbers, one for each of
several classes, whose loss is the multinomial one. Weights of a column lie side by side:
``weights[j * n_outputs + k]``, the intercepts last; margins likewise.

A product with the Hessian is one pass over the nonzeros. Sums are in a fixed order, so that results
depend on nothing but the rows.
"""

import math
from typing import NamedTuple, Self

import numpy as np

from thresher.jit import jit
from thresher.losses import curvature_of, slope_of, value_of
from thresher.rows import Rows
from thresher.winnow.multinomial import (
    add_rows_of_classes,
    add_squares_of_classes,
    differentiate_classes,
    loss_of_classes,
    margins_of_classes,
    multiply_classes,
)

MOST_STEPS, MOST_PRODUCTS, MOST_HALVINGS = 100, 200, 40
SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring (Armijo)
FLAT = 0.1  # of the slope at the beginning of a step: as much may it rise at its end
FLATTEST = 1e-9  # curvature that a row has at least, for the preconditioner and far margins


class Problem(NamedTuple):
    """What is to be fitted; targets of several classes are the numbers of the classes."""

    rows: Rows
    targets: np.ndarray
    importance: np.ndarray
    loss: int
    n_outputs: int
    intercept: bool
    centres: np.ndarray  # of columns, taken away from their values; 0 where there is no intercept

    def mean_length(self) -> float:
        """Return the root of the rows' mean squared length, around the columns' means."""
        squares = np.zeros(self.centres.size)
        add_squares(*self.rows, self.importance, squares)
        squares = squares / self.importance.sum() - self.centres**2
        return math.sqrt(max(squares.sum(), 0.0))

    def centred(self) -> Self:
        """Return the same problem with the means of its columns, if it has an intercept."""
        if not self.intercept:
            return self
        sums = np.zeros(self.centres.size)
        add_values(*self.rows, self.importance, sums)
        return self._replace(centres=sums / self.importance.sum())

    def without_empty_rows(self) -> Self:
        """Return the same problem with all rows that have no value left and one target as one."""
        starts, columns, values = self.rows
        empty = np.flatnonzero(np.diff(starts) == 0)
        targets = self.targets[empty]
        distinct, first, which = np.unique(targets, return_index=True, return_inverse=True)
        if empty.size == distinct.size:
            return self
        importance = self.importance.copy()
        importance[empty[first]] = np.bincount(which, self.importance[empty])
        kept = np.diff(starts) > 0
        kept[empty[first]] = True
        places = np.flatnonzero(kept)
        rows = Rows(np.append(starts[places], starts[-1]), columns, values)
        return self._replace(rows=rows, targets=self.targets[places], importance=importance[places])


@jit
def add_values(starts, columns, values, importance, sums):
    """Add the rows, each as often as it counts."""
    for i in range(starts.size - 1):
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            sums[columns[k]] += importance[i] * values[k]


@jit
def add_squares(starts, columns, values, importance, sums):
    """Add the rows' squares, each as often as it counts."""
    for i in range(starts.size - 1):
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            sums[columns[k]] += importance[i] * values[k] * values[k]


@jit
def dot(first, second):
    """Return the sum of products, in a fixed order whatever the algebra library does."""
    total = 0.0
    for j in range(first.size):
        total += first[j] * second[j]
    return total


@jit
def constants_of(problem, weights, constants):
    """Write what every row's margins begin with: the intercepts, as columns are centred."""
    n_outputs = problem.n_outputs
    for c in range(n_outputs):
        constants[c] = weights[weights.size - n_outputs + c]
    for j in range(problem.centres.size):
        for c in range(n_outputs):
            constants[c] -= problem.centres[j] * weights[j * n_outputs + c]


@jit
def margins_of(problem, weights, margins):
    """Write the margins of all rows."""
    constants = np.empty(problem.n_outputs)
    constants_of(problem, weights, constants)
    if problem.n_outputs > 1:
        margins_of_classes(problem.rows, weights, constants, margins)
        return
    starts, columns, values = problem.rows
    constant = constants[0]
    for i in range(margins.size):
        margin = constant
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            margin += values[k] * weights[columns[k]]
        margins[i] = margin


@jit
def gradient_of(problem, penalties, weights, slopes, gradient):
    """Write the gradient of the penalized loss."""
    gradient[:] = 0.0
    if problem.n_outputs > 1:
        add_rows_of_classes(problem.rows, slopes, problem.n_outputs, gradient)
    else:
        starts, columns, values = problem.rows
        for i in range(slopes.size):
            slope = slopes[i]
            gradient[gradient.size - 1] += slope
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                gradient[columns[k]] += slope * values[k]
    complete(problem, penalties, weights, gradient)


@jit
def multiply(problem, penalties, curvatures, vector, product):
    """Write the Hessian times a vector, in one pass over the rows."""
    constants = np.empty(problem.n_outputs)
    constants_of(problem, vector, constants)
    product[:] = 0.0
    if problem.n_outputs > 1:
        multiply_classes(problem.rows, problem.importance, curvatures, vector, constants, product)
    else:
        starts, columns, values = problem.rows
        constant, total = constants[0], 0.0
        for i in range(curvatures.size):
            moved = constant
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                moved += values[k] * vector[columns[k]]
            moved *= curvatures[i]
            total += moved
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                product[columns[k]] += moved * values[k]
        product[product.size - 1] = total
    complete(problem, penalties, vector, product)


@jit
def complete(problem, penalties, vector, gradient):
    """Turn a sum over rows into that of centred columns, and add penalty times vector."""
    n_outputs, centres = problem.n_outputs, problem.centres
    constant = gradient.size - n_outputs
    for j in range(penalties.size):
        for c in range(n_outputs):
            place = j * n_outputs + c
            gradient[place] += penalties[j] * vector[place]
            gradient[place] -= centres[j] * gradient[constant + c]
    if not problem.intercept:
        gradient[constant:] = 0.0


@jit
def differentiate(problem, margins, slopes, curvatures):
    """Write slopes and curvatures of the loss: of several classes, the probabilities."""
    _, targets, importance, loss, n_outputs, _, _ = problem
    if n_outputs > 1:
        differentiate_classes(targets, importance, n_outputs, margins, slopes, curvatures)
        return
    for i in range(targets.size):
        margin, target = margins[i], targets[i]
        slopes[i] = importance[i] * slope_of(loss, margin, target)
        curvatures[i] = importance[i] * max(curvature_of(loss, margin, target), FLATTEST)


@jit
def cost_of(problem, penalties, weights, margins):
    """Return the penalized loss of weights whose margins are known."""
    _, targets, importance, loss, n_outputs, _, _ = problem
    cost = 0.0
    if n_outputs > 1:
        cost = loss_of_classes(targets, importance, n_outputs, margins)
    else:
        for i in range(targets.size):
            cost += importance[i] * value_of(loss, margins[i], targets[i])
    for j in range(penalties.size):
        for c in range(n_outputs):
            cost += 0.5 * penalties[j] * weights[j * n_outputs + c] ** 2
    return cost


@jit
def diagonal_of(problem, penalties, curvatures, diagonal):
    """Write the Hessian's diagonal: sums of (x - c)^2 times curvatures; it is positive."""
    n_outputs, importance, centres = problem.n_outputs, problem.importance, problem.centres
    sums = np.zeros_like(diagonal)  # of x times curvatures
    diagonal[:] = 0.0
    constant = diagonal.size - n_outputs
    if n_outputs > 1:
        add_squares_of_classes(problem.rows, importance, curvatures, n_outputs, diagonal, sums)
    else:
        starts, columns, values = problem.rows
        for i in range(importance.size):
            curved = curvatures[i]
            diagonal[constant] += curved
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                value = curved * values[k]
                sums[columns[k]] += value
                diagonal[columns[k]] += value * values[k]
    for j in range(penalties.size):
        for c in range(n_outputs):
            place = j * n_outputs + c
            apart = centres[j] * (centres[j] * diagonal[constant + c] - 2.0 * sums[place])
            spread = diagonal[place] + apart
            diagonal[place] = max(spread, FLATTEST * diagonal[place]) + penalties[j]
    for j in range(diagonal.size):
        diagonal[j] = max(diagonal[j], FLATTEST)


@jit
def newton_direction(problem, penalties, curvatures, gradient, enough, direction):
    """Write the Newton direction, solved until the residual's norm is ``enough``."""
    diagonal, product = np.empty(gradient.size), np.empty(gradient.size)
    diagonal_of(problem, penalties, curvatures, diagonal)
    direction[:] = 0.0
    residual = -gradient
    scaled = residual / diagonal
    towards = scaled.copy()
    now = dot(residual, scaled)
    for _ in range(MOST_PRODUCTS):
        multiply(problem, penalties, curvatures, towards, product)
        curved = dot(towards, product)
        if not curved > 0.0:
            return
        direction += now / curved * towards
        residual -= now / curved * product
        if math.sqrt(dot(residual, residual)) <= enough:
            return
        scaled[:] = residual / diagonal
        after = dot(residual, scaled)
        towards[:] = scaled + (after / now) * towards
        now = after


@jit
def descend(problem, penalties, here, direction, gradient):
    """Go along the direction as far as the loss falls enough; return whether it does anywhere.

    ``here`` are weights, margins, slopes and curvatures, which become those of the new place. The
    loss is convex: where it still falls at the end of a step, or hardly rises, the step is good,
    and its value need not be known.
    """
    weights, margins, slopes, curvatures = here
    before, start, moved = weights.copy(), margins.copy(), np.empty(margins.size)
    margins_of(problem, direction, moved)
    slope, share = dot(gradient, direction), 1.0
    for _ in range(MOST_HALVINGS):
        weights[:] = before + share * direction
        margins[:] = start + share * moved
        differentiate(problem, margins, slopes, curvatures)
        ahead = dot(slopes, moved)
        for j in range(penalties.size * problem.n_outputs):
            ahead += penalties[j // problem.n_outputs] * weights[j] * direction[j]
        if ahead <= FLAT * -slope:
            return True
        cost = cost_of(problem, penalties, before, start) + SUFFICIENT * share * slope
        if cost_of(problem, penalties, weights, margins) <= cost:
            return True
        share *= 0.5
    weights[:] = before
    return False


@jit
def fit_ridge(problem, penalties, weights, precision):
    """Move the weights to where the penalized loss is least.

    Stops where the gradient's norm is ``precision`` or less, or numbers cannot tell any descent.
    """
    n_rows, n_margins = problem.targets.size, problem.targets.size * problem.n_outputs
    margins, slopes, curvatures = np.empty(n_margins), np.empty(n_margins), np.empty(n_margins)
    gradient, direction = np.empty(weights.size), np.empty(weights.size)
    margins_of(problem, weights, margins)
    differentiate(problem, margins, slopes, curvatures)
    here = (weights, margins, slopes, curvatures)
    for _ in range(MOST_STEPS):
        gradient_of(problem, penalties, weights, slopes, gradient)
        norm = math.sqrt(dot(gradient, gradient))
        if not norm > precision:
            return
        # far from the solution rough directions do; near it their errors shrink quadratically
        enough = max(min(0.3, math.sqrt(norm / n_rows)) * norm, 0.3 * precision)
        newton_direction(problem, penalties, curvatures, gradient, enough, direction)
        if not descend(problem, penalties, here, direction, gradient):
            return
