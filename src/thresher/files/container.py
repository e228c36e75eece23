"""One file of named arrays and a header, in which no bit can change unseen.

It is a safetensors file. Its metadata has a single entry, ``thresher``, so that the same content
always gives the same bytes; that entry is a JSON text,

    {"format": version, "sha256": "64 digits", "header": {...}}

whose checksum is that of the whole file, every byte of it, with zeros for the digits. It stands
where it is found without parsing anything, and it stays there in all versions of the format: what
is damaged is never parsed. Files of other kinds differ in what their headers say.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_from
from safetensors.numpy import save as bytes_of

from thresher.files import upgrades
from thresher.files.atomic import write_bytes
from thresher.files.errors import ModelFileError

__all__ = ["FORMAT", "UPGRADES", "ModelFileError", "dumps", "loads", "naming", "read", "write"]

Header = dict[str, Any]
Arrays = dict[str, np.ndarray]

FORMAT = 8
# What makes a file's header and arrays of one version those of the next, by the older version.
UPGRADES: dict[int, Callable[[Header, Arrays], tuple[Header, Arrays]]] = {
    1: upgrades.second,
    2: upgrades.third,
    3: upgrades.fourth,
    4: upgrades.fifth,
    5: upgrades.sixth,
    6: upgrades.seventh,
    7: upgrades.eighth,
}

_ZEROS = "0" * 64
_LENGTH = 8  # bytes before the header, which tell its length
_BEGINNING = re.compile(
    rb'\{"__metadata__":\{"thresher":"\{\\"format\\":(\d{1,9}),\\"sha256\\":\\"([0-9a-f]{64})\\",'
)
_LONGEST_BEGINNING = 256  # of a file, that has everything the expression above asks for
_PARSING = (SafetensorError, ValueError, KeyError, TypeError, RecursionError, MemoryError)
_DAMAGED = (
    "it is damaged: its checksum does not agree with its content. It was changed or cut short "
    "after it was written. Use a copy of it, or train again"
)


def write(path: str | os.PathLike[str], header: Header, arrays: Arrays) -> None:
    """Write a file, whole or not at all; the header must be JSON, numbers finite."""
    write_bytes(path, dumps(header, arrays))


def read(path: str | os.PathLike[str]) -> tuple[Header, Arrays]:
    """Return the header and the arrays of a file, or raise a ModelFileError that says why not."""
    with naming(path):
        return loads(_bytes_in(Path(path)))


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors say which file they speak of."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {error}") from None


def dumps(header: Header, arrays: Arrays) -> bytes:
    """Return the file as bytes."""
    about = {"format": FORMAT, "sha256": _ZEROS, "header": header}
    text = json.dumps(about, separators=(",", ":"), allow_nan=False)
    data = bytes_of({name: _plain(array) for name, array in arrays.items()}, {"thresher": text})
    beginning = _BEGINNING.match(data, _LENGTH)
    if beginning is None:
        raise RuntimeError("This version of safetensors lays out files in an unknown way.")
    first, last = beginning.span(2)
    digest = hashlib.sha256(data).hexdigest().encode()
    return b"".join((data[:first], digest, memoryview(data)[last:]))


def loads(data: bytes) -> tuple[Header, Arrays]:
    """Return the header and the arrays of a file that was read, or raise a ModelFileError."""
    beginning = _BEGINNING.match(data, _LENGTH)
    if beginning is None:
        _refuse_unknown(data)
    if beginning[2] != _digest(data, *beginning.span(2)):
        raise ModelFileError(f"{_DAMAGED}.")
    version = int(beginning[1])
    if version > FORMAT:
        raise ModelFileError(
            f"it was written by a newer version of Thresher (format {version}, and this one reads "
            f"up to {FORMAT}). Upgrade with: pip install --upgrade thresher"
        )
    try:
        header, arrays = _parsed(data)
    except _PARSING:
        raise ModelFileError("its checksum is right, but nobody can read what it says.") from None
    return _upgraded(version, header, arrays)


def _plain(array: np.ndarray) -> np.ndarray:
    """Return an array laid out as safetensors writes it; what it cannot write is refused."""
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(f"An array of {array.dtype} cannot be stored.")
    return np.require(array, array.dtype.newbyteorder("<"), ["C"])


def _digest(data: bytes, first: int, last: int) -> bytes:
    """Return the checksum of the file with zeros where it stands itself."""
    view = memoryview(data)
    digest = hashlib.sha256(view[:first])
    digest.update(_ZEROS.encode())
    digest.update(view[last:])
    return digest.hexdigest().encode()


def _parsed(data: bytes) -> tuple[Header, Arrays]:
    """Return the parts of a file whose checksum is right; anything may still be wrong with it."""
    arrays = {name: _own(array) for name, array in arrays_from(data).items()}
    length = int.from_bytes(data[:_LENGTH], "little")
    outside = json.loads(data[_LENGTH : _LENGTH + length])
    about = json.loads(outside["__metadata__"]["thresher"], parse_constant=_refuse_constant)
    if not isinstance(about["header"], dict):
        raise TypeError("the header is none")
    return about["header"], arrays


def _own(array: np.ndarray) -> np.ndarray:
    """Return an array that can be written to: kernels are compiled for no other kind."""
    if array.dtype.kind == "b":  # a byte of a hostile file may be neither 0 nor 1
        return np.asarray(array.view(np.uint8) != 0)
    return array if array.flags.writeable else array.copy()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _upgraded(version: int, header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return what a file of an older version would say had it been written now."""
    while version < FORMAT:
        if version not in UPGRADES:
            raise ModelFileError(f"its format, {version}, is none that Thresher ever wrote.")
        header, arrays = UPGRADES[version](header, arrays)
        version += 1
    return header, arrays


def _bytes_in(path: Path) -> bytes:
    """Return a file's bytes; those that cannot be ours are not read to their end."""
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise ModelFileError("it is a directory. Give the name of a model file.")
        if not stat.S_ISREG(found.st_mode):
            raise ModelFileError("it is a device or a pipe, not a file.")
        with open(path, "rb") as file:
            data = file.read(_LONGEST_BEGINNING)
            if not _BEGINNING.match(data, _LENGTH):
                _refuse_unknown(data)
            if int.from_bytes(data[:_LENGTH], "little") > found.st_size - _LENGTH:
                raise ModelFileError(f"{_DAMAGED}.")
            return data + file.read()
    except FileNotFoundError:
        raise ModelFileError("there is no such file.") from None
    except PermissionError:
        raise ModelFileError("you are not allowed to read it.") from None
    except OSError as error:
        raise ModelFileError(f"{error.strerror or error}.") from None


def _refuse_unknown(data: bytes) -> NoReturn:
    if not data:
        raise ModelFileError("it is empty.")
    if b'"__metadata__":{"thresher":"{' in data[:_LONGEST_BEGINNING]:
        raise ModelFileError(f"{_DAMAGED}.")
    raise ModelFileError(
        "it is not a file that Thresher wrote. Models are written by model.save(path), and by "
        "thresher train."
    )
