"""What a model says of rows that still carry their own column numbers."""

import math

import numpy as np

from thresher.jit import jit

# Between these, a sum of squares has neither overflowed nor lost what counts.
SMALLEST, LARGEST = 1e-280, 1e300
ONE, TWO = np.uint64(1), np.uint64(2)


@jit
def careful_length(values):
    """Return the Euclidean norm of a row whose squares overflow or vanish."""
    largest = 0.0
    for k in range(values.size):
        largest = max(largest, abs(values[k]))
    total = 0.0
    for k in range(values.size):
        total += (values[k] / largest) ** 2
    return largest * math.sqrt(total) if largest > 0.0 else 0.0


@jit
def lengths(starts, values):
    """Return the Euclidean norm of every row."""
    norms = np.empty(starts.size - 1)
    for i in range(norms.size):
        row = values[starts[i] : starts[i + 1]]
        squares = 0.0
        for k in range(row.size):
            squares += row[k] * row[k]
        norms[i] = math.sqrt(squares)
        if not SMALLEST < squares < LARGEST:
            norms[i] = careful_length(row)
    return norms


@jit
def dots(starts, columns, values, weights, bias, found):
    """Write ``row . weights + bias`` for every row.

    Entries are summed in two sums by turns, so that one need not wait for the other. The order is
    written out: it is the same on every machine.
    """
    last = np.uint64(starts[0])
    for i in range(found.size):
        # unsigned, since Numba lets signed places count from an array's end
        k, last = last, np.uint64(starts[i + 1])
        dot = other_dot = 0.0
        while k + ONE < last:
            dot += weights[columns[k]] * values[k]
            other_dot += weights[columns[k + ONE]] * values[k + ONE]
            k += TWO
        if k < last:
            dot += weights[columns[k]] * values[k]
        found[i] = dot + other_dot + bias


@jit
def take_care(starts, values, squares, found):
    """Give rows whose squares overflow or vanish unit length."""
    strange = 0
    for i in range(found.size):  # a loop for itself, which looks at several at once
        strange += not SMALLEST < squares[i] < LARGEST
    for i in range(found.size if strange else 0):
        if not SMALLEST < squares[i] < LARGEST:
            length = careful_length(values[starts[i] : starts[i + 1]])
            found[i] *= 1.0 / length if length != 0.0 else 0.0
            squares[i] = 1.0


@jit
def unit_dots(starts, columns, values, weights, bias, found):
    """Write ``row . weights + bias`` for every row at unit length; sums are taken as in ``dots``.

    Lengths in the same loop: the row comes from memory, and that is what takes the time.
    """
    squares = np.empty(found.size)
    last = np.uint64(starts[0])
    for i in range(found.size):
        k, last = last, np.uint64(starts[i + 1])
        dot = other_dot = square = other_square = 0.0
        while k + ONE < last:
            dot += weights[columns[k]] * values[k]
            other_dot += weights[columns[k + ONE]] * values[k + ONE]
            square += values[k] * values[k]
            other_square += values[k + ONE] * values[k + ONE]
            k += TWO
        if k < last:
            dot += weights[columns[k]] * values[k]
            square += values[k] * values[k]
        found[i], squares[i] = dot + other_dot, square + other_square
    take_care(starts, values, squares, found)
    # without a branch, so that several roots are taken at once
    for i in range(found.size):
        found[i] = found[i] * (1.0 / math.sqrt(squares[i])) + bias


@jit
def margins(starts, columns, values, weights, bias, normalize):
    """Return ``row . weights + bias`` for every row, of unit length if that is wanted.

    Columns whose weight is 0 are multiplied all the same: what is not finite shows in the sum.
    """
    found = np.empty(starts.size - 1)
    if normalize:
        unit_dots(starts, columns, values, weights, bias, found)
    else:
        dots(starts, columns, values, weights, bias, found)
    return found


@jit
def ends_within(starts, columns, width):
    """Return whether the first and the last column of every row lie within the width."""
    strange, last = 0, np.uint64(starts[0])
    for i in range(starts.size - 1):
        # unsigned, since Numba lets signed places count from an array's end
        first, last = last, np.uint64(starts[i + 1])
        if first < last:
            strange += columns[first] >= width or columns[last - ONE] >= width
    return strange == 0


@jit
def all_finite(numbers):
    """Return whether all numbers are finite."""
    strange = 0
    for i in range(numbers.size):  # without a way out, so that several are looked at at once
        strange += not abs(numbers[i]) < np.inf
    return strange == 0


@jit
def chosen(margins, low, high):
    """Return the one of two whole numbers that each margin speaks for: ``high`` if positive."""
    found = np.empty(margins.size, np.int64)
    for i in range(margins.size):
        found[i] = high if margins[i] > 0.0 else low
    return found
