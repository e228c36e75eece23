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

    def margins(self, rows: Rows) -> np.ndarray:
        """Return the margins, a column per output; unknown columns can only lengthen their rows."""
        weights, intercepts = self._weights, self.fitted.intercepts
        unit, kept = self.fitted.preparation.unit, self.fitted.preparation.kept_length
        if self.fitted.n_outputs > 1:
            margins = np.empty((rows.n, intercepts.size))
            margins_of_classes(*rows, weights, intercepts, unit, self._marked, kept, margins)
            return margins
        if unit and not self._marked.size and not kept:
            margins = unit_margins_of_all(*rows, weights[:, 0], intercepts[0])
        elif unit:
            margins = unit_margins(*rows, weights[:, 0], intercepts[0], self._marked, kept)
        else:
            margins = plain_margins(*rows, weights[:, 0], intercepts[0])
        return margins[:, np.newaxis]


@jit
def plain_margins(starts, columns, values, weights, intercept):
    """Return w . x + b of every row."""
    margins = np.empty(starts.size - 1)
    for i in range(margins.size):
        margin = 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            if columns[k] < weights.size:
                margin += values[k] * weights[columns[k]]
        margins[i] = margin + intercept
    return margins


@jit
def unit_margins_of_all(starts, columns, values, weights, intercept):
    """Return w . x / |x| + b of every row, with all columns in |x|."""
    margins = np.empty(starts.size - 1)
    for i in range(margins.size):
        margin = square = 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            value = values[k]
            square += value * value
            if columns[k] < weights.size:
                margin += value * weights[columns[k]]
        margins[i] = (margin / math.sqrt(square) if square > 0.0 else 0.0) + intercept
    return margins


@jit
def unit_margins(starts, columns, values, weights, intercept, marked, kept):
    """Return w . x / |x| + b of every row.

    In |x| are the marked columns, or, unless only kept ones count, all but the marked ones.
    """
    margins = np.empty(starts.size - 1)
    for i in range(margins.size):
        margin = own = square = 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j, value = columns[k], values[k]
            moved = value * weights[j] if j < weights.size else 0.0
            if (j < marked.size and marked[j]) == kept:
                margin += moved
                square += value * value
            else:
                own += moved
        margins[i] = (margin / math.sqrt(square) if square > 0.0 else margin) + own + intercept
    return margins


@jit
def margins_of_classes(starts, columns, values, weights, intercepts, unit, marked, kept, margins):
    """Write the margins of every row, one for each class."""
    for i in range(margins.shape[0]):
        square = 0.0
        if unit:
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                if (columns[k] < marked.size and marked[columns[k]]) == kept:
                    square += values[k] * values[k]
        scale = 1.0 / math.sqrt(square) if square > 0.0 else 1.0
        margins[i] = intercepts
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = columns[k]
            if j < weights.shape[0]:
                counts = (j < marked.size and marked[j]) == kept
                value = values[k] * scale if counts else values[k]
                for c in range(intercepts.size):
                    margins[i, c] += value * weights[j, c]
