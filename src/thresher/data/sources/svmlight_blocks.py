"""Blocks of svmlight text made into rows."""

import re
from typing import NamedTuple

import numpy as np

from thresher.kernels.marks import NEWLINE, SPARE, flag_marks, list_marks
from thresher.kernels.svmlight import HARD_NUMBER, Room, Rules, read_lines

# a number of twenty or more digits that is a label or a value
LONG = re.compile(rb"(?<![^\s:])[+-]?(?=[\d.]{20})\d*+\.?+\d*+(?:[eE][+-]?\d++)?+(?=[\s#])")


class Rows(NamedTuple):
    """What a block of text says."""

    text: np.ndarray
    labels: np.ndarray
    lines: np.ndarray  # in which each row stands, from 0
    starts: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    least: int  # of the indices, also where the value is 0
    faults: np.ndarray  # kind, place and line of each


class BlockReader:
    """Reads blocks, one after the other, with the same memory for their marks."""

    def __init__(self) -> None:
        self.flags = np.empty(0, np.uint8)
        self.marks = np.empty(0, np.int32)

    def read(self, data: memoryview, rules: Rules) -> Rows:
        """Return the rows of a block; numbers may be found written with fewer digits afterwards."""
        text = _text(data)
        n_lines = int(np.count_nonzero(text == NEWLINE))
        while True:
            room = _room(n_lines, self._mark(text))
            n_rows, n_faults, least = read_lines(text, self.marks, rules, room)
            faults = room.faults[:n_faults]
            hard = faults[faults[:, 0] == HARD_NUMBER, 1]
            if not hard.size:
                break
            _shorten(text, hard.tolist())
        n = room.starts[n_rows]
        return Rows(
            text,
            room.labels[:n_rows],
            room.lines[:n_rows],
            room.starts[: n_rows + 1],
            room.indices[:n],
            room.values[:n],
            int(least),
            faults,
        )

    def _mark(self, text: np.ndarray) -> int:
        """Find the marks of a text and return how many there are."""
        if self.flags.size < text.size:
            self.flags = np.empty(text.size, np.uint8)
            self.marks = np.empty(text.size + SPARE, np.int32)
        flags = self.flags[: text.size]
        flag_marks(text, flags)
        return list_marks(flags, self.marks)


def _text(data: memoryview) -> np.ndarray:
    """Return bytes as the kernels want them: writable, and with a newline at the end."""
    text = np.frombuffer(data, np.uint8)
    return text if text[-1] == NEWLINE else np.append(text, np.uint8(NEWLINE))


def _room(n_lines: int, n_marks: int) -> Room:
    """Return memory for all that could be there: every pair has a colon and an end."""
    return Room(
        labels=np.empty(n_lines),
        lines=np.empty(n_lines, np.int64),
        starts=np.empty(n_lines + 1, np.int64),
        indices=np.empty(n_marks // 2 + 1, np.int64),
        values=np.empty(n_marks // 2 + 1),
        faults=np.empty((n_lines, 3), np.int64),
    )


def _shorten(text: np.ndarray, places: list[int]) -> None:
    """Write all long numbers from each place to the end of its line in at most 17 digits.

    Python reads them; seventeen digits stand for the same double, and never take more bytes.
    """
    data = text.tobytes()
    for place in places:
        for found in LONG.finditer(data, place, data.index(b"\n", place) + 1):
            first, last = found.span()
            short = _in_17_digits(float(found[0])).zfill(last - first)
            text[first:last] = np.frombuffer(short.encode(), np.uint8)


def _in_17_digits(number: float) -> str:
    """Return a number as digits and an exponent, without a point."""
    if not np.isfinite(number):
        return "-1e999" if number < 0 else "1e999"
    digits, exponent = f"{number:.16e}".split("e")
    return f"{digits.replace('.', '')}e{int(exponent) - 16}"
