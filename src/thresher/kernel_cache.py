"""Compiled kernels on disk: read back if they are intact, compiled anew if not, never in the way.

Numba's own cache trusts what it finds. A file that was cut short makes every program fail that
needs it, and so does a full disk. Here each compiled kernel is one file that begins with the
checksum of the rest, and whatever goes wrong only costs the time to compile.
"""

import hashlib
import logging
import os
import pickle
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.serialize import dumps

DIGEST = 32  # bytes of a SHA-256
PRIVATE = 0o700  # nobody else may put code there that runs as ours
NOT_KEPT = (
    "Compiled kernels cannot be kept in %s: %s. They will be compiled again in every process. "
    "Free some space there, or let the environment variable NUMBA_CACHE_DIR name a folder that "
    "can be written."
)


def usual_root() -> Path:
    """Return the user's cache; a RuntimeError says that there is no home."""
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "thresher"


def temporary_root() -> Path:
    """Return the user's own folder among temporary files, for those whose cache is read-only."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"thresher-cache-{user}"


class KernelFolder:
    """Where the kernels of one version of the sources are kept."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.broken = False  # whether nothing can be written

    def read(self, file: str) -> bytes | None:
        """Return the content of a file; None if it is not there, or not as it was written."""
        for folder in self._folders(make=False):
            with suppress(OSError):
                data = (folder / file).read_bytes()
                if hashlib.sha256(data[DIGEST:]).digest() == data[:DIGEST]:
                    return data[DIGEST:]
        return None

    def write(self, file: str, content: bytes) -> None:
        """Keep a content, or warn, once, that nothing can be kept."""
        reason = "there is no such folder"
        for folder in () if self.broken else self._folders(make=True):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                _replace(folder / file, hashlib.sha256(content).digest() + content)
                return
            except OSError as error:
                reason = error.strerror or str(error)
        if not self.broken:
            self.broken = True
            logging.getLogger("thresher").warning(NOT_KEPT, self.describe(), reason)

    def describe(self) -> str:
        """Return where kernels are kept unless something is wrong there."""
        with suppress(RuntimeError):
            return str(usual_root())
        return str(temporary_root())

    def _folders(self, make: bool) -> Iterator[Path]:
        """Return the folders to look into, or to write to, in turn."""
        with suppress(RuntimeError):
            yield usual_root() / self.name
        with suppress(OSError):
            root = temporary_root()
            if make:
                root.mkdir(mode=PRIVATE, exist_ok=True)
            if _private(root):
                yield root / self.name


def _private(root: Path) -> bool:
    """Return whether a folder is the user's alone, and no link to somewhere else."""
    found = root.lstat()
    ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return ours and stat.S_ISDIR(found.st_mode) and found.st_mode & 0o777 == PRIVATE


def _replace(path: Path, data: bytes) -> None:
    """Write a file under another name, then rename it: processes may write it at the same time."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


class _Results(CompileResultCacheImpl):
    """How Numba turns what it compiled into what can be pickled; where is for us to say."""

    def __init__(self) -> None:
        pass


class KernelCache(NullCache):
    """The cache of one kernel, by signature and processor. It takes the place of Numba's own."""

    def __init__(self, function: Callable[..., Any], folder: KernelFolder) -> None:
        code = function.__code__
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._about = (self._name, code.co_firstlineno, code.co_code.hex())
        self._folder = folder
        self._results = _Results()

    def file(self, signature: Any, codegen: Any) -> str:
        """Return the name of the file of one signature."""
        about = repr((self._about, signature, codegen.magic_tuple()))
        return f"{self._name}-{hashlib.sha256(about.encode()).hexdigest()[:24]}.kernel"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled before; None if there is none, or none that can be used."""
        target_context.refresh()
        content = self._folder.read(self.file(sig, target_context.codegen()))
        if content is None:
            return None
        try:
            result = self._results.rebuild(target_context, pickle.loads(content))
            return result if result.signature.args == tuple(sig) else None
        except Exception:  # whatever is wrong with it, compiling again helps
            return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep what was compiled, unless it holds addresses of this process."""
        if not cres.library.has_dynamic_globals:
            content = dumps(self._results.reduce(cres))
            self._folder.write(self.file(sig, cres.codegen), content)
