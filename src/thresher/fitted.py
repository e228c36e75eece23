"""A fitted linear model as a value: all that prediction, files, exports and reports read."""

import math
from typing import NamedTuple

import numpy as np

from thresher.formats.names import Names
from thresher.jit import jit
from thresher.prepare import Preparation
from thresher.rows import Rows

TINY = 1e-300  # what programs without branches divide by at least, for rows without any value

# How margins become probabilities: none, one logistic margin (or one for each class against the
# rest), a clipped line (modified Huber), or a softmax over classes.
NO_LINK, LOGISTIC, CLIPPED, SOFTMAX = "none", "logistic", "clipped", "softmax"


class Fitted(NamedTuple):
    """Weights of raw values, intercepts, and how rows are prepared.

    ``columns`` are those with a weight, ascending; ``weights`` have a row per output and a column
    for each of them. Two classes have one output, positive for the second; numbers have one.
    ``labels`` are the classes, None of numbers. Where rows are scaled to unit length, the weights
    of columns that are not measured are for rows divided by their length.
    """

    columns: np.ndarray
    weights: np.ndarray
    intercepts: np.ndarray
    n_columns: int
    preparation: Preparation
    link: str = NO_LINK
    labels: np.ndarray | None = None
    names: Names | None = None

    @property
    def n_outputs(self) -> int:
        """Return how many margins a row has."""
        return self.weights.shape[0]

    def dense_weights(self) -> np.ndarray:
        """Return the weights of all columns, a row per output."""
        dense = np.zeros((self.n_outputs, self.n_columns))
        dense[:, self.columns] = self.weights
        return dense


class Scorer:
    """Computes the margins of rows; made once, used often. Memory is touched only where needed."""

    def __init__(self, fitted: Fitted) -> None:
        self.fitted = fitted
        self._weights = np.zeros((fitted.n_columns, fitted.n_outputs))
        self._weights[fitted.columns] = fitted.weights.T
        preparation = fitted.preparation
        marked = np.zeros(fitted.n_columns, np.bool_)
        if preparation.kept_length:
            marked[fitted.columns] = True
            marked[preparation.measured] = False
        else:
            marked[preparation.measured] = True
        self._marked = marked if marked.any() else marked[:0]

    def margins(self, rows: Rows) -> tuple[np.ndarray, bool]:
        """Return the margins, a column per output, and whether all columns ascend and are known.

        Unknown columns can only lengthen their rows. If all is well, nothing but values needs
        checking, and one that is not finite gives a margin that is not finite. To look at rows
        twice would take twice as long.
        """
        weights, intercepts = self._weights, self.fitted.intercepts
        unit, kept = self.fitted.preparation.unit, self.fitted.preparation.kept_length
        if self.fitted.n_outputs > 1:
            margins = np.empty((rows.n, intercepts.size))
            odd = margins_of_classes(*rows, weights, intercepts, unit, self._marked, kept, margins)
            return margins, odd == 0
        if unit and not self._marked.size and not kept:
            margins, odd = unit_margins_of_all(*rows, weights[:, 0], intercepts[0])
        elif unit:
            margins, odd = unit_margins(*rows, weights[:, 0], intercepts[0], self._marked, kept)
        else:
            margins, odd = plain_margins(*rows, weights[:, 0], intercepts[0])
        return margins[:, np.newaxis], odd == 0


# Kernels return how many columns do not ascend or are unknown, too, counted without a branch.


@jit
def plain_margins(starts, columns, values, weights, intercept):
    """Return w . x + b of every row."""
    margins, odd = np.empty(starts.size - 1), 0
    for i in range(margins.size):
        margin, before = 0.0, np.int64(-1)
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = columns[k]
            odd += np.int64(j) <= before
            before = np.int64(j)
            if j < weights.size:
                margin += values[k] * weights[j]
        odd += before >= weights.size
        margins[i] = margin + intercept
    return margins, odd


@jit
def unit_margins_of_all(starts, columns, values, weights, intercept):
    """Return w . x / |x| + b of every row, with all columns in |x|."""
    margins, odd = np.empty(starts.size - 1), 0
    for i in range(margins.size):
        margin, square, before = 0.0, 0.0, np.int64(-1)
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j, value = columns[k], values[k]
            odd += np.int64(j) <= before
            before = np.int64(j)
            square += value * value
            if j < weights.size:
                margin += value * weights[j]
        odd += before >= weights.size
        margins[i] = (margin / math.sqrt(square) if square != 0.0 else 0.0) + intercept
    return margins, odd


@jit
def unit_margins(starts, columns, values, weights, intercept, marked, kept):
    """Return w . x / |x| + b of every row.

    In |x| are the marked columns, or, unless only kept ones count, all but the marked ones.
    """
    margins, odd = np.empty(starts.size - 1), 0
    for i in range(margins.size):
        margin, own, square, before = 0.0, 0.0, 0.0, np.int64(-1)
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j, value = columns[k], values[k]
            odd += np.int64(j) <= before
            before = np.int64(j)
            moved = value * weights[j] if j < weights.size else 0.0
            if (j < marked.size and marked[j]) == kept:
                margin += moved
                square += value * value
            else:
                own += moved
        odd += before >= weights.size
        margins[i] = (margin / math.sqrt(square) if square > 0.0 else margin) + own + intercept
    return margins, odd


@jit
def margins_of_classes(starts, columns, values, weights, intercepts, unit, marked, kept, margins):
    """Write the margins of every row, one for each class."""
    odd = 0
    for i in range(margins.shape[0]):
        square, before = 0.0, np.int64(-1)
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = columns[k]
            odd += np.int64(j) <= before
            before = np.int64(j)
            if unit and (j < marked.size and marked[j]) == kept:
                square += values[k] * values[k]
        odd += before >= weights.shape[0]
        scale = 1.0 / math.sqrt(square) if square > 0.0 else 1.0
        margins[i] = intercepts
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = columns[k]
            if j < weights.shape[0]:
                counts = (j < marked.size and marked[j]) == kept
                value = values[k] * scale if counts else values[k]
                for c in range(intercepts.size):
                    margins[i, c] += value * weights[j, c]
    return odd
