"""Text that is read more than once, kept as shards.

The shards of ``FILE`` lie beside it, in the folder ``FILE.shards``; those of several files, or of
one that is read in an unusual way, in ``FILE.XXXXXXXX.shards`` beside the first, where eight digits
tell the one from the other. They are used again as long as the files, their times of change and the
way of reading them are the same, and made again otherwise. Where that folder cannot be written, a
temporary one serves until the program ends. It can be deleted at any time.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from thresher.data.errors import DataError
from thresher.data.naming import Names
from thresher.data.sources.protocol import Reading, Source
from thresher.data.sources.shard_set import is_shards, read_set
from thresher.data.sources.shard_writer import Progress, write_shards
from thresher.data.sources.shards import ShardSource
from thresher.files.sealed import digest_of

ENDING = ".shards"
STDIN = "-"
SYSTEM, DISK_OF_SYSTEM = ("/dev", "/proc"), "/dev/shm"  # whose files stand for what others opened

Say = Callable[[str], None]


def cached(
    source: Source,
    paths: Sequence[str],
    reading: Reading,
    say: Say | None = None,
    progress: Progress | None = None,
    names: Names | None = None,
) -> ShardSource:
    """Return the rows of a source as shards, made now or earlier.

    ``say`` is told in words what happens, ``progress`` the number of rows written so far. The
    source numbers features in its own way, or what is kept could serve nobody else; ``names``
    are those by which the shards are to be read in the end.
    """
    say = say or _keep_quiet
    origin = _origin(source, paths, reading)
    folder = cache_folder(paths, reading)
    if folder is not None and _fresh(folder, origin):
        say(f"Reading {folder}, made earlier from {_listed(paths)}.")
        return ShardSource([str(folder)], reading, names)
    if folder is not None and not _writable(folder):
        say(f"{folder} cannot be written.")
        folder = None
    if folder is not None:
        say(f"Keeping the rows of {_listed(paths)} in {folder}.")
        keep = partial(_fresh, folder, origin)  # somebody else was quicker
        write_shards(source, folder, progress, origin=origin, keep=keep)
        return ShardSource([str(folder)], reading, names)
    place = tempfile.mkdtemp(prefix="thresher-")
    say(f"Keeping the rows in {place} until they are not needed any more.")
    with _removed_after_failure(place):
        write_shards(source, Path(place) / "shards", progress, origin=origin)
        kept = ShardSource([str(Path(place) / "shards")], reading, names)
    weakref.finalize(kept, shutil.rmtree, place, ignore_errors=True)
    return kept


def _keep_quiet(message: str) -> None:
    """Say nothing."""


def cache_folder(paths: Sequence[str], reading: Reading) -> Path | None:
    """Return where the shards of files are kept; None for what has no place in a file system."""
    if STDIN in paths or not all(os.path.isfile(path) for path in paths):
        return None
    if any(_is_of_system(path) for path in paths):
        return None
    usual = asdict(Reading(format=reading.format))
    special = {key: how for key, how in asdict(reading).items() if how != usual[key]}
    if len(paths) == 1 and not special:
        return Path(f"{paths[0]}{ENDING}")
    digits = digest_of({"reading": special, "files": [os.path.basename(path) for path in paths]})
    return Path(f"{paths[0]}.{digits[:8]}{ENDING}")


def _is_of_system(path: str) -> bool:
    """Return whether a file is no place of its own, as /dev/stdin: what it shows differs."""
    place = os.path.abspath(path)  # not behind the link that it may be
    return not _below(place, DISK_OF_SYSTEM) and any(_below(place, top) for top in SYSTEM)


def _below(place: str, folder: str) -> bool:
    return place.startswith(f"{folder}/")


def _origin(source: Source, paths: Sequence[str], reading: Reading) -> dict[str, Any]:
    """Return all that the rows depend on.

    A fingerprint looks at the ends of a file only: what was changed in its middle is told by time.
    """
    return {
        "fingerprint": source.fingerprint(),
        "files": [_stamp(path) for path in paths],
        "reader": type(source).__name__,
        "reading": asdict(reading),
        "version": metadata.version("thresher"),
    }


def _stamp(path: str) -> list[Any]:
    if path == STDIN:
        return [path]
    state = os.stat(path)
    return [os.path.basename(path), state.st_size, state.st_mtime_ns]


def _fresh(folder: Path, origin: dict[str, Any]) -> bool:
    """Return whether the folder holds what would be written there now."""
    try:
        return is_shards(folder) and read_set(folder).origin == origin
    except DataError:
        return False


def _writable(folder: Path) -> bool:
    """Return whether the folder can be made, or made again: by trying, as nothing else tells."""
    if folder.exists() and not is_shards(folder):
        return False  # something of the user's own goes by that name
    try:
        with tempfile.TemporaryFile(dir=folder.parent):
            return True
    except OSError:
        return False


@contextmanager
def _removed_after_failure(place: str) -> Iterator[None]:
    """Leave no temporary folder behind that nobody will read."""
    try:
        yield
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


def _listed(paths: Sequence[str]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
