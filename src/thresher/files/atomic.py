"""Files that are written whole or not at all.

Bytes go to a temporary file in the same folder, which replaces the old file once they are on the
disk: a reader finds the old file or the new one, never a part, and a writer that fails or is killed
leaves the old one as it was. Who writes later removes the temporary file of one that was killed.
"""

import errno
import glob
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from thresher.files import FileError

ENDING = ".part"
ABANDONED = 24 * 3600  # seconds after which nobody is still writing to a temporary file
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
        temporary = place.with_name(f".{place.name}.{secrets.token_hex(8)}{ENDING}")
        with open(temporary, "x+b") as file:
            if mode is not None:
                os.chmod(temporary, mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, place)
        _sync_folder(place.parent)
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


def _remove_abandoned(place: Path) -> None:
    """Remove temporary files whose writers were killed long ago."""
    for left in place.parent.glob(f".{glob.escape(place.name)}.*{ENDING}"):
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - ABANDONED:
                left.unlink()


def _sync_folder(folder: Path) -> None:
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
