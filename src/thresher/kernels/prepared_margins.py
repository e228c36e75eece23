"""What a model says of rows whose columns are brought around zero and to one unit beforehand.

Nothing is written out: with offsets m and scales f, the squared length of a row is the sum of
f^2 m^2 over all columns, which is that of a row without values, and of f^2 x^2 - 2 f^2 m x over
its values. There are two ways to it, for rows in which many columns are prepared and for rows in
which hardly any is; both return margins at unit length, and a mask of those that cannot be had
this way, if there are such: too many digits were lost where squares are not above ``least``.
"""

import math

import numpy as np

from thresher.jit import jit
from thresher.kernels.lanes import lane, load_half, plus, scaled
from thresher.kernels.margins import LARGEST, ONE, SMALLEST, TWO

LANES = np.uint64(3)  # of a column: its weight, -2 f^2 m and f^2


@jit
def brought_to_unit_length(found, squares, least, bias):
    """Divide sums by lengths, add the bias; return which lengths are not to be trusted."""
    strange = 0
    for i in range(found.size):  # loops for themselves, which look at several at once
        strange += not (SMALLEST < squares[i] < LARGEST and squares[i] > least)
    rows = np.zeros(found.size if strange else 0, np.bool_)
    for i in range(rows.size):
        rows[i] = not (SMALLEST < squares[i] < LARGEST and squares[i] > least)
        squares[i] = 1.0 if rows[i] else squares[i]
    for i in range(found.size):
        found[i] = found[i] * (1.0 / math.sqrt(squares[i])) + bias
    return rows


@jit
def often_prepared(starts, columns, values, table, dot, square, least, bias):
    """Return margins; ``table`` has three numbers for every column, and one more at its end.

    ``dot`` and ``square`` are of a row without values. Four numbers are read and multiplied at
    once, of which the last belongs to the next column, and is of no use.
    """
    found, squares = np.empty(starts.size - 1), np.empty(starts.size - 1)
    nothing = load_half(np.zeros(4), 0)
    last = np.uint64(starts[0])
    for i in range(found.size):
        k, last = last, np.uint64(starts[i + 1])
        once = other_once = twice = other_twice = nothing
        while k + ONE < last:
            x, y = values[k], values[k + ONE]
            one = scaled(load_half(table, columns[k] * LANES), x)
            other = scaled(load_half(table, columns[k + ONE] * LANES), y)
            once, other_once = plus(once, one), plus(other_once, other)
            twice, other_twice = plus(twice, scaled(one, x)), plus(other_twice, scaled(other, y))
            k += TWO
        if k < last:
            one = scaled(load_half(table, columns[k] * LANES), values[k])
            once, twice = plus(once, one), plus(twice, scaled(one, values[k]))
        once, twice = plus(once, other_once), plus(twice, other_twice)
        found[i] = dot + lane(once, 0)
        squares[i] = square + (lane(once, 1) + lane(twice, 2))
    return found, brought_to_unit_length(found, squares, least, bias)


@jit
def seldom_prepared(
    starts, columns, places, values, weights, kinds, table, dot, square, least, bias
):
    """Return margins; columns are of few kinds, and most of the first, which is not prepared.

    ``places`` are where the weights of columns stand. ``table`` has f^2 and 2 f^2 m of each kind.
    """
    found, squares = np.empty(starts.size - 1), np.empty(starts.size - 1)
    last = np.uint64(starts[0])
    for i in range(found.size):
        k, last = last, np.uint64(starts[i + 1])
        mine, length = dot, square
        other_mine = other_length = 0.0
        while k + ONE < last:
            x, y = values[k], values[k + ONE]
            mine += weights[places[k]] * x
            other_mine += weights[places[k + ONE]] * y
            kind, other = kinds[columns[k]], kinds[columns[k + ONE]]
            if (kind | other) == 0:
                length += x * x
                other_length += y * y
            else:
                length += (table[kind, 0] * x - table[kind, 1]) * x
                other_length += (table[other, 0] * y - table[other, 1]) * y
            k += TWO
        if k < last:
            x, kind = values[k], kinds[columns[k]]
            mine += weights[places[k]] * x
            length += (table[kind, 0] * x - table[kind, 1]) * x
        found[i], squares[i] = mine + other_mine, length + other_length
    return found, brought_to_unit_length(found, squares, least, bias)
