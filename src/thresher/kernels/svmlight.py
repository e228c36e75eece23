"""Rows of svmlight text, read from an array of bytes.

What is made of plain digits is read by ``plain_pairs``. The rest comes here: all of the grammar,
and what is wrong with text that is not in it. The grammar is in ``thresher.data.sources.svmlight``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels.decimal import HARD, MALFORMED
from thresher.kernels.marks import (
    COLON,
    LEAST,
    MARK,
    NEWLINE,
    NUL,
    PAIRS,
    PLACE,
    line_ends,
    seek_newline,
    skip_blanks,
    word_end,
    word_or_colon_end,
)
from thresher.kernels.numerals import read_decimal, read_whole
from thresher.kernels.plain_pairs import read_plain_pairs
from thresher.kernels.sorting import sort_pairs

# what a line can be: a row, a row with a HARD number, or text that is not in the grammar
ROW, HARD_NUMBER, BAD_LABEL, BAD_QID, BAD_PAIR, BAD_INDEX, BAD_VALUE, REPEATED, HOLE = range(9)

NO_INDEX = 2**63 - 1  # the least one, where there is none
QID = np.frombuffer(b"qid:", np.uint8).copy()


class Rules(NamedTuple):
    """Which indices are allowed, whether rows must have labels, whether to go on after a fault.

    Labels that are ignored may be anything without a colon.
    """

    lowest: int
    highest: int
    labelled: bool
    patient: bool
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
def read_lines(data, marks, rules, room):
    """Read lines, all or those before the first fault; count rows and faults, tell the least index.

    The last line, too, must end with a newline. A HARD number is no fault, but its row is left out:
    someone must write that number in fewer digits and call again.
    """
    labels, indices, values = room.labels, room.indices, room.values  # passed on without the rest
    at = np.array([0, 0, 0, NO_INDEX])
    rows = faults = line = 0
    room.starts[0] = 0
    while at[PLACE] < data.size:
        first = at[PAIRS]
        skip_blanks(data, at)
        empty = line_ends(data, at[PLACE])
        kind = ROW if empty else _read_row(data, marks, at, rules, labels[rows:], indices, values)
        if kind == ROW:
            kind = _leave_line(data, marks, at)
        if kind != ROW:
            room.faults[faults, 0] = kind
            room.faults[faults, 1], room.faults[faults, 2] = at[PLACE], line
            faults += 1
            if kind != HARD_NUMBER and not rules.patient:
                break
            at[PAIRS] = first
            seek_newline(data, marks, at)
        elif not empty:
            room.lines[rows] = line
            rows += 1
            room.starts[rows] = at[PAIRS]
        at[PLACE], at[MARK] = at[PLACE] + 1, at[MARK] + 1
        line += 1
    return rows, faults, at[LEAST]


@jit
def _read_row(data, marks, at, rules, labels, indices, values):
    """Read a row up to the end of its line or to a comment; return ROW or what is wrong."""
    first = at[PAIRS]
    kind, labels[0] = _read_label(data, marks, at, rules)
    if kind == ROW:
        kind = _pass_qid(data, marks, at)
    while kind == ROW:
        read_plain_pairs(data, marks, at, rules.lowest, rules.highest, indices, values)
        skip_blanks(data, at)
        if line_ends(data, at[PLACE]):
            break
        kind = _read_pair(data, marks, at, rules, indices, values)
    if kind == ROW and at[PAIRS] > first:
        kind = _settle(at, first, indices, values)
    return kind


@jit
def _read_label(data, marks, at, rules):
    """Read the number that a row begins with; where none is required, its absence is NaN."""
    mark = at[MARK]
    stop = word_or_colon_end(data, marks, at)
    if data[stop] == COLON:
        at[MARK] = mark
        return BAD_LABEL if rules.labelled else ROW, np.nan
    if rules.ignored and stop > at[PLACE]:
        at[PLACE] = stop
        return ROW, np.nan
    return _read_number(data, at, stop, BAD_LABEL)


@jit
def _pass_qid(data, marks, at):
    """Pass over the number of a query, which nobody uses, if there is one."""
    skip_blanks(data, at)
    for k in range(QID.size):
        if data[at[PLACE] + k] != QID[k]:
            return ROW
    stop = word_end(data, marks, at)
    _, fine = read_whole(data, at[PLACE] + QID.size, stop)
    if not fine:
        return BAD_QID
    at[PLACE] = stop
    return ROW


@jit
def _read_pair(data, marks, at, rules, indices, values):
    """Read any pair that the grammar has."""
    colon = word_or_colon_end(data, marks, at)
    if data[colon] != COLON:
        return BAD_PAIR
    index, fine = read_whole(data, at[PLACE], colon)
    if not fine or not rules.lowest <= index <= rules.highest:
        return BAD_INDEX
    at[PLACE], at[MARK] = colon + 1, at[MARK] + 1
    n = at[PAIRS]
    kind, values[n] = _read_number(data, at, word_end(data, marks, at), BAD_VALUE)
    indices[n] = index
    at[PAIRS] += 1
    return kind


@jit
def _read_number(data, at, stop, bad):
    """Read a finite decimal; return ROW or what is wrong, and the decimal."""
    fate, value = read_decimal(data, at[PLACE], stop)
    if fate == MALFORMED or not np.isfinite(value):
        return bad, value
    if fate == HARD:
        return HARD_NUMBER, value
    at[PLACE] = stop
    return ROW, value


@jit
def _settle(at, first, indices, values):
    """Bring a row's pairs into ascending order and leave out zeros; no index may repeat."""
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
    fine = True
    for k in range(first + 1, last):
        fine &= indices[k] > indices[k - 1]
    return fine


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
def _leave_line(data, marks, at):
    """Go to the newline; a comment on the way may hold anything but NUL, the sign of a hole."""
    while data[marks[at[MARK]]] != NEWLINE:
        if data[marks[at[MARK]]] == NUL:
            at[PLACE] = marks[at[MARK]]
            return HOLE
        at[MARK] += 1
    at[PLACE] = marks[at[MARK]]
    return ROW
