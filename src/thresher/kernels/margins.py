"""What a model says of rows that still carry their own column numbers."""

import math

import numpy as np

from thresher.jit import jit

# Between these, a sum of squares has neither overflowed nor lost what counts.
SMALLEST, LARGEST = 1e-280, 1e300


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
def margins(starts, columns, values, place_of, weights, bias, normalize):
    """Return ``row . weights + bias`` for every row, of unit length if that is wanted.

    ``place_of`` says where the weight of a column stands; columns without one share place 0, where
    there is a 0. They are multiplied all the same: what is not finite shows in the sum.
    """
    found, squares = np.empty(starts.size - 1), np.empty(starts.size - 1)
    for i in range(found.size):
        first, last = starts[i], starts[i + 1]
        mine, row = columns[first:last], values[first:last]
        dot = total = 0.0
        # one loop, not two helpers: the row comes from memory, and that is what takes the time
        for k in range(row.size):
            dot += weights[place_of[mine[k]]] * row[k]
            total += row[k] * row[k]
        found[i], squares[i] = dot, total
    if normalize:
        for i in range(found.size):
            length = math.sqrt(squares[i])
            if not SMALLEST < squares[i] < LARGEST:
                length = careful_length(values[starts[i] : starts[i + 1]])
            found[i] *= 1.0 / length if length != 0.0 else 0.0
    found += bias
    return found
