"""Rows in another order, and rows in parts of bounded size."""

import numpy as np

from thresher.jit import jit


@jit
def copy(numbers, target):
    """Copy numbers (for short rows this is twice as fast as assigning a slice)."""
    for k in range(numbers.size):
        target[k] = numbers[k]


@jit
def gather(starts, columns, values, order):
    """Return the rows named by ``order``, one after the other."""
    new_starts = np.zeros(order.size + 1, np.int64)
    for i in range(order.size):
        row = order[i]
        new_starts[i + 1] = new_starts[i] + starts[row + 1] - starts[row]
    new_columns = np.empty(new_starts[order.size], np.int64)
    new_values = np.empty(new_starts[order.size])
    for i in range(order.size):
        first, last = starts[order[i]], starts[order[i] + 1]
        copy(columns[first:last], new_columns[new_starts[i] : new_starts[i + 1]])
        copy(values[first:last], new_values[new_starts[i] : new_starts[i + 1]])
    return new_starts, new_columns, new_values


@jit
def cut(rows, nonzeros, most_rows, most_nonzeros):
    """Return where to cut items into runs that exceed neither limit, the ends included.

    ``rows`` and ``nonzeros`` count what lies before each border between items, so both have one
    entry more than there are items. An item that exceeds a limit by itself is a run of its own.
    """
    borders = np.zeros(rows.size, np.int64)
    count, last = 1, 0
    for i in range(2, rows.size):
        full = rows[i] - rows[last] > most_rows or nonzeros[i] - nonzeros[last] > most_nonzeros
        if full:
            last = i - 1
            borders[count] = last
            count += 1
    if rows.size > 1:
        borders[count] = rows.size - 1
        count += 1
    return borders[:count]
