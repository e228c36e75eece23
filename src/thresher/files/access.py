"""Checked reading of trees: a value is returned only if its type and range are as expected.

A correct checksum means only that a file is as it was written; anybody may have written it.

Values of declared types become trees, and trees such values, part by part: a type is ``int``,
``float``, ``bool``, ``str``, ``np.ndarray``, ``Any``, a ``NamedTuple``, or made of these by
``list[...]``, ``dict[str, ...]`` and ``... | ...``. So whoever adds a field to a ``NamedTuple``
need not do anything for it to be stored.
"""

from collections.abc import Iterable
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np

from thresher.files import ModelFileError

Tree = dict[str, Any]

# What stands for a type in a tree, where that is more than the type itself.
KINDS = {
    bool: bool | np.bool_,
    int: int | np.integer,
    float: float | np.floating | int | np.integer,
}


def refuse(what: str) -> NoReturn:
    """Raise the error of a file whose content is impossible."""
    raise ModelFileError(f"its checksum is correct, but its content is invalid: {what}.")


def part(tree: Tree, key: str, kind: Any) -> Any:
    """Return a part of a tree as a value of a type."""
    if key not in tree:
        refuse(f"{key} is missing")
    return from_tree(kind, tree[key], key)


def whole(tree: Tree, key: str, most: int = 1 << 62) -> int:
    """Return an integer from 0 on."""
    value: int = part(tree, key, int)
    if not 0 <= value <= most:
        refuse(f"{key} is {value}")
    return value


def number(tree: Tree, key: str) -> float:
    """Return a finite number."""
    value: float = part(tree, key, float)
    if not np.isfinite(value):
        refuse(f"{key} is {value}")
    return value


def array(tree: Tree, key: str, kind: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return an array of a type and a shape, in which None stands for any length."""
    found: np.ndarray = part(tree, key, np.ndarray)
    if found.dtype != kind:
        refuse(f"{key} is an array of {found.dtype}")
    fits = found.ndim == len(shape)
    fits = fits and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
    if not fits:
        refuse(f"{key} has the shape {found.shape}")
    return found


def integers(tree: Tree, key: str, size: int | None, below: int) -> np.ndarray:
    """Return integers from 0 on as int64, however few bytes each of them was stored in."""
    found = part(tree, key, np.ndarray)
    if found.dtype.kind not in "ui" or found.ndim != 1 or size not in (None, found.size):
        refuse(f"{key} is an array of {found.dtype} with the shape {found.shape}")
    if found.size and not (found.min() >= 0 and found.max() < below):
        refuse(f"{key} goes from {found.min()} to {found.max()}")
    return found.astype(np.int64)


def same_names(tree: Tree, names: Iterable[str], of: str) -> None:
    """Refuse a tree that has other keys than these."""
    if set(tree) != set(names):
        refuse(f"the {of} are {', '.join(sorted(tree)) or 'none'}")


def as_tree(value: Any) -> Any:
    """Return a value as part of a tree."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: as_tree(one) for name, one in zip(value._fields, value, strict=True)}
    if isinstance(value, dict):
        return {key: as_tree(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_tree(one) for one in value]
    return value


def from_tree(kind: Any, tree: Any, name: str) -> Any:
    """Return the value of a type that gave a tree; ``name`` is what errors call it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if tree is None and NoneType in inner:
            return None
        fitting = [one for one in inner if isinstance(tree, get_origin(one) or one)]
        return from_tree((fitting or inner)[0], tree, name)
    value = _of_kind(kind, tree, name)
    if origin is list:
        return [from_tree(inner[0], one, f"{name}[{i}]") for i, one in enumerate(value)]
    if origin is dict:
        return {key: from_tree(inner[1], one, f"{name}.{key}") for key, one in value.items()}
    if hasattr(kind, "_fields"):
        kinds = get_type_hints(kind)
        if set(value) != set(kinds):
            refuse(f"{name} has the fields {', '.join(sorted(value)) or 'none'}")
        return kind(**{k: from_tree(one, value[k], f"{name}.{k}") for k, one in kinds.items()})
    return value


def _of_kind(kind: Any, value: Any, name: str) -> Any:
    """Return a value of a type; numbers are Python's, arrays can be written to."""
    if kind is Any:
        return value
    wanted = KINDS.get(kind, dict if hasattr(kind, "_fields") else get_origin(kind) or kind)
    strange = isinstance(value, bool | np.bool_) and kind is not bool  # Python takes it for an int
    if strange or not isinstance(value, wanted):
        refuse(f"{name} is of the type {type(value).__name__}")
    if kind is np.ndarray:
        return np.require(value, requirements=["C", "W"])
    return kind(value) if kind in KINDS else value
