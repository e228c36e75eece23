"""What a row changes in the two models of ``thresh``, compiled, and the ranks of features.

A weight of the selecting model moves by -eta g / (damping + sqrt(sum g^2)), where g is the gradient
of the loss at this model's margin; one of the final model by -eta' g' / sqrt(sum g'^2), where the
sum counts the rows since the feature entered it. ``counted`` are the targets of the sums that rank
features.
"""

import math
from typing import NamedTuple

import numpy as np

from thresher.jit import jit
from thresher.losses import LOG_LOSS, slope_of
from thresher.online.ftrl import longest
from thresher.online.passes import dot

PURGED, CANDIDATE, MEMBER = -1, 0, 1  # roles of a feature; new ones are candidates
# Numbers of a feature: the roots of its squared gradients in both models, sums of x and x^2; then
# for every output its weights in both models, and the sum of x y.
ROOT, FINAL_ROOT, SUM, SQUARES, WEIGHT, FINAL_WEIGHT, PULL = range(7)
PER_OUTPUT = 3
SELECT, FIT, TALLY = range(3)  # of the biases: those of the two models, and the sums of targets
# Of the counts: the roots of the biases, the weight of all rows, the mean of their targets, the sum
# of squares around it, the first target, and the rows' mean squared norm.
BIAS_ROOT, FIT_ROOT, TOTAL, MEAN, AROUND, ORIGIN, NORM = range(7)
TINY = 1e-300


class Lengths(NamedTuple):
    """How long the steps of the selecting model and of the final one are.

    The damping is added to the root of a feature's squared gradients in the former, so that its
    first rows do not decide.
    """

    selecting: float
    damping: float
    final: float


@jit
def squared_ranks(slots, means, numbers):
    """Return |w|^2 |S|^2 / sum x^2 of every slot given."""
    ranks = np.empty(slots.size)
    for k in range(slots.size):
        j = slots[k]
        weight = marginal = 0.0
        for o in range(means.size):
            weight += numbers[j, WEIGHT + PER_OUTPUT * o] ** 2
            pull = numbers[j, PULL + PER_OUTPUT * o] - means[o] * numbers[j, SUM]
            marginal += pull * pull
        rank = weight * marginal / max(numbers[j, SQUARES], TINY)
        ranks[k] = rank if math.isfinite(rank) else 0.0
    return ranks


@jit
def standardized(numbers, updates, centred, counts):
    """Return numbers in units of their spread so far, from their mean so far.

    For the ranks they are counted from the first one, so that no large mean cancels their digits.
    """
    learned, total = numbers.copy(), counts[TOTAL]
    for i in updates.order:
        if total == 0.0:
            counts[ORIGIN] = numbers[i]
        weight = updates.importance[i]
        total += weight
        away = numbers[i] - counts[MEAN]
        if centred and total > 0.0:
            counts[MEAN] += away * weight / total
        counts[AROUND] += weight * away * (numbers[i] - counts[MEAN])
        spread = math.sqrt(counts[AROUND] / max(total, TINY))
        learned[i] = (numbers[i] - counts[MEAN]) / spread if spread > 0.0 else 0.0
    return learned


@jit
def learn_one(rows, updates, counted, loss, lengths, roles, numbers, biases, counts):
    """Learn from the rows in turn; return how many were learned before the numbers overflowed.

    What a row needs is brought together first: side by side, several numbers are divided and
    rooted at once. One function: arrays handed to others would be counted by Numba for every row.
    """
    starts, slots, values = rows
    order, _, sizes, norms, targets, importance = updates
    most = longest(starts) + 1
    near, best = np.empty(most, np.uint32), np.empty(most, np.uint32)
    xs, roots, weights = np.empty(most), np.empty(most), np.empty(most)
    best_xs, final_roots, finals = np.empty(most), np.empty(most), np.empty(most)
    for t in range(order.size):
        i, size, n, n_best = order[t], sizes[t], np.uint64(0), np.uint64(0)
        # unsigned, since Numba lets signed places count from an array's end; without a branch,
        # since what does not count is written over by the next
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = slots[k]
            near[n], xs[n], best[n_best] = j, values[k], n
            roots[n], weights[n] = numbers[j, ROOT], numbers[j, WEIGHT]
            n_best += np.uint64(roles[j] == MEMBER)
            n += np.uint64(roles[j] != PURGED)
        for k in range(n_best):
            j = near[best[k]]
            best_xs[k] = xs[best[k]]
            finals[k], final_roots[k] = numbers[j, FINAL_WEIGHT], numbers[j, FINAL_ROOT]
        margin = size * biases[SELECT, 0] + dot(weights, xs, n)
        fit = size * biases[FIT, 0] + dot(finals, best_xs, n_best)
        if not math.isfinite(margin + fit):
            return t
        weight, y, norm = importance[i], importance[i] * counted[i], norms[t]
        slope = weight * slope_of(loss, margin, targets[i])
        fit_slope = weight * slope_of(loss, fit, targets[i])
        length = math.sqrt(norm)
        step, final_step = lengths.selecting / length, lengths.final / length
        damping = lengths.damping * length
        for k in range(n):
            gradient = slope * xs[k]
            roots[k] = math.sqrt(roots[k] * roots[k] + gradient * gradient)
            weights[k] -= step * gradient / (damping + roots[k])
        for k in range(n_best):
            gradient = fit_slope * best_xs[k]
            final_roots[k] = math.sqrt(final_roots[k] * final_roots[k] + gradient * gradient)
            finals[k] -= final_step * gradient / (final_roots[k] + TINY)
        for k in range(n):
            j, x = near[k], xs[k]
            numbers[j, ROOT], numbers[j, WEIGHT] = roots[k], weights[k]
            numbers[j, SUM] += weight * x
            numbers[j, SQUARES] += weight * x * x
            numbers[j, PULL] += y * x
        for k in range(n_best):
            j = near[best[k]]
            numbers[j, FINAL_WEIGHT], numbers[j, FINAL_ROOT] = finals[k], final_roots[k]
        counts[BIAS_ROOT] = math.hypot(counts[BIAS_ROOT], slope * size)
        counts[FIT_ROOT] = math.hypot(counts[FIT_ROOT], fit_slope * size)
        biases[SELECT, 0] -= step * slope * size / (damping + counts[BIAS_ROOT])
        biases[FIT, 0] -= final_step * fit_slope * size / (counts[FIT_ROOT] + TINY)
        biases[TALLY, 0] += y
        counts[TOTAL], counts[NORM] = counts[TOTAL] + weight, norm
    return order.size


@jit
def learn_several(rows, updates, counted, loss, lengths, roles, numbers, biases, counts):
    """Learn classes from the rows in turn; return how many before the numbers overflowed.

    All outputs of a feature have one root of squared gradients, and so one length of steps.
    """
    starts, slots, values = rows
    order, _, sizes, norms, _, importance = updates
    n_outputs = biases.shape[1]
    slopes, fits = np.empty(n_outputs), np.empty(n_outputs)
    for t in range(order.size):
        i, size, weight, right = (
            order[t],
            sizes[t],
            importance[order[t]],
            np.int64(counted[order[t]]),
        )
        first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
        slopes[:], fits[:] = size * biases[SELECT], size * biases[FIT]
        add_margins(slopes, slots, values, first, last, roles, CANDIDATE, numbers, WEIGHT)
        add_margins(fits, slots, values, first, last, roles, MEMBER, numbers, FINAL_WEIGHT)
        if not math.isfinite(slopes.sum() + fits.sum()):
            return t
        pull, fit_pull = (
            slopes_at(slopes, loss, right, weight),
            slopes_at(fits, loss, right, weight),
        )
        length = math.sqrt(norms[t])
        step, final_step = lengths.selecting / length, lengths.final / length
        damping = lengths.damping * length
        for k in range(first, last):
            j, x = slots[k], values[k]
            if roles[j] == PURGED:
                continue
            numbers[j, ROOT] = math.hypot(numbers[j, ROOT], pull * x)
            move, fit_move = step * x / (damping + numbers[j, ROOT]), 0.0
            if roles[j] == MEMBER:
                numbers[j, FINAL_ROOT] = math.hypot(numbers[j, FINAL_ROOT], fit_pull * x)
                fit_move = final_step * x / (numbers[j, FINAL_ROOT] + TINY)
            for o in range(n_outputs):
                numbers[j, WEIGHT + PER_OUTPUT * o] -= slopes[o] * move
                numbers[j, FINAL_WEIGHT + PER_OUTPUT * o] -= fits[o] * fit_move
            numbers[j, SUM] += weight * x
            numbers[j, SQUARES] += weight * x * x
            numbers[j, PULL + PER_OUTPUT * right] += weight * x
        counts[BIAS_ROOT] = math.hypot(counts[BIAS_ROOT], pull * size)
        counts[FIT_ROOT] = math.hypot(counts[FIT_ROOT], fit_pull * size)
        biases[SELECT] -= slopes * (step * size / (damping + counts[BIAS_ROOT]))
        biases[FIT] -= fits * (final_step * size / (counts[FIT_ROOT] + TINY))
        biases[TALLY, right] += weight
        counts[TOTAL] += weight
        counts[NORM] = norms[t]
    return order.size


@jit
def add_margins(margins, slots, values, first, last, roles, least, numbers, which):
    """Add the products of a row with the weights of every output, of features of a role."""
    for k in range(first, last):
        j = slots[k]
        if roles[j] >= least:
            for o in range(margins.size):
                margins[o] += numbers[j, which + PER_OUTPUT * o] * values[k]


@jit
def slopes_at(margins, loss, right, weight):
    """Replace margins by slopes of the loss for the class that is right; return their length.

    Log losses are those of a softmax, others one against the rest.
    """
    n_outputs, largest, total, squares = margins.size, margins.max(), 0.0, 0.0
    for o in range(n_outputs):
        if loss == LOG_LOSS:
            margins[o] = math.exp(margins[o] - largest)
            total += margins[o]
        else:
            margins[o] = weight * slope_of(loss, margins[o], 1.0 if o == right else -1.0)
    for o in range(n_outputs):
        if loss == LOG_LOSS:
            margins[o] = weight * (margins[o] / total - (1.0 if o == right else 0.0))
        squares += margins[o] * margins[o]
    return math.sqrt(squares)
