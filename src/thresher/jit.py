"""The one decorator that decides how the package compiles."""

import hashlib
import logging
import platform
import re
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar, cast

import llvmlite
import numba
from numba.core import event

from thresher.kernel_cache import KernelCache, KernelFolder

Function = TypeVar("Function", bound=Callable[..., Any])

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
