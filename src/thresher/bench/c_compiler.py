"""C that comes with the package, compiled where there is a compiler."""

import ctypes
import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

FLAGS = ("-O3", "-march=native")
TO_LIBRARY = ("-shared", "-fPIC")


class NoCompiler(Exception):
    """There is none, or none that compiles this; the words say which."""


def compiler() -> str:
    """Return the path of a C compiler: the one that CC names, Python's own, or the usual."""
    named = (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang")
    found = (shutil.which(name.split()[0]) for name in named if name)
    for path in found:
        if path:
            return path
    raise NoCompiler("no C compiler is installed (cc, gcc or clang)")


def compiler_words() -> str:
    """Return what compiles, its version and how it is told to."""
    path = compiler()
    version = _run([path, "-dumpfullversion", "-dumpversion"]).strip()
    return " ".join([Path(path).name, version, *FLAGS])


def compiled(source: Path) -> ctypes.CDLL:
    """Return the library made of a source, whose file is gone once it is loaded."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        library = str(Path(folder, f"{source.stem}.so"))
        _run([compiler(), *FLAGS, *TO_LIBRARY, str(source), "-o", library, "-lm"])
        return ctypes.CDLL(library)


def _run(command: list[str]) -> str:
    """Return what a compiler says, or raise what it complains of."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoCompiler(f"{command[0]} fails: {(done.stderr.strip() or '?').splitlines()[0]}")
    return done.stdout
