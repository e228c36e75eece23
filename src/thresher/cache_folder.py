"""Where compiled kernels are kept, also for those who have no home that they can write."""

import atexit
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

OWN = 0o700  # nobody else may put code there that is run as ours


class CacheFolder(NamedTuple):
    """A folder that can be written, and whether other processes will find it again."""

    path: Path
    kept: bool = True


def cache_folder(name: str) -> CacheFolder:
    """Return a folder of a name: in the usual cache, else among temporary files.

    What is temporary is one folder per user, unless somebody else has taken its name; then it is
    one for this process, which ends with it.
    """
    for root in (_usual_root, _own_temporary_root):
        try:
            folder = root() / name
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return CacheFolder(folder)
        except (OSError, RuntimeError):  # the latter of who has no home at all
            continue
    passing = Path(tempfile.mkdtemp(prefix="thresher-"))
    atexit.register(shutil.rmtree, passing, ignore_errors=True)
    return CacheFolder(passing, kept=False)


def _usual_root() -> Path:
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "thresher"


def _own_temporary_root() -> Path:
    """Return the user's own folder among temporary files, or raise an OSError."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    root = Path(tempfile.gettempdir()) / f"thresher-cache-{user}"
    root.mkdir(mode=OWN, exist_ok=True)
    found = root.lstat()  # not where a link leads that another user has laid
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == user
    if not ours or found.st_mode & 0o777 != OWN:
        raise PermissionError(f"{root} is not ours alone")
    return root
