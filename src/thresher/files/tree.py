"""Trees of plain values, as a JSON header and flat arrays, and back without the loss of a bit.

A tree is made of dicts with strings for keys, lists, strings, numbers, None, NumPy's numbers, and
arrays of numbers or strings. What JSON does not know stands in the header as a dict with the key
"$", which says what it is.
"""

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from thresher.files import container
from thresher.files.errors import ModelFileError
from thresher.files.words import characters, from_characters, joined, parted

Tree = dict[str, Any]
Arrays = dict[str, np.ndarray]

MARK = "$"
MANY = 16  # strings in a list that are worth two arrays
NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_KINDS = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"
SCALARS = {name: np.dtype(name).type for name in _KINDS.split()}


def write_tree(path: str | os.PathLike[str], tree: Tree) -> None:
    """Write a tree to a file (see ``container``), whole or not at all."""
    container.write(path, *pack(tree))


def read_tree(path: str | os.PathLike[str]) -> Tree:
    """Return the tree of a file, or raise a ModelFileError that says why not."""
    header, arrays = container.read(path)
    with container.naming(path):
        return unpack(header, arrays)


def pack(tree: Tree) -> tuple[Tree, Arrays]:
    """Return a header that is JSON, and the arrays it refers to."""
    arrays: Arrays = {}
    return _pack(tree, "", arrays), arrays


def unpack(header: Tree, arrays: Arrays) -> Tree:
    """Return the tree again; a ModelFileError says that there is none."""
    try:
        return _unpack(header, arrays)
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        raise ModelFileError("its checksum is right, but its header makes no sense.") from None


def _pack(value: Any, path: str, arrays: Arrays) -> Any:
    packed: Any
    if isinstance(value, np.ndarray):
        packed = _pack_array(value, path, arrays)
    elif isinstance(value, str):
        packed = str(value)
    elif isinstance(value, np.generic):
        packed = {MARK: "number", "type": _kind(value), "value": _pack(value.item(), path, {})}
    elif isinstance(value, float) and not math.isfinite(value):
        packed = {MARK: "float", "value": str(value)}
    elif value is None or isinstance(value, bool | int | float):
        packed = value
    elif isinstance(value, dict):
        packed = {_key(key): _pack(one, f"{path}/{key}", arrays) for key, one in value.items()}
    elif isinstance(value, list):
        packed = _pack_list(value, path, arrays)
    else:
        raise TypeError(f"{path}: a {type(value).__name__} cannot be stored.")
    return packed


def _key(key: Any) -> str:
    if not isinstance(key, str) or key == MARK:
        raise TypeError(f"{key!r} cannot be a key of a stored tree.")
    return key


def _kind(value: np.generic) -> str:
    if value.dtype.name not in SCALARS:
        raise TypeError(f"A {value.dtype.name} cannot be stored.")
    return value.dtype.name


def _pack_list(values: list[Any], path: str, arrays: Arrays) -> Any:
    if len(values) >= MANY and all(isinstance(one, str) for one in values):
        return {MARK: "words", **_pack_words(values, path, arrays)}
    return [_pack(one, f"{path}/{i}", arrays) for i, one in enumerate(values)]


def _pack_array(array: np.ndarray, path: str, arrays: Arrays) -> Tree:
    if array.dtype.kind == "U":
        return {MARK: "text", "at": _put(characters(array), path, arrays)}
    if array.dtype.kind not in "OT":
        return {MARK: "array", "at": _put(array, path, arrays)}
    if array.ndim != 1 or not all(isinstance(word, str) for word in array):
        raise TypeError(f"{path}: of objects, only strings can be stored.")
    return {MARK: "objects", **_pack_words(array, path, arrays)}


def _pack_words(words: Any, path: str, arrays: Arrays) -> Tree:
    text, lengths = joined(words)
    at, lengths_at = _put(text, f"{path}/text", arrays), _put(lengths, f"{path}/lengths", arrays)
    return {"at": at, "lengths": lengths_at}


def _put(array: np.ndarray, path: str, arrays: Arrays) -> str:
    """Store an array under its path in the tree; two that would be called the same are not."""
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


def _words(value: Tree, arrays: Arrays) -> list[str]:
    return parted(arrays[value["at"]], arrays[value["lengths"]])


def _objects(value: Tree, arrays: Arrays) -> np.ndarray:
    words = _words(value, arrays)
    objects = np.empty(len(words), object)
    objects[:] = words
    return objects


UNPACK: dict[str, Callable[[Tree, Arrays], Any]] = {
    "array": lambda value, arrays: arrays[value["at"]],
    "text": lambda value, arrays: from_characters(arrays[value["at"]]),
    "words": _words,
    "objects": _objects,
    "number": lambda value, _: SCALARS[value["type"]](_unpack(value["value"], {})),
    "float": lambda value, _: NON_FINITE[value["value"]],
}
