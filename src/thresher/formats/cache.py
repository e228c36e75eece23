"""Large text that is read more than once, kept as binary rows in the user's cache.

The rows lie in ``~/.cache/thresher/rows`` (or in ``XDG_CACHE_HOME``), never beside the data. They
are used again as long as the files, their times of change and the way of reading them are the same.
What has not been used for a month goes when other rows are kept, and all of it may be deleted at
any time (``thresher cache --clear``). Where nothing can be kept, the files are read in every pass.
"""

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from thresher.files.atomic import ENDING as UNFINISHED
from thresher.formats.binary import BinarySource
from thresher.formats.binary_file import StoredRows, write
from thresher.formats.blocks import InputFiles
from thresher.formats.errors import DataError
from thresher.formats.names import Names
from thresher.formats.protocol import Notify, Progress, Reading, Source

LEAST = 64 << 20  # bytes of files that are kept; smaller ones are read again in no time
UNUSED = 30 * 24 * 3600  # seconds after which rows are forgotten


class Kept(NamedTuple):
    """Rows in the cache: where, how large, and the files they were made from."""

    path: Path
    n_bytes: int
    files: list[str]


def cache_folder() -> Path:
    """Return the folder of kept rows, whether it exists or not."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "thresher" / "rows"


def cached(
    source: Source,
    paths: Sequence[str | os.PathLike[str]],
    reading: Reading,
    notify: Notify | None = None,
    progress: Progress | None = None,
    names: Names | None = None,
) -> Source:
    """Return the rows of a source as binary rows, made now or earlier, if that pays.

    ``notify`` receives what happens in words, ``progress`` the number of rows written so far. The
    source must number features in its own way, or what is kept would serve no other model;
    ``names`` are those by which the rows are to be read in the end.
    """
    files = InputFiles(paths)
    if not source.rewinds or (files.size or 0) < LEAST or isinstance(source, BinarySource):
        return source
    what = files.paths[0] + (f" and {len(files.paths) - 1} more" if len(files.paths) > 1 else "")
    notify = notify or _keep_quiet
    try:
        origin = _origin(files, reading)
        path = _place(origin)
        if _is_fresh(path, origin):
            notify(f"Reading the rows of {what} from the cache, {path}.")
            os.utime(path)
        else:
            notify(f"Keeping the rows of {what} in the cache, {path}.")
            path.parent.mkdir(parents=True, exist_ok=True)
            _forget_unused(path.parent)
            write(source, str(path), progress, origin)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        notify(f"The rows of {what} cannot be kept, and are read again in each pass: {error}")
        return source
    return BinarySource([str(path)], reading, names)


def _keep_quiet(message: str) -> None:
    """Do nothing with a message."""


def kept_rows() -> list[Kept]:
    """Return what the cache holds."""
    found = []
    for path in sorted(cache_folder().glob(f"*{ENDING}")):
        with suppress(OSError, DataError, KeyError, TypeError):
            origin = StoredRows(str(path)).facts["origin"]
            found.append(Kept(path, path.stat().st_size, [file[0] for file in origin["files"]]))
    return found


def clear_cache() -> int:
    """Delete all rows in the cache; return how many bytes they took."""
    freed = 0
    for path in _all_files(cache_folder()):
        with suppress(OSError):
            size = path.stat().st_size
            path.unlink()
            freed += size
    return freed


ENDING = ".rows"


def _all_files(folder: Path) -> list[Path]:
    """Return kept rows, also damaged ones, and what killed writers have left."""
    return [*folder.glob(f"*{ENDING}"), *folder.glob(f".*{ENDING}.*{UNFINISHED}")]


def _forget_unused(folder: Path) -> None:
    for path in _all_files(folder):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - UNUSED:
                path.unlink()


def _origin(files: InputFiles, reading: Reading) -> dict[str, Any]:
    """Return all that the rows depend on.

    A fingerprint covers the ends of a file only: the time of change covers its middle.
    """
    stats = [os.stat(path) for path in files.paths]
    return {
        "files": [
            [os.path.abspath(path), state.st_size, state.st_mtime_ns, state.st_ino]
            for path, state in zip(files.paths, stats, strict=True)
        ],
        "fingerprint": files.fingerprint(),
        "reading": asdict(reading),
        "version": metadata.version("thresher"),
    }


def _place(origin: dict[str, Any]) -> Path:
    """Return where rows are kept; those of a changed file take the place of the old ones."""
    key = json.dumps([[file[0] for file in origin["files"]], origin["reading"]], sort_keys=True)
    return cache_folder() / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}{ENDING}"


def _is_fresh(path: Path, origin: dict[str, Any]) -> bool:
    """Return whether a file holds what would be written there now."""
    try:
        return path.is_file() and StoredRows(str(path)).facts["origin"] == origin
    except DataError:
        return False
