"""Rows of svmlight text, read from an array of bytes.

The places of all delimiters are listed first, so that the length of every run of digits is
known before it is read. Pairs of plain digits are read eight digits at a time: nearly all of most
files. The rest of the grammar, and what is wrong with text that is not in it, takes the slow way.
The grammar is in ``thresher.formats.svmlight``.

Readers keep their position in ``at``: a PLACE in the text, the NEXT delimiter from there on, the
number of PAIRS read so far, and the LEAST index among them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.formats.decimals import (
    HARD,
    LARGE_E,
    MALFORMED,
    MINUS,
    POINT,
    SMALL_E,
    U0,
    U1,
    digits_around_point,
    eight_bytes,
    nearest,
    read_decimal,
    read_short_exponent,
    read_whole,
    sixteen_digits,
    twenty_four_bytes,
)
from thresher.jit import jit

NUL, TAB, NEWLINE, RETURN, SPACE, HASH, COLON = (int(byte) for byte in b"\0\t\n\r #:")
QID = np.frombuffer(b"qid:", np.uint8).copy()
PLACE, NEXT, PAIRS, LEAST = range(4)
SPARE = 8  # entries of ``delimiters`` beyond one for every byte
REACH = 80  # bytes from a pair's beginning within which everything is that could be loaded for it
NO_INDEX = 2**63 - 1  # the least one, where there is none

# what a line can be: a row, a row with a HARD number, or text that is not in the grammar
ROW, HARD_NUMBER, BAD_LABEL, BAD_QID, BAD_PAIR, BAD_INDEX, BAD_VALUE, REPEATED, HOLE = range(9)


class Rules(NamedTuple):
    """Which indices are allowed, whether rows must have labels, whether to skip lines with faults.

    Labels that are ignored may be anything without a colon.
    """

    lowest: int
    highest: int
    labelled: bool
    skip: bool
    ignored: bool = False


class Room(NamedTuple):
    """Where rows are written."""

    labels: NDArray[np.float64]
    lines: NDArray[np.int64]  # of each row, from 0
    starts: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: NDArray[np.float64]
    faults: NDArray[np.int64]  # kind, place and line of each


@jit
def flag_delimiters(data, flags):
    """Note for every byte whether it is a delimiter."""
    for p in range(data.size):
        byte = data[p]
        flags[p] = (byte <= SPACE) | (byte == HASH) | (byte == POINT) | (byte == COLON)


@jit
def list_delimiters(flags, delimiters):
    """Write down the places of all delimiters; return how many there are.

    Every place is written down, and counted if it is a delimiter: there is no branch to predict.
    """
    n = U0
    eights = flags.size // 8 * 8
    for p in range(0, eights, 8):
        for k in range(8):
            place = np.uint64(p + k)
            delimiters[n] = place
            n += np.uint64(flags[place])
    for p in range(eights, flags.size):
        delimiters[n] = p
        n += np.uint64(flags[p])
    # a look beyond the end finds the last newline
    delimiters[n] = delimiters[n + U1] = flags.size - 1
    return np.int64(n)


@jit
def skip_blanks(data, at):
    """Go to the next byte that is neither space nor tab."""
    while data[at[PLACE]] == SPACE or data[at[PLACE]] == TAB:
        at[PLACE] += 1
        at[NEXT] += 1


@jit
def seek_newline(data, delimiters, at):
    """Go to the end of the line."""
    while data[delimiters[at[NEXT]]] != NEWLINE:
        at[NEXT] += 1
    at[PLACE] = delimiters[at[NEXT]]


@jit
def line_ends(data, place):
    """Return whether nothing more comes in this line but a comment."""
    byte = data[place]
    return byte in (NEWLINE, HASH) or (byte == RETURN and data[place + 1] == NEWLINE)


@jit
def word_ends(byte):
    """Return whether this byte ends a word."""
    return byte in (SPACE, NEWLINE, TAB, RETURN, HASH)


@jit
def word_end(data, delimiters, at):
    """Go to the delimiter that ends what begins here, and return its place."""
    while not word_ends(data[delimiters[at[NEXT]]]):
        at[NEXT] += 1
    return np.int64(delimiters[at[NEXT]])


@jit
def word_or_colon_end(data, delimiters, at):
    """Do the same, but let a colon end it too."""
    while not word_ends(data[delimiters[at[NEXT]]]) and data[delimiters[at[NEXT]]] != COLON:
        at[NEXT] += 1
    return np.int64(delimiters[at[NEXT]])


@jit
def read_plain_pairs(data, delimiters, at, lowest, highest, indices, values):
    """Read pairs while they are plain: digits, a colon, digits with or without minus, point, e-00.

    Everything else is left to ``_read_pair``, and so are all pairs near the text's end.
    """
    place, delimiter, n = at[PLACE], at[NEXT], at[PAIRS]
    while place < data.size - REACH:
        colon = np.int64(delimiters[delimiter])
        if data[colon] != COLON:
            break
        point = np.int64(delimiters[delimiter + 1])
        last = delimiter + 2 if data[point] == POINT else delimiter + 1
        stop = np.int64(delimiters[last])
        negative = data[colon + 1] == MINUS
        first = colon + 2 if negative else colon + 1
        scaled = data[stop - 4] == SMALL_E or data[stop - 4] == LARGE_E
        end = stop - 4 if scaled else stop
        point = min(point, end)
        size, before, after = colon - place, point - first, max(end - point - 1, 0)
        if not _readable(size, before, after):
            break
        index, stray = sixteen_digits(eight_bytes(data, place), eight_bytes(data, place + 8), size)
        parts = twenty_four_bytes(data, point + 1)
        digits, more = digits_around_point(eight_bytes(data, first), before, parts, after)
        power, valid = read_short_exponent(data, stop) if scaled else (0, True)
        value = nearest(digits, power - after)
        valid &= stray | more == U0 and lowest <= np.int64(index) <= highest
        if not valid or not word_ends(data[stop]) or not np.isfinite(value):
            break
        indices[n], values[n] = np.int64(index), -value if negative else value
        n += 1
        spaced = data[stop] == SPACE
        place, delimiter = (stop + 1, last + 1) if spaced else (stop, last)
    at[PLACE], at[NEXT], at[PAIRS] = place, delimiter, n


@jit
def _readable(size, before, after):
    """Return whether the digits of an index, and those around a point, are few enough."""
    return 0 < size <= 16 and 0 <= before <= 8 and after <= 24 and before + after > 0


@jit
def read_lines(data, delimiters, rules, room):
    """Read lines, all or those before the first fault; return numbers of rows, faults, least index.

    The last line, too, must end with a newline. A HARD number is no fault, but its row is left out:
    the caller must write that number in fewer digits and call again.
    """
    labels, indices, values = room.labels, room.indices, room.values  # all that the helpers need
    at = np.array([0, 0, 0, NO_INDEX])
    rows = faults = line = 0
    room.starts[0] = 0
    while at[PLACE] < data.size:
        first = at[PAIRS]
        skip_blanks(data, at)
        empty = line_ends(data, at[PLACE])
        kind = (
            ROW if empty else _read_row(data, delimiters, at, rules, labels[rows:], indices, values)
        )
        if kind == ROW:
            kind = _leave_line(data, delimiters, at)
        if kind != ROW:
            room.faults[faults, 0] = kind
            room.faults[faults, 1], room.faults[faults, 2] = at[PLACE], line
            faults += 1
            if kind != HARD_NUMBER and not rules.skip:
                break
            at[PAIRS] = first
            seek_newline(data, delimiters, at)
        elif not empty:
            room.lines[rows] = line
            rows += 1
            room.starts[rows] = at[PAIRS]
        at[PLACE], at[NEXT] = at[PLACE] + 1, at[NEXT] + 1
        line += 1
    return rows, faults, at[LEAST]


@jit
def _read_row(data, delimiters, at, rules, labels, indices, values):
    """Read a row up to the end of its line or to a comment; return ROW or what is wrong."""
    first = at[PAIRS]
    kind, labels[0] = _read_label(data, delimiters, at, rules)
    if kind == ROW:
        kind = _pass_qid(data, delimiters, at)
    while kind == ROW:
        read_plain_pairs(data, delimiters, at, rules.lowest, rules.highest, indices, values)
        skip_blanks(data, at)
        if line_ends(data, at[PLACE]):
            break
        kind = _read_pair(data, delimiters, at, rules, indices, values)
    if kind == ROW and at[PAIRS] > first:
        kind = _settle(at, first, indices, values)
    return kind


@jit
def _read_label(data, delimiters, at, rules):
    """Read the number that a row begins with; where none is required, its absence is NaN."""
    delimiter = at[NEXT]
    stop = word_or_colon_end(data, delimiters, at)
    if data[stop] == COLON:
        at[NEXT] = delimiter
        return BAD_LABEL if rules.labelled else ROW, np.nan
    if rules.ignored and stop > at[PLACE]:
        at[PLACE] = stop
        return ROW, np.nan
    return _read_number(data, at, stop, BAD_LABEL)


@jit
def _pass_qid(data, delimiters, at):
    """Pass over the number of a query, which is not used, if there is one."""
    skip_blanks(data, at)
    for k in range(QID.size):
        if data[at[PLACE] + k] != QID[k]:
            return ROW
    stop = word_end(data, delimiters, at)
    _, valid = read_whole(data, at[PLACE] + QID.size, stop)
    if not valid:
        return BAD_QID
    at[PLACE] = stop
    return ROW


@jit
def _read_pair(data, delimiters, at, rules, indices, values):
    """Read any pair that the grammar has."""
    colon = word_or_colon_end(data, delimiters, at)
    if data[colon] != COLON:
        return BAD_PAIR
    index, valid = read_whole(data, at[PLACE], colon)
    if not valid or not rules.lowest <= index <= rules.highest:
        return BAD_INDEX
    at[PLACE], at[NEXT] = colon + 1, at[NEXT] + 1
    n = at[PAIRS]
    kind, values[n] = _read_number(data, at, word_end(data, delimiters, at), BAD_VALUE)
    indices[n] = index
    at[PAIRS] += 1
    return kind


@jit
def _read_number(data, at, stop, bad):
    """Read a finite decimal; return ROW or what is wrong, and the decimal."""
    outcome, value = read_decimal(data, at[PLACE], stop)
    if outcome == MALFORMED or not np.isfinite(value):
        return bad, value
    if outcome == HARD:
        return HARD_NUMBER, value
    at[PLACE] = stop
    return ROW, value


@jit
def _settle(at, first, indices, values):
    """Sort a row's pairs and leave out zeros; no index may repeat."""
    last = at[PAIRS]
    if not _ascends(indices, first, last):
        sort_pairs(indices[first:last], values[first:last])
        if not _ascends(indices, first, last):
            return REPEATED
    at[LEAST] = min(at[LEAST], indices[first])
    if _has_zeros(values, first, last):
        at[PAIRS] = _leave_out_zeros(indices, values, first, last)
    return ROW


@jit
def _ascends(indices, first, last):
    valid = True
    for k in range(first + 1, last):
        valid &= indices[k] > indices[k - 1]
    return valid


@jit
def _has_zeros(values, first, last):
    found = False
    for k in range(first, last):
        found |= values[k] == 0.0
    return found


@jit
def _leave_out_zeros(indices, values, first, last):
    """Move pairs together over those that are 0; return where they end."""
    n = first
    for k in range(first, last):
        indices[n], values[n] = indices[k], values[k]
        n += values[k] != 0.0
    return n


@jit
def _leave_line(data, delimiters, at):
    """Go to the newline; a comment may hold anything but NUL, the sign of a hole in the file."""
    while data[delimiters[at[NEXT]]] != NEWLINE:
        if data[delimiters[at[NEXT]]] == NUL:
            at[PLACE] = delimiters[at[NEXT]]
            return HOLE
        at[NEXT] += 1
    at[PLACE] = delimiters[at[NEXT]]
    return ROW


@jit
def sort_pairs(indices, values):
    """Sort by index (heapsort: in place, and never slow)."""
    for root in range(indices.size // 2 - 1, -1, -1):
        _sink(indices, values, root, indices.size)
    for last in range(indices.size - 1, 0, -1):
        _exchange(indices, values, 0, last)
        _sink(indices, values, 0, last)


@jit
def _sink(indices, values, root, stop):
    """Let a pair sink into the heap of those before ``stop`` until none below is larger."""
    child = 2 * root + 1
    while child < stop:
        if child + 1 < stop and indices[child] < indices[child + 1]:
            child += 1
        if indices[root] >= indices[child]:
            return
        _exchange(indices, values, root, child)
        root, child = child, 2 * child + 1


@jit
def _exchange(indices, values, one, other):
    indices[one], indices[other] = indices[other], indices[one]
    values[one], values[other] = values[other], values[one]
