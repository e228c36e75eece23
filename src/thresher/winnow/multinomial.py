"""Passes over the rows for several classes: multinomial loss, margins of a row side by side.

A pass is one function with its loops: arrays handed on for every row would be counted by Numba.
"""

import math

import numpy as np

from thresher.jit import jit


@jit
def margins_of_classes(rows, weights, constants, margins):
    """Write the margins of all rows."""
    starts, columns, values = rows
    n_classes = constants.size
    for i in range(starts.size - 1):
        first = i * n_classes
        for c in range(n_classes):
            margins[first + c] = constants[c]
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            place = columns[k] * n_classes
            for c in range(n_classes):
                margins[first + c] += values[k] * weights[place + c]


@jit
def add_rows_of_classes(rows, slopes, n_classes, gradient):
    """Add every row's values times its slopes."""
    starts, columns, values = rows
    constant = gradient.size - n_classes
    for i in range(starts.size - 1):
        first = i * n_classes
        for c in range(n_classes):
            gradient[constant + c] += slopes[first + c]
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            place = columns[k] * n_classes
            for c in range(n_classes):
                gradient[place + c] += values[k] * slopes[first + c]


@jit
def differentiate_classes(targets, importance, n_classes, margins, slopes, probabilities):
    """Write slopes by the margins, and probabilities."""
    for i in range(targets.size):
        first = i * n_classes
        largest = margins[first]
        for c in range(1, n_classes):
            largest = max(largest, margins[first + c])
        total = 0.0
        for c in range(n_classes):
            probabilities[first + c] = math.exp(margins[first + c] - largest)
            total += probabilities[first + c]
        for c in range(n_classes):
            probabilities[first + c] /= total
            slopes[first + c] = importance[i] * probabilities[first + c]
        slopes[first + int(targets[i])] -= importance[i]


@jit
def loss_of_classes(targets, importance, n_classes, margins):
    """Return the sum of log sum exp(m) - m_target over rows."""
    loss = 0.0
    for i in range(targets.size):
        first = i * n_classes
        largest = margins[first]
        for c in range(1, n_classes):
            largest = max(largest, margins[first + c])
        total = 0.0
        for c in range(n_classes):
            total += math.exp(margins[first + c] - largest)
        loss += importance[i] * (math.log(total) + largest - margins[first + int(targets[i])])
    return loss


@jit
def multiply_classes(rows, importance, probabilities, vector, constants, product):
    """Add the Hessian of the loss times a vector: p (z - p . z) of every row's margins z."""
    starts, columns, values = rows
    n_classes = constants.size
    constant, moved = product.size - n_classes, np.empty(n_classes)
    for i in range(starts.size - 1):
        first = i * n_classes
        moved[:] = constants
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            place = columns[k] * n_classes
            for c in range(n_classes):
                moved[c] += values[k] * vector[place + c]
        mean = 0.0
        for c in range(n_classes):
            mean += probabilities[first + c] * moved[c]
        for c in range(n_classes):
            moved[c] = importance[i] * probabilities[first + c] * (moved[c] - mean)
            product[constant + c] += moved[c]
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            place = columns[k] * n_classes
            for c in range(n_classes):
                product[place + c] += moved[c] * values[k]


@jit
def add_squares_of_classes(rows, importance, probabilities, n_classes, diagonal, sums):
    """Add p (1 - p) times squared values, and times values."""
    starts, columns, values = rows
    constant = diagonal.size - n_classes
    for i in range(starts.size - 1):
        for c in range(n_classes):
            p = probabilities[i * n_classes + c]
            curved = importance[i] * p * (1.0 - p)
            diagonal[constant + c] += curved
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                place, value = columns[k] * n_classes + c, curved * values[k]
                sums[place] += value
                diagonal[place] += value * values[k]
