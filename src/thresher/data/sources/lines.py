"""A stream of bytes, cut after newlines, in memory that is used again."""

import io
from collections.abc import Iterator

import numpy as np

from thresher.data.errors import DataError
from thresher.data.sources.compression import CODECS, looks_compressed

LONGEST_LINE = 1 << 30  # bytes
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NEWLINE = 10
STANDARD_INPUT = "standard input"  # as messages call it
HEAD = 16  # bytes that tell what a stream is


def whole_lines(stream: io.RawIOBase, size: int, name: str) -> Iterator[tuple[memoryview, int]]:
    """Yield lines of a stream, as many as ``size`` bytes hold, and the number of their first.

    The next ones overwrite them. A line longer than ``size`` makes the memory grow. Only the last
    may lack its newline. A byte order mark is dropped.
    """
    head = _head(stream, name)
    room = bytearray(max(size, len(head)))
    room[: len(head)] = head
    kept, searched, line = len(head), 0, 1
    while True:
        filled = _fill(stream, room, kept)
        at_end = filled < len(room)
        stop = filled if at_end else room.rfind(b"\n", searched, filled) + 1
        if stop:
            yield memoryview(room)[:stop], line
        if at_end:
            return
        line += _count_newlines(room, stop)
        room, kept = _carry(room, stop, name, line)
        searched = kept


def _head(stream: io.RawIOBase, name: str) -> bytes:
    """Return the first bytes of a stream, if it is text and there are any."""
    room = bytearray(HEAD)
    head = bytes(room[: _fill(stream, room, 0)])
    if not head.removeprefix(BYTE_ORDER_MARK):
        raise DataError("is empty: there is nothing to read", file=name)
    ending = looks_compressed(head)
    if ending is not None:
        raise DataError(_unpacking(ending, name), file=name)
    return head.removeprefix(BYTE_ORDER_MARK)


def _unpacking(ending: str, name: str) -> str:
    """Say that a stream is compressed, and what to do about it."""
    if name == STANDARD_INPUT:
        unpack = f"{CODECS[ending].unpack} FILE{ending} | thresher ... -"
        return f"is compressed, and no name says how: unpack it on the way, {unpack}"
    return (
        f"is compressed, though its name does not say so: rename it to end in {ending}, or unpack "
        "it first"
    )


def _fill(stream: io.RawIOBase, room: bytearray, kept: int) -> int:
    """Read behind the bytes that are kept until the room is full or the stream at its end."""
    view = memoryview(room)
    while kept < len(room):
        count = stream.readinto(view[kept:])
        if not count:
            break
        kept += count
    return kept


def _count_newlines(room: bytearray, stop: int) -> int:
    """Return how many lines end before ``stop``; NumPy counts five times as fast as bytearray."""
    return int(np.count_nonzero(np.frombuffer(room, np.uint8, stop) == NEWLINE)) if stop else 0


def _carry(room: bytearray, stop: int, name: str, line: int) -> tuple[bytearray, int]:
    """Move the line that has begun to the front, into more room where it fills all there is."""
    kept = len(room) - stop
    if stop > 0:
        room[:kept] = room[stop:]
        return room, kept
    if kept >= LONGEST_LINE:
        raise DataError(
            f"this line is longer than {LONGEST_LINE:,} bytes. Is the file text, with one row "
            "per line?",
            file=name,
            line=line,
        )
    return room + bytearray(min(kept, LONGEST_LINE - kept)), kept
