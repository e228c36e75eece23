"""Files that are there whole or not at all.

Bytes go to a temporary file beside the old one, which is renamed over it once they are on the disk:
whoever reads sees the old file or the new one, never a part, and a writer that fails or is killed
leaves the old one as it was. What a killed writer left behind, the next one to write removes.
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
except ImportError:  # pragma: no cover  (Windows: nothing is locked there, and nothing swept)
    fcntl = None  # type: ignore[assignment]

ENDING = ".part"
_FLAGS = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
WORDS = {
    errno.ENOSPC: "there is no space left on the device. Free some, or write to another one",
    errno.EDQUOT: "your share of the disk is used up. Free some space, or write elsewhere",
    errno.EFBIG: "it is larger than this file system or a limit of yours allows",
    errno.EACCES: "you are not allowed to. Change the permissions, or write elsewhere",
    errno.EPERM: "you are not allowed to. Change the permissions, or write elsewhere",
    errno.EROFS: "the file system can only be read. Write to another one",
    errno.ENOENT: "the folder does not exist. Create it first",
    errno.ENOTDIR: "what should be its folder is a file",
    errno.EISDIR: "it is a directory. Give the name of a file",
    errno.ENAMETOOLONG: "its name is too long",
}


def write_bytes(path: str | os.PathLike[str], data: bytes | bytearray | memoryview) -> None:
    """Write a whole file: afterwards it is on the disk, or, if that fails, as it was before."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of ``path`` unless something goes wrong."""
    place = Path(os.path.realpath(path))  # behind a link, so that the link stays one
    temporary: Path | None = None
    try:
        mode = _mode(place)
        _sweep(place)
        temporary, file = _open_beside(place, mode)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:
                os.replace(temporary, place)  # before the lock goes: nobody may sweep it away
        if fcntl is None:  # pragma: no cover  (Windows renames no open file)
            os.replace(temporary, place)
        sync_folder(place.parent)
    except OSError as error:
        if isinstance(error, FileError) or not _concerns(error, place.parent):
            raise
        raise FileError(
            f"{path} cannot be written: {_words(error, place.parent)}.", error.errno
        ) from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()  # already gone if everything went well


def _mode(place: Path) -> int | None:
    """Return the permissions of the file that is to be replaced, None if there is none."""
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
    """Return a new file in the same folder, locked, so that nobody takes it for left behind."""
    while True:
        temporary = place.with_name(f".{place.name}.{secrets.token_hex(4)}{ENDING}")
        handle = os.open(temporary, _FLAGS, 0o666)
        file = os.fdopen(handle, "w+b")
        if fcntl is None:  # pragma: no cover
            return temporary, file
        with suppress(OSError):  # some file systems have no locks: then nothing is swept
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # else it was swept away before it was locked
            if mode is not None:
                os.fchmod(handle, mode)
            return temporary, file
        file.close()


def _sweep(place: Path) -> None:
    """Remove temporary files whose writers are no more: nobody holds their locks."""
    if fcntl is None:  # pragma: no cover
        return
    for left in place.parent.glob(f".{glob.escape(place.name)}.*{ENDING}"):
        with suppress(OSError), open(left, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def sync_folder(folder: Path) -> None:
    """Bring the new name to the disk; some systems cannot be asked to."""
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
    """Return whether an error is about our own file, and not another that was read meanwhile."""
    if error.filename is None:
        return True
    return str(folder) in (str(error.filename), os.path.dirname(str(error.filename)))


def _words(error: OSError, folder: Path) -> str:
    if error.errno == errno.ENOENT and folder.is_dir():  # which then holds no files of ours
        return f"{folder} takes no new files. The system says: {error.strerror}"
    return WORDS.get(error.errno or 0, (error.strerror or str(error)).rstrip("."))
