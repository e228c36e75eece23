"""Trees of plain values as files: they come back without the loss of a bit, or are not written.

A tree is a dict with strings as keys. Its values are dicts, lists, strings, numbers, None, and
arrays of numbers or strings; NumPy's numbers come back as Python's. What JSON does not know stands
in the file's header as a dict with the key "$", which names its kind.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from thresher.files import ModelFileError, container

Tree = dict[str, Any]
Arrays = dict[str, np.ndarray]

MARK = "$"
MANY = 16  # strings in a list that are worth two arrays
NONSENSE = (KeyError, ValueError, TypeError, AttributeError, RecursionError, OverflowError)


def read_tree(path: str | os.PathLike[str]) -> Tree:
    """Return the tree of a file, or raise a ModelFileError that gives the reason."""
    with container.naming(path):
        return loads(container.bytes_in(path))


def dumps(tree: Tree) -> bytes:
    """Return the file of a tree as bytes."""
    arrays: Arrays = {}
    return container.dumps(_pack(tree, "", arrays), arrays)


def loads(data: bytes) -> Tree:
    """Return the tree of a file's bytes, or raise a ModelFileError."""
    header, arrays = container.loads(data)
    try:
        return _unpack(header, arrays)
    except NONSENSE:
        raise ModelFileError("its checksum is correct, but its header is invalid.") from None


def narrow(integers: np.ndarray) -> np.ndarray:
    """Return integers, none of them negative, in as few bytes each as they need."""
    return integers.astype(np.min_scalar_type(int(integers.max(initial=0))))


def _pack(value: Any, path: str, arrays: Arrays) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    match value:
        case np.ndarray() if value.dtype.kind in "OUT":
            return _pack_strings(
                value, "object" if value.dtype.kind == "O" else "text", path, arrays
            )
        case np.ndarray():
            return {MARK: "array", "at": _put(value, path, arrays)}
        case dict():
            return {_key(key): _pack(one, f"{path}/{key}", arrays) for key, one in value.items()}
        case list() if len(value) >= MANY and all(isinstance(one, str) for one in value):
            return _pack_strings(value, "strings", path, arrays)
        case list():
            return [_pack(one, f"{path}/{i}", arrays) for i, one in enumerate(value)]
        case None | str() | bool() | int() | float():
            return value
    raise TypeError(f"{path}: a {type(value).__name__} cannot be stored.")


def _key(key: Any) -> str:
    if not isinstance(key, str) or key == MARK:
        raise TypeError(f"{key!r} cannot be a key of a stored tree.")
    return key


def _pack_strings(
    strings: Sequence[str] | np.ndarray, kind: str, path: str, arrays: Arrays
) -> Tree:
    """Store strings as one text, and how many bytes of it each has."""
    if np.ndim(strings) != 1 or not all(isinstance(one, str) for one in strings):
        raise TypeError(f"{path}: an array of objects can be stored only if all are strings.")
    coded = [one.encode("utf-8", "surrogatepass") for one in strings]
    lengths = narrow(np.fromiter(map(len, coded), np.int64, len(coded)))
    at = _put(np.frombuffer(b"".join(coded), np.uint8), f"{path}/text", arrays)
    return {MARK: kind, "at": at, "lengths": _put(lengths, f"{path}/lengths", arrays)}


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
    if not isinstance(value, dict):
        return value
    kind = value.get(MARK)
    if kind is None:
        return {key: _unpack(one, arrays) for key, one in value.items()}
    if kind == "array":
        return arrays[value["at"]]
    strings = _strings(arrays[value["at"]], arrays[value["lengths"]])
    return (
        strings if kind == "strings" else np.array(strings, {"object": object, "text": str}[kind])
    )


def _strings(text: np.ndarray, lengths: np.ndarray) -> list[str]:
    if text.dtype != np.uint8 or text.ndim != 1 or lengths.dtype.kind != "u" or lengths.ndim != 1:
        raise ValueError("strings are stored as bytes, and their lengths as integers")
    if lengths.max(initial=0) > text.size or lengths.sum(dtype=np.float64) != text.size:
        raise ValueError("the lengths of strings do not add up")
    ends, data = np.cumsum(lengths, dtype=np.int64).tolist(), text.tobytes()
    pairs = zip([0, *ends], ends, strict=False)
    return [data[first:last].decode("utf-8", "surrogatepass") for first, last in pairs]
