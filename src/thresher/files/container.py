"""One file of named arrays and a JSON header, in which no bit can change unnoticed.

It is a safetensors file. Its metadata has a single entry, ``thresher``, so that the same content
always gives the same bytes; that entry is a JSON text,

    {"format": 1, "sha256": "64 digits", "header": {...}}

whose checksum is that of the whole file, with zeros in place of the digits. It is found without
parsing anything, and stays where it is in all versions of the format: damaged files are never
parsed.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_from
from safetensors.numpy import save as bytes_of

from thresher.files import ModelFileError

Header = dict[str, Any]
Arrays = dict[str, np.ndarray]

FORMAT = 1
MOST_BYTES = 8  # of a number

_ZEROS = b"0" * 64
_LENGTH = 8  # bytes before the header, which give its length
_START = re.compile(
    rb'\{"__metadata__":\{"thresher":"\{\\"format\\":(\d{1,9}),\\"sha256\\":\\"([0-9a-f]{64})\\",'
)
_LONGEST_START = 256  # bytes of a file that hold all that the expression above matches
_PARSING = (SafetensorError, ValueError, KeyError, TypeError, RecursionError, MemoryError)
_DAMAGED = (
    "it is damaged: its content does not match its checksum. Use another copy of the file, or "
    "train again."
)


def dumps(header: Header, arrays: Arrays) -> bytes:
    """Return the file as bytes."""
    about = {"format": FORMAT, "sha256": _ZEROS.decode(), "header": header}
    text = json.dumps(about, separators=(",", ":"))
    data = bytes_of({name: _plain(array) for name, array in arrays.items()}, {"thresher": text})
    start = _START.match(data, _LENGTH)
    if start is None:
        raise RuntimeError("This version of safetensors lays files out in an unknown way.")
    first, last = start.span(2)
    return b"".join(
        (data[:first], hashlib.sha256(data).hexdigest().encode(), memoryview(data)[last:])
    )


def loads(data: bytes) -> tuple[Header, Arrays]:
    """Return the header and the arrays of a file, or raise a ModelFileError."""
    start = _START.match(data, _LENGTH)
    if start is None:
        _refuse_unknown(data)
    (first, last), view = start.span(2), memoryview(data)
    digest = hashlib.sha256(view[:first])
    digest.update(_ZEROS)
    digest.update(view[last:])
    if start[2] != digest.hexdigest().encode():
        raise ModelFileError(_DAMAGED)
    if int(start[1]) != FORMAT:
        raise ModelFileError(
            f"it has format {int(start[1])}, and this version of Thresher reads format {FORMAT}. "
            "Upgrade with: pip install --upgrade thresher"
        )
    try:
        arrays = {name: _writable(array) for name, array in arrays_from(data).items()}
        length = int.from_bytes(data[:_LENGTH], "little")
        about = json.loads(data[_LENGTH : _LENGTH + length])["__metadata__"]["thresher"]
        header = json.loads(about)["header"]
        if not isinstance(header, dict):
            raise TypeError("the header is not an object")
        return header, arrays
    except _PARSING:  # somebody may have forged it
        raise ModelFileError("its checksum is correct, but its content cannot be read.") from None


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in errors about its content."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {error}") from None


def _plain(array: np.ndarray) -> np.ndarray:
    """Return an array as safetensors writes it; refuse what it cannot write."""
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > MOST_BYTES:
        raise TypeError(f"An array of {array.dtype} cannot be stored.")
    return np.require(array, array.dtype.newbyteorder("<"), ["C"])


def _writable(array: np.ndarray) -> np.ndarray:
    """Return an array that can be written to: kernels are compiled for no other kind."""
    if array.dtype.kind == "b":  # a byte of a forged file may be neither 0 nor 1
        return np.asarray(array.view(np.uint8) != 0)
    return array if array.flags.writeable else array.copy()


def bytes_in(path: str | os.PathLike[str]) -> bytes:
    """Return a file's bytes; one that cannot be ours is not read to its end."""
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise ModelFileError("it is a directory. Give the name of a file.")
        if not stat.S_ISREG(found.st_mode):
            raise ModelFileError("it is a device or a pipe, not a file.")
        with open(path, "rb") as file:
            data = file.read(_LONGEST_START)
            if not _START.match(data, _LENGTH):
                _refuse_unknown(data)
            if int.from_bytes(data[:_LENGTH], "little") > found.st_size - _LENGTH:
                raise ModelFileError(_DAMAGED)
            return data + file.read()
    except FileNotFoundError:
        raise ModelFileError("there is no such file.") from None
    except PermissionError:
        raise ModelFileError("you do not have permission to read it.") from None
    except OSError as error:
        raise ModelFileError(f"{error.strerror or error}.") from None


def _refuse_unknown(data: bytes) -> NoReturn:
    if not data:
        raise ModelFileError("it is empty.")
    if b'"__metadata__":{"thresher":"{' in data[:_LONGEST_START]:
        raise ModelFileError(_DAMAGED)
    raise ModelFileError(
        "it is not a file that Thresher wrote. Models are written by model.save(path) and by "
        "thresher train."
    )
