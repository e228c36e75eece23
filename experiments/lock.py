"""One run at a time in a results folder."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from experiments.errors import StudyError


def _seize(stream: IO[str]) -> None:
    """Take the file's lock or raise OSError; the system drops it when the process ends."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, or say who holds it.

    The lock is the system's, not the file's existence: a killed run leaves no stale lock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a+", encoding="ascii") as stream:
        try:
            _seize(stream)
        except OSError as problem:
            stream.seek(0)
            holder = stream.read().strip() or "unknown"
            raise StudyError(
                f"another run is at work in {folder} (process {holder}): wait for it, stop it, or "
                "use --results to give this run a folder of its own"
            ) from problem
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        yield
