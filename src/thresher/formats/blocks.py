"""Text files, plain or compressed, or standard input, as blocks of whole lines.

Memory is bounded by the size of a block, or by the longest line where that is longer; a line longer
than the limit is an error. A byte order mark at a file's beginning is dropped; the format
interprets everything else.

A file must stay as it was when it was first looked at: where its size or its time of change
differ at the end of a pass, the rows that were read belong to no file, and that is an error.
"""

import hashlib
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from thresher.formats.compression import CODECS, Decompressed, looks_compressed
from thresher.formats.errors import DataError
from thresher.formats.protocol import LINE_BYTES

BLOCK = 4 << 20  # bytes
SAMPLE = 64 << 10  # bytes at either end of a file that go into its fingerprint
STDIN, STANDARD_INPUT = "-", "standard input"  # as paths and as messages call it
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NEWLINE = 10
HEAD = 16  # bytes by which compressed streams are recognized


class Block(NamedTuple):
    """Whole lines of one file, in memory which the next block overwrites.

    Only a file's last line may lack its newline.
    """

    data: memoryview  # writable
    file: str
    first_line: int  # the number of its first line in that file, from 1


class Readable(Protocol):
    """A stream of bytes."""

    def readinto(self, room: Any, /) -> int | None:
        """Fill as much of the room as is at hand; 0 is the end."""
        ...


class State(NamedTuple):
    """How a file looked. Pipes and terminals are not regular: nothing else is known of them."""

    regular: bool
    size: int
    changed: int  # nanoseconds


class InputFiles:
    """Files that are read one after the other; ``-`` is standard input.

    What can be known to be wrong before anything is read is raised at once.
    """

    def __init__(
        self, paths: Sequence[str | os.PathLike[str]], max_line_bytes: int = LINE_BYTES
    ) -> None:
        self.paths = [os.fspath(path) for path in paths]
        self.max_line_bytes = max_line_bytes
        if not self.paths:
            raise DataError("There is no file to read: name one, or - for standard input.")
        if self.paths.count(STDIN) > 1:
            raise DataError("Standard input (-) is named twice, and can be read only once.")
        self.states = {path: _look_at(path) for path in self.paths}  # at first
        for path, state in self.states.items():
            if state.regular and state.size == 0:
                raise DataError("is empty: there is nothing to read", file=path)

    @property
    def rewinds(self) -> bool:
        """Return whether there can be a second pass: not through standard input and pipes."""
        return all(state.regular for state in self.states.values())

    @property
    def size(self) -> int | None:
        """Return the bytes of all files as they lie on disk; None where a pipe is among them."""
        return sum(self.states[path].size for path in self.paths) if self.rewinds else None

    def fingerprint(self) -> str:
        """Return what distinguishes these files: names, sizes, beginnings and ends."""
        digest = hashlib.sha256()
        for path in self.paths:
            digest.update(os.fsencode(os.path.basename(path)) + b"\0")
            if self.states[path].regular:
                digest.update(b"%d\0" % self.states[path].size)
                digest.update(_ends(path))
        return digest.hexdigest()

    def changed(self) -> list[int]:
        """Return when each file was changed last, in nanoseconds, as it was first looked at."""
        return [self.states[path].changed for path in self.paths]

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """Read all files from the first line on, about ``size`` bytes at a time."""
        for path in self.paths:
            yield from self.blocks_of(path, size)

    def blocks_of(self, path: str, size: int = BLOCK) -> Iterator[Block]:
        """Read one of the files."""
        self.compare(path, "since it was first looked at")
        with _opened(path) as stream:
            for data, line in whole_lines(stream, size, name_of(path), self.max_line_bytes):
                yield Block(data, name_of(path), line)
        self.compare(path, "while it was read")

    def compare(self, path: str, when: str) -> None:
        """Raise if a file no longer looks as it did."""
        before, now = self.states[path], _look_at(path)
        if now.size != before.size:
            grew = "grew" if now.size > before.size else "shrank"
            raise DataError(
                f"{grew} from {before.size:,} to {now.size:,} bytes {when}. Read it when it is "
                "complete, or read a copy.",
                file=path,
            )
        if now != before:
            raise DataError(
                f"was changed {when}. Read it when no program writes to it, or read a copy.",
                file=path,
            )


def name_of(path: str) -> str:
    """Return what a file is called in messages."""
    return STANDARD_INPUT if path == STDIN else path


def _look_at(path: str) -> State:
    """Return how a file looks now, if it is one that can be read."""
    if path == STDIN:
        return State(False, 0, 0)
    with explained(path):
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError
        if not os.access(path, os.R_OK):
            raise PermissionError
    if not stat.S_ISREG(found.st_mode):
        return State(False, 0, 0)
    return State(True, found.st_size, found.st_mtime_ns)


@contextmanager
def _opened(path: str) -> Iterator[Readable]:
    """Open a file, or standard input, and undo its compression."""
    if path == STDIN:
        if sys.stdin is None:  # the shell closed it (<&-)
            raise DataError("is closed: there is nothing to read", file=name_of(path))
        with explained(name_of(path)):
            yield cast(Readable, sys.stdin.buffer)
        return
    codec = CODECS.get(os.path.splitext(path)[1].lower())
    with explained(path), open(path, "rb", buffering=0) as file:
        yield file if codec is None else Decompressed(file, codec, path)


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn the system's errors about a file into what a reader of the message can do."""
    try:
        yield
    except FileNotFoundError:
        raise DataError("there is no such file", file=path) from None
    except IsADirectoryError:
        raise DataError(
            f"is a directory: name the files in it, for instance {os.path.join(path, '*')}",
            file=path,
        ) from None
    except PermissionError:
        raise DataError("may not be read: permission denied", file=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=path) from error


def _ends(path: str) -> bytes:
    """Return the beginning and the end of a file."""
    with explained(path), open(path, "rb") as file:
        first = file.read(SAMPLE)
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - SAMPLE))
        return first + file.read(SAMPLE)


def whole_lines(
    stream: Readable, size: int, name: str, most: int = LINE_BYTES
) -> Iterator[tuple[memoryview, int]]:
    """Yield lines of a stream, as many as ``size`` bytes hold, and the number of their first.

    The next ones overwrite them. A line longer than ``size`` makes the memory grow, one longer than
    ``most`` is an error. Only the last may lack its newline. A byte order mark is dropped.
    """
    head = _head(stream, name)
    room = bytearray(max(min(size, most + 1), len(head)))
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
        room, kept = _carry(room, stop, name, line, most)
        searched = kept


def _head(stream: Readable, name: str) -> bytes:
    """Return the first bytes of a stream, if it is text and there are any."""
    room = bytearray(HEAD)
    head = bytes(room[: _fill(stream, room, 0)])
    if not head.removeprefix(BYTE_ORDER_MARK):
        raise DataError("is empty: there is nothing to read", file=name)
    ending = looks_compressed(head)
    if ending is not None:
        raise DataError(_advice_to_unpack(ending, name), file=name)
    return head.removeprefix(BYTE_ORDER_MARK)


def _advice_to_unpack(ending: str, name: str) -> str:
    """Return that a stream is compressed, and what to do about it."""
    if name == STANDARD_INPUT:
        unpack = f"{CODECS[ending].command} FILE{ending} | thresher ... -"
        return f"is compressed, and has no name that shows how. Unpack it first: {unpack}"
    return (
        f"is compressed, and its name does not show it: rename it to end in {ending}, or unpack "
        "it first"
    )


def _fill(stream: Readable, room: bytearray, kept: int) -> int:
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


def _carry(room: bytearray, stop: int, name: str, line: int, most: int) -> tuple[bytearray, int]:
    """Move the line that has begun to the front, into more room where it fills all there is."""
    kept = len(room) - stop
    if stop > 0:
        room[:kept] = room[stop:]
        return room, kept
    if kept > most:
        raise DataError(
            f"this line is longer than {most:,} bytes. If the file is text with one row per line, "
            "allow for longer ones with max_line_bytes (--max-line-bytes); if not, its format is "
            "another one (format, --format).",
            file=name,
            line=line,
        )
    return room + bytearray(min(kept, most + 1 - kept)), kept
