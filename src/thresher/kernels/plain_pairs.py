"""Pairs made of plain digits, read eight digits at a time: nearly all of most files."""

import numpy as np

from thresher.jit import jit
from thresher.kernels.decimal import nearest
from thresher.kernels.marks import COLON, MARK, PAIRS, PLACE, POINT, SPACE, word_ends
from thresher.kernels.numerals import (
    LARGE_E,
    MINUS,
    SMALL_E,
    U0,
    digits_around_point,
    eight_bytes,
    read_short_exponent,
    sixteen_digits,
    twenty_four_bytes,
)

REACH = 80  # bytes from a pair's beginning within which everything is that could be loaded for it


@jit
def read_plain_pairs(data, marks, at, lowest, highest, indices, values):
    """Read pairs while they are plain: digits, a colon, digits with or without minus, point, e-00.

    Whatever else comes is left to others, also if it is wrong, and all pairs near the text's end.
    """
    place, mark, n = at[PLACE], at[MARK], at[PAIRS]
    while place < data.size - REACH:
        colon = np.int64(marks[mark])
        if data[colon] != COLON:
            break
        point = np.int64(marks[mark + 1])
        last = mark + 2 if data[point] == POINT else mark + 1
        stop = np.int64(marks[last])
        negative = data[colon + 1] == MINUS
        first = colon + 2 if negative else colon + 1
        scaled = data[stop - 4] == SMALL_E or data[stop - 4] == LARGE_E
        end = stop - 4 if scaled else stop
        point = min(point, end)
        size, before, behind = colon - place, point - first, max(end - point - 1, 0)
        if not _readable(size, before, behind):
            break
        index, stray = sixteen_digits(eight_bytes(data, place), eight_bytes(data, place + 8), size)
        parts = twenty_four_bytes(data, point + 1)
        digits, more = digits_around_point(eight_bytes(data, first), before, parts, behind)
        power, fine = read_short_exponent(data, stop) if scaled else (0, True)
        value = nearest(digits, power - behind)
        fine &= stray | more == U0 and lowest <= np.int64(index) <= highest
        if not fine or not word_ends(data[stop]) or not np.isfinite(value):
            break
        indices[n], values[n] = np.int64(index), -value if negative else value
        n += 1
        spaced = data[stop] == SPACE
        place, mark = (stop + 1, last + 1) if spaced else (stop, last)
    at[PLACE], at[MARK], at[PAIRS] = place, mark, n


@jit
def _readable(size, before, behind):
    """Return whether so many digits of an index, before and behind a point fit what reads them."""
    return 0 < size <= 16 and 0 <= before <= 8 and behind <= 24 and before + behind > 0
