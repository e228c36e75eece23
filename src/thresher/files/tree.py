"""Trees of plain values as files: they come back without the loss of a bit, or are not written.

A tree is a dict with strings as keys. Its values are dicts, lists, strings, numbers, None, NumPy's
numbers, and arrays of numbers or strings. What JSON does not know stands in the file's header as a
dict with the key "$", which names its kind.
"""

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from thresher.files import container
from thresher.files.atomic import write_bytes
from thresher.files.errors import ModelFileError
from thresher.files.words import characters, from_characters, joined, parted

Tree = dict[str, Any]
Arrays = dict[str, np.ndarray]

MARK = "$"
MANY = 16  # strings in a list that are worth two arrays
NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_KINDS = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"
SCALARS = {name: np.dtype(name).type for name in _KINDS.split()}
NONSENSE = (KeyError, ValueError, TypeError, AttributeError, RecursionError, OverflowError)


def write_tree(path: str | os.PathLike[str], tree: Tree) -> None:
    """Write a tree to a file, whole or not at all."""
    write_bytes(path, dumps(tree))


def read_tree(path: str | os.PathLike[str]) -> Tree:
    """Return the tree of a file, or raise a ModelFileError that gives the reason."""
    header, arrays = container.read(path)
    with container.naming(path):
        return unpack(header, arrays)


def dumps(tree: Tree) -> bytes:
    """Return the file of a tree as bytes."""
    return container.dumps(*pack(tree))


def loads(data: bytes) -> Tree:
    """Return the tree of a file's bytes, or raise a ModelFileError."""
    return unpack(*container.loads(data))


def pack(tree: Tree) -> tuple[Tree, Arrays]:
    """Return a header that is JSON, and the arrays it refers to."""
    arrays: Arrays = {}
    return _pack(tree, "", arrays), arrays


def unpack(header: Tree, arrays: Arrays) -> Tree:
    """Return the tree of a header and arrays, or raise a ModelFileError."""
    try:
        return _unpack(header, arrays)
    except NONSENSE:
        raise ModelFileError("its checksum is correct, but its header is invalid.") from None


def _pack(value: Any, path: str, arrays: Arrays) -> Any:
    match value:
        case np.ndarray():
            return _pack_array(value, path, arrays)
        case dict():
            return {_key(key): _pack(one, f"{path}/{key}", arrays) for key, one in value.items()}
        case list():
            return _pack_list(value, path, arrays)
        case str():
            return str(value)
    return _pack_number(value, path)


def _pack_number(value: Any, path: str) -> Any:
    if isinstance(value, np.generic) and value.dtype.name in SCALARS:
        kind = value.dtype.name
        return {MARK: "number", "type": kind, "value": _pack_number(value.item(), path)}
    if isinstance(value, float) and not math.isfinite(value):
        return {MARK: "float", "value": str(value)}
    if value is None or isinstance(value, bool | int | float):
        return value
    raise TypeError(f"{path}: a {type(value).__name__} cannot be stored.")


def _key(key: Any) -> str:
    if not isinstance(key, str) or key == MARK:
        raise TypeError(f"{key!r} cannot be a key of a stored tree.")
    return key


def _pack_list(values: list[Any], path: str, arrays: Arrays) -> Any:
    if len(values) >= MANY and all(isinstance(one, str) for one in values):
        return {MARK: "strings", **_pack_strings(values, path, arrays)}
    return [_pack(one, f"{path}/{i}", arrays) for i, one in enumerate(values)]


def _pack_array(array: np.ndarray, path: str, arrays: Arrays) -> Tree:
    if array.dtype.kind == "U":
        return {MARK: "text", "at": _put(characters(array), path, arrays)}
    if array.dtype.kind not in "OT":
        return {MARK: "array", "at": _put(array, path, arrays)}
    if array.ndim != 1 or not all(isinstance(one, str) for one in array):
        raise TypeError(f"{path}: an array of objects can be stored only if all are strings.")
    return {MARK: "objects", **_pack_strings(array, path, arrays)}


def _pack_strings(strings: Sequence[str] | np.ndarray, path: str, arrays: Arrays) -> Tree:
    text, lengths = joined(strings)
    at, lengths_at = _put(text, f"{path}/text", arrays), _put(lengths, f"{path}/lengths", arrays)
    return {"at": at, "lengths": lengths_at}


def _put(array: np.ndarray, path: str, arrays: Arrays) -> str:
    """Store an array under its path in the tree, or a name like it if that is taken."""
    name = path.removeprefix("/").encode("ascii", "backslashreplace").decode()
    while name in arrays or name == "__metadata__":
        name += "'"
    arrays[name] = array
    return name


def _unpack(value: Any, arrays: Arrays) -> Any:
    if isinstance(value, list):
        return [_unpack(one, arrays) for one in value]
    if isinstance(value, dict):
        if MARK in value:
            return UNPACK[value[MARK]](value, arrays)
        return {key: _unpack(one, arrays) for key, one in value.items()}
    return value


def _strings(value: Tree, arrays: Arrays) -> list[str]:
    return parted(arrays[value["at"]], arrays[value["lengths"]])


def _objects(value: Tree, arrays: Arrays) -> np.ndarray:
    strings = _strings(value, arrays)
    objects = np.empty(len(strings), object)
    objects[:] = strings
    return objects


UNPACK: dict[str, Callable[[Tree, Arrays], Any]] = {
    "array": lambda value, arrays: arrays[value["at"]],
    "text": lambda value, arrays: from_characters(arrays[value["at"]]),
    "strings": _strings,
    "objects": _objects,
    "number": lambda value, _: SCALARS[value["type"]](_unpack(value["value"], {})),
    "float": lambda value, _: NON_FINITE[value["value"]],
}
