"""The one decorator that decides how the package compiles."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from thresher.cache_folder import cache_folder
from thresher.compiling import watch_compiling

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parent


def _fingerprint() -> str:
    """Name the state of all files that hold kernels: they import this module, or Numba.

    Numba stamps only the outermost function's own file: a change in a helper it calls would go
    unseen, and a warm cache would answer with the old code. Bounds checks are not stamped either.
    """
    digest = hashlib.sha256(os.environ.get("NUMBA_BOUNDSCHECK", "").encode())
    for source in sorted(_PACKAGE.rglob("*.py")):
        text = source.read_bytes()
        if b"thresher.jit" in text or b"numba" in text:
            digest.update(str(source.relative_to(_PACKAGE)).encode())
            digest.update(text)
    return digest.hexdigest()[:16]


_FOLDER, _KEPT = cache_folder(_fingerprint())
watch_compiling(_FOLDER, _KEPT)


@contextlib.contextmanager
def _cache_in_folder() -> Iterator[None]:
    """Point Numba's cache at our folder while a function is declared, then put it back."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_FOLDER)
    try:
        yield
    finally:
        config.CACHE_DIR = before


def jit(function: Function) -> Function:
    """Compile a kernel: no Python objects, no GIL, kept on disk.

    ``error_model="numpy"`` lets a division by zero give inf as in NumPy, instead of a branch that
    raises; kernels watch for values that are not finite themselves.
    """
    with _cache_in_folder():
        compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    return cast(Function, compiled)
