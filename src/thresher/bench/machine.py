"""What the figures were made by: versions and the kind of machine, and nothing that names it."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

NEEDED = ("thresher", "numpy", "scipy", "scikit-learn", "numba")
PEERS = ("vowpalwabbit", "river")


def installed(package: str) -> str | None:
    """Return a package's version, or None if it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def versions() -> dict[str, str]:
    """Return the versions of everything that took part."""
    found = {package: installed(package) for package in (*NEEDED, *PEERS)}
    known = {package: number for package, number in found.items() if number}
    return {"python": platform.python_version(), **known}


def machine() -> dict[str, str]:
    """Return the processor's model and the number of cores."""
    return {"processor": _processor(), "cores": str(os.cpu_count()), "system": platform.system()}


def _processor() -> str:
    """Return the processor's model as Linux tells it, or what Python knows elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
