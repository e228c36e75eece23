"""How kernels are compiled, and kept on disk.

Numba's own cache trusts what it finds. A file that was cut short makes every program fail that
needs it, and so does a full disk. Here each compiled kernel is one file that begins with the
checksum of the rest, and whatever goes wrong only costs the time to compile.
"""

import hashlib
import logging
import os
import pickle
import platform
import re
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar, cast

import llvmlite
import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.serialize import dumps

Function = TypeVar("Function", bound=Callable[..., Any])

DIGEST = 32  # bytes of a SHA-256
PRIVATE = 0o700  # nobody else may put code there that runs as ours
NOT_KEPT = (
    "Compiled kernels cannot be kept in %s: %s. They will be compiled again in every process. "
    "Free some space there, or let the environment variable NUMBA_CACHE_DIR name a folder that "
    "can be written."
)

PATIENCE = 1.0  # seconds of compiling without a word
COMPILING = (
    "Thresher is compiling kernels for this machine, which can take up to a minute. Each is "
    "compiled when it is first needed and then kept in %s."
)
# What files that hold kernels import.
KERNELS = re.compile(rb"^ *(import|from) (numba|llvmlite|thresher\.jit)\b", re.MULTILINE)
# Settings of Numba that change the machine code.
SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")

_PACKAGE = Path(__file__).parent
_config: Any = numba.config


# --------------------------------------------------------------------------- on disk


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


# ----------------------------------------------------------------------- compiling


def fingerprint(package: Path = _PACKAGE) -> str:
    """Name the state of all files that hold kernels.

    A kernel holds the code and constants of those it calls, so one of them that has changed makes
    it stale. A stale kernel gives wrong answers silently: it must never be found.
    """
    about = [platform.python_version(), numba.__version__, llvmlite.__version__]
    about += [str(getattr(_config, name, None)) for name in SETTINGS]
    digest = hashlib.sha256(repr(about).encode())
    for source in sorted(package.rglob("*.py")):
        text = source.read_bytes()
        if KERNELS.search(text):
            digest.update(source.relative_to(package).as_posix().encode())
            digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()[:16]


class CompileNotice(event.Listener):
    """Tells the user, once in a process, that kernels are being compiled, if it takes long.

    It is a warning of the logger ``thresher``, so that it appears on standard error unless
    ``logging.getLogger("thresher").setLevel("ERROR")`` was called. Numba notifies it of every
    function that anybody compiles: it must see to its own only, and never raise.
    """

    def __init__(self, where: str, clock: Callable[[], float] = perf_counter) -> None:
        self.where = where
        self.clock = clock
        self.depth = 0  # of kernels that are compiled for the sake of others
        self.since = self.spent = 0.0
        self.given = False

    def on_start(self, event: event.Event) -> None:
        """Give the notice if it has taken long; kernels call others, so this comes often."""
        if not _is_ours(event):
            return
        if self.depth == 0:
            self.since = self.clock()
        self.depth += 1
        if not self.given and self.spent + self.clock() - self.since > PATIENCE:
            self.given = True
            logging.getLogger("thresher").warning(COMPILING, self.where)

    def on_end(self, event: event.Event) -> None:
        """Add up the time."""
        if _is_ours(event) and self.depth > 0:
            self.depth -= 1
            if self.depth == 0:
                self.spent += self.clock() - self.since


def _is_ours(event: event.Event) -> bool:
    """Return whether a kernel of this package is compiled; a jitclass has no module at all."""
    dispatcher = event.data.get("dispatcher") if isinstance(event.data, dict) else None
    module = getattr(getattr(dispatcher, "py_func", None), "__module__", None)
    return isinstance(module, str) and module.startswith("thresher.")


_FOLDER = KernelFolder(fingerprint())
event.register("numba:compile", CompileNotice(_FOLDER.describe()))


def jit(function: Function, **options: Any) -> Function:
    """Compile a kernel: no Python objects, no GIL, kept on disk.

    ``error_model="numpy"`` lets a division by zero give inf as in NumPy, instead of a branch that
    raises; kernels watch for values that are not finite themselves.
    """
    compiled: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if not _config.DISABLE_JIT:  # else it is the function itself
        compiled._cache = KernelCache(function, _FOLDER)  # what cache=True sets, but checked
    return cast(Function, compiled)


def inlined(function: Function) -> Function:
    """Compile a small part of kernels into each place that calls it, where a call would cost."""
    return jit(function, forceinline=True)
