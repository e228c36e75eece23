"""Where a command's output goes: standard output, or a file that is there in full or not at all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from thresher.files.atomic import replacing
from thresher.files.errors import FileError


@contextmanager
def writing(path: str | None) -> Iterator[BinaryIO]:
    """Give a stream of bytes; what goes wrong before the end leaves no file behind."""
    if path is None or path == "-":
        if sys.stdout is None:  # as Python has it where a shell says >&-
            raise FileError("Standard output is closed: name a file with -o.")
        stdout = sys.stdout.buffer
        yield stdout
        stdout.flush()
    elif Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
        # a device or a pipe: nothing that could be replaced by a file
        with open(path, "wb") as stream:
            yield stream
    else:
        with replacing(path) as stream:
            yield stream


def to_terminal(path: str | None) -> bool:
    """Return whether the output appears before somebody's eyes."""
    return path in (None, "-") and sys.stdout is not None and sys.stdout.isatty()
