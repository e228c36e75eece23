"""A folder that is there whole or not at all.

It is filled under another name beside its place, and renamed when everything in it is on the disk.
Whoever is killed meanwhile leaves the other name behind; the next one who writes here sees by its
lock that nobody is at work in it, and removes it.
"""

import ctypes
import errno
import glob
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from thresher.files.atomic import sync_folder

try:
    import fcntl
except ImportError:  # pragma: no cover  (there is none on Windows: nothing is swept there)
    fcntl = None  # type: ignore[assignment]

ENDING = ".unfinished"
LOCK = ".lock"
ATTEMPTS = 10
LONG_AGO = 7 * 24 * 3600  # seconds


@contextmanager
def replacing_folder(path: Path, keep: Callable[[], bool] | None = None) -> Iterator[Path]:
    """Give a folder to fill, which takes the place of ``path`` unless something goes wrong.

    ``keep`` is asked at the last moment whether what is there by now shall stay instead.
    """
    path = Path(os.path.realpath(path))
    _sweep(path)
    place = _beside(path)
    try:
        with _locked(place):
            yield place
            if keep is not None and keep():
                return
            sync_folder(place)
            _put(place, path)
            for lock in (LOCK, f"{LOCK}.new"):
                (path / lock).unlink(missing_ok=True)
            sync_folder(path.parent)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _beside(path: Path) -> Path:
    """Make an empty folder next to a place, by a name that says that nothing is finished in it."""
    place = path.with_name(f".{path.name}.{secrets.token_hex(4)}{ENDING}")
    place.mkdir()
    return place


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    """Hold a lock that dies with the process; it has its name only when it is held."""
    with open(place / f"{LOCK}.new", "xb") as lock:
        if fcntl is not None:
            with suppress(OSError):  # some file systems have none: then age alone decides
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.rename(lock.name, place / LOCK)
        yield


def _sweep(path: Path) -> None:
    """Remove what killed writers have left."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{ENDING}"):
        if _abandoned(left):
            shutil.rmtree(left, ignore_errors=True)


def _abandoned(place: Path) -> bool:
    """Return whether nobody holds the folder's lock; without one, whether it is long untouched."""
    try:
        with open(place / LOCK, "rb") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return fcntl is not None
    except FileNotFoundError:
        with suppress(FileNotFoundError):
            return time.time() - place.stat().st_mtime > LONG_AGO
    except OSError:
        pass
    return False


def _put(place: Path, path: Path) -> None:
    """Rename, changing places with what is there already; others may be doing the same."""
    for attempt in range(ATTEMPTS):
        try:
            os.rename(place, path)
            return
        except OSError as error:
            if attempt == ATTEMPTS - 1 or error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if _exchange(place, path):
            return
        _set_aside(path)


def _exchange(place: Path, path: Path) -> bool:
    """Let two folders change names in one step, if this system can; return whether they did."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    names = (os.fsencode(place), os.fsencode(path))
    return rename is not None and rename(here, names[0], here, names[1], exchange) == 0


def _set_aside(path: Path) -> None:
    """Remove a folder in one step: somebody may find none for a moment, but never half of one."""
    aside = _beside(path)
    with suppress(FileNotFoundError):
        os.rename(path, aside)
    shutil.rmtree(aside, ignore_errors=True)
