"""Where a command's output goes: standard output, or a file that is there in full or not at all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from thresher.cli.places import STANDARD, is_device
from thresher.files.atomic import replacing
from thresher.files.errors import FileError


@contextmanager
def writing(path: str | None) -> Iterator[BinaryIO]:
    """Give a stream of bytes; what goes wrong before the end leaves no file behind."""
    if path is None or path == STANDARD:
        if sys.stdout is None:  # as Python has it where a shell says >&-
            raise FileError("Standard output is closed: name a file with -o.")
        stdout = sys.stdout.buffer
        yield stdout
        stdout.flush()
    elif is_device(path):
        with open(path, "wb") as stream:
            yield stream
    else:
        with replacing(path) as stream:
            yield stream


def to_terminal(path: str | None) -> bool:
    """Return whether the output appears before somebody's eyes."""
    return path in (None, STANDARD) and sys.stdout is not None and sys.stdout.isatty()
