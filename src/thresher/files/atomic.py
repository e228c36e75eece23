"""Files that are written whole or not at all.

Bytes go to a temporary file in the same folder, which replaces the old file once they are on the
disk: a reader finds the old file or the new one, never a part, and a writer that fails or is killed
leaves the old one as it was. The next writer removes the temporary file of one that was killed.
"""

import errno
import glob
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from thresher.files.errors import FileError

try:
    import fcntl
except ImportError:  # pragma: no cover  (Windows: no locks, so nothing is removed there)
    fcntl = None  # type: ignore[assignment]

ENDING = ".part"
_FLAGS = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
_NOT_ALLOWED = "you do not have permission. Change the permissions, or write elsewhere"
REASONS = {
    errno.ENOSPC: "there is no space left on the device. Free some, or write to another one",
    errno.EDQUOT: "your disk quota is used up. Free some space, or write elsewhere",
    errno.EFBIG: "it is larger than the file system or your file size limit allows",
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.EROFS: "the file system is read-only. Write to another one",
    errno.ENOENT: "the folder does not exist. Create it first",
    errno.ENOTDIR: "a part of its path is a file, not a folder",
    errno.EISDIR: "it is a directory. Give the name of a file",
    errno.ENAMETOOLONG: "its name is too long",
}


def write_bytes(path: str | os.PathLike[str], data: bytes | bytearray | memoryview) -> None:
    """Write a file: it is on the disk when this returns, and as it was before if it fails."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file to write to, which replaces ``path`` unless something goes wrong."""
    place = Path(os.path.realpath(path))  # where a link leads, so that it stays a link
    temporary: Path | None = None
    try:
        mode = _mode(place)
        _remove_abandoned(place)
        temporary, file = _open_beside(place, mode)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:
                os.replace(temporary, place)  # while it is locked: nobody removes it
        if fcntl is None:  # pragma: no cover  (Windows renames no open file)
            os.replace(temporary, place)
        sync_folder(place.parent)
    except OSError as error:
        if isinstance(error, FileError) or not _concerns(error, place.parent):
            raise
        reason = _reason(error, place.parent)
        raise FileError(f"{path} cannot be written: {reason}.", error.errno) from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()  # it is gone if all went well


def _mode(place: Path) -> int | None:
    """Return the permissions of the file that will be replaced; None if there is none."""
    try:
        found = os.stat(place)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise FileError(f"{place} cannot be written: it is a device or a pipe, not a file.")
    if not os.access(place, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(found.st_mode)


def _open_beside(place: Path, mode: int | None) -> tuple[Path, BinaryIO]:
    """Return a new file in the same folder, locked, which means that its writer is alive."""
    while True:
        temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}{ENDING}")
        handle = os.open(temporary, _FLAGS, 0o666)
        file = os.fdopen(handle, "w+b")
        if fcntl is None:  # pragma: no cover
            return temporary, file
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # else it was removed before it was locked
            if mode is not None:
                os.fchmod(handle, mode)
            return temporary, file
        file.close()


def _remove_abandoned(place: Path) -> None:
    """Remove temporary files whose writers were killed: nobody holds their locks."""
    if fcntl is None:  # pragma: no cover
        return
    for left in place.parent.glob(f".{glob.escape(place.name)}.*{ENDING}"):
        with suppress(OSError), open(left, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def sync_folder(folder: Path) -> None:
    """Bring new names in a folder to the disk, on systems that can."""
    if os.name != "posix":  # pragma: no cover
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def _concerns(error: OSError, folder: Path) -> bool:
    """Return whether an error is about the file itself, not another that the caller reads."""
    if error.filename is None:
        return True
    return str(folder) in (str(error.filename), os.path.dirname(str(error.filename)))


def _reason(error: OSError, folder: Path) -> str:
    if error.errno == errno.ENOENT and folder.is_dir():
        return f"no file can be created in {folder} ({error.strerror})"
    return REASONS.get(error.errno or 0, (error.strerror or str(error)).rstrip("."))
