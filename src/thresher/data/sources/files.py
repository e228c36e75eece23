"""Text files, plain or compressed, or standard input, as blocks of whole lines.

Memory is bounded by the size of a block, or by the longest line where that is longer. A byte order
mark at a file's beginning is dropped; everything else of the bytes is the format's affair.

A file must stay as it was when it was first looked at: where its size or its time of change
differ at the end of a pass, the rows that were read belong to no file, and that is an error.
"""

import hashlib
import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple, cast

from thresher.data.errors import DataError
from thresher.data.sources.compression import Decompressed, codec_of
from thresher.data.sources.lines import STANDARD_INPUT, whole_lines

BLOCK = 4 << 20  # bytes
SAMPLE = 64 << 10  # bytes at either end of a file that go into its fingerprint
STDIN = "-"


class Block(NamedTuple):
    """Whole lines of one file; only a file's last line may lack its newline."""

    data: bytes
    file: str
    first_line: int  # the number of its first line in that file, from 1


class View(NamedTuple):
    """A block that lies in memory which the next one overwrites."""

    data: memoryview  # writable
    file: str
    first_line: int


class State(NamedTuple):
    """How a file looked. Pipes and terminals are not regular: nothing else is known of them."""

    regular: bool
    size: int
    changed: int  # nanoseconds


class TextFiles:
    """Files that are read one after the other; ``-`` is standard input."""

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        self.paths = [os.fspath(path) for path in paths]
        self._states: dict[str, State] = {}
        if not self.paths:
            raise DataError("There is no file to read: name one, or - for standard input.")
        if self.paths.count(STDIN) > 1:
            raise DataError("Standard input (-) is named twice, and can be read only once.")

    @property
    def rewinds(self) -> bool:
        """Return whether there can be a second pass: not through standard input and pipes."""
        return all(self._state(path).regular for path in self.paths)

    @property
    def size(self) -> int | None:
        """Return the bytes of all files as they lie on disk; None where a pipe is among them."""
        return sum(self._state(path).size for path in self.paths) if self.rewinds else None

    def check(self) -> None:
        """Raise what can be known to be wrong before anything is read."""
        for path in self.paths:
            state = self._state(path)
            if state.regular and state.size == 0:
                raise DataError("is empty: there is nothing to read", file=path)

    def fingerprint(self) -> str:
        """Return what tells these files from others: names, sizes, beginnings and ends."""
        digest = hashlib.sha256()
        for path in self.paths:
            digest.update(os.fsencode(os.path.basename(path)) + b"\0")
            if self._state(path).regular:
                digest.update(b"%d\0" % self._state(path).size)
                digest.update(_ends(path))
        return digest.hexdigest()

    def changed(self) -> list[int]:
        """Return when each file was changed last, in nanoseconds, as it was first looked at."""
        return [self._state(path).changed for path in self.paths]

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """Read all files from the first line on, about ``size`` bytes at a time."""
        for data, file, first_line in self.views(size):
            yield Block(bytes(data), file, first_line)

    def views(self, size: int = BLOCK) -> Iterator[View]:
        """Read as ``blocks`` does, without a copy of the bytes."""
        self.check()
        for path in self.paths:
            self._compare(path, "since it was first looked at")
            with _opened(path) as stream:
                for data, line in whole_lines(stream, size, name_of(path)):
                    yield View(data, name_of(path), line)
            self._compare(path, "while it was read")

    def _state(self, path: str) -> State:
        """Return how the file looked when it was first asked for."""
        if path not in self._states:
            self._states[path] = _look_at(path)
        return self._states[path]

    def _compare(self, path: str, when: str) -> None:
        """Raise if a file no longer looks as it did."""
        before, now = self._state(path), _look_at(path)
        if now.size != before.size:
            grew = "grew" if now.size > before.size else "shrank"
            raise DataError(
                f"{grew} from {before.size:,} to {now.size:,} bytes {when}. Read it when it is "
                "complete, or read a copy.",
                file=path,
            )
        if now != before:
            raise DataError(f"was changed {when}. Read it when nobody writes to it.", file=path)


def name_of(path: str) -> str:
    """Return what a file is called in messages."""
    return STANDARD_INPUT if path == STDIN else path


def _look_at(path: str) -> State:
    """Return how a file looks now, if it is one that can be read."""
    if path == STDIN:
        return State(False, 0, 0)
    with _in_words(path):
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError
        if not os.access(path, os.R_OK):
            raise PermissionError
    if not stat.S_ISREG(found.st_mode):
        return State(False, 0, 0)
    return State(True, found.st_size, found.st_mtime_ns)


@contextmanager
def _opened(path: str) -> Iterator[io.RawIOBase]:
    """Open a file, or standard input, and undo its compression."""
    if path == STDIN:
        if sys.stdin is None:  # as Python has it where a shell says <&-
            raise DataError("is closed: there is nothing to read", file=name_of(path))
        with _in_words(name_of(path)):
            yield cast(io.RawIOBase, sys.stdin.buffer)
        return
    codec = codec_of(path)
    with _in_words(path), open(path, "rb", buffering=0) as file:
        yield file if codec is None else Decompressed(cast(BinaryIO, file), codec, path)


@contextmanager
def _in_words(path: str) -> Iterator[None]:
    """Turn what the system says about a file into what a reader of the message can do."""
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
    with _in_words(path), open(path, "rb") as file:
        first = file.read(SAMPLE)
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - SAMPLE))
        return first + file.read(SAMPLE)
