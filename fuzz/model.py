"""Feeds broken model files to the loader: python fuzz/model.py fuzz/corpus/model [-runs=100000].

Needs atheris (pip install atheris). Everything that is not a model must end in a ModelFileError;
any other exception, or a crash, is found and kept. Each input is tried as it is and once more with
its checksum made right, since nothing gets past a wrong one.
"""

import contextlib
import hashlib
import re
import sys

import atheris

with atheris.instrument_imports(include=["thresher"]):
    import thresher.files.tree
    from thresher.files.errors import ModelFileError

import thresher.estimators  # noqa: F401  not to be instrumented: Numba compiles what it finds

with atheris.instrument_imports(include=["thresher"]):
    from thresher.estimators.storing.loading import loads

CHECKSUM = re.compile(rb'\\"sha256\\":\\"([0-9a-f]{64})\\"')


def resealed(data: bytes) -> bytes:
    """Return the bytes with the checksum that belongs to them."""
    found = CHECKSUM.search(data)
    if found is None:
        return data
    first, last = found.span(1)
    blank = data[:first] + b"0" * 64 + data[last:]
    return data[:first] + hashlib.sha256(blank).hexdigest().encode() + data[last:]


def try_to_load(data: bytes) -> None:
    """Load the bytes twice; only a ModelFileError may come of it."""
    for version in (data, resealed(data)):
        with contextlib.suppress(ModelFileError):
            loads(version)


if __name__ == "__main__":
    atheris.Setup(sys.argv, try_to_load)
    atheris.Fuzz()
