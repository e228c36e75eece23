"""Checked reading of trees: a value is returned only if its type and range are as expected.

A correct checksum means only that a file is as it was written; anybody may have written it.

Values of declared types become trees, and trees such values, part by part: a type is ``int``,
``float``, ``bool``, ``str``, ``np.ndarray``, a ``NamedTuple``, or made of these by ``list[...]``,
``dict[str, ...]`` and ``... | None``. So whoever adds a field to a ``NamedTuple`` need not do
anything for it to be stored.
"""

from collections.abc import Iterable
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np

from thresher.files.errors import ModelFileError

Tree = dict[str, Any]


def refuse(what: str) -> NoReturn:
    """Raise the error of a file whose content is impossible."""
    raise ModelFileError(f"its checksum is correct, but its content is invalid: {what}.")


def branch(tree: Tree, key: str) -> Tree:
    """Return a tree within the tree."""
    return _of_type(tree, key, dict, "a group")


def branches(tree: Tree, key: str) -> list[Tree]:
    """Return a list of trees."""
    found = _of_type(tree, key, list, "a list")
    if not all(isinstance(one, dict) for one in found):
        refuse(f"{key} is not a list of groups")
    return found


def word(tree: Tree, key: str) -> str:
    """Return a string."""
    return _of_type(tree, key, str, "a string")


def flag(tree: Tree, key: str) -> bool:
    """Return True or False."""
    return bool(_of_type(tree, key, bool | np.bool_, "true or false"))


def whole(tree: Tree, key: str, least: int = 0, most: int = 1 << 62) -> int:
    """Return an integer within bounds."""
    value = _of_type(tree, key, int | np.integer, "an integer")
    if isinstance(value, bool) or not least <= value <= most:
        refuse(f"{key} is {value}")
    return int(value)


def number(tree: Tree, key: str, finite: bool = True) -> float:
    """Return a number, which must be finite unless others may occur."""
    value = _of_type(tree, key, float | np.floating | int, "a number")
    if isinstance(value, bool) or (finite and not np.isfinite(value)):
        refuse(f"{key} is {value}")
    return float(value)


def array(tree: Tree, key: str, kind: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return an array of a type and a shape, in which None stands for any length."""
    found = _of_type(tree, key, np.ndarray, "an array")
    if found.dtype != kind:
        refuse(f"{key} is an array of {found.dtype}")
    fits = found.ndim == len(shape)
    fits = fits and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
    if not fits:
        refuse(f"{key} has the shape {found.shape}")
    return np.require(found, requirements=["C", "W"])


def integers(tree: Tree, key: str, size: int | None, below: int) -> np.ndarray:
    """Return integers from 0 on as int64, however few bytes each of them was stored in."""
    found = _of_type(tree, key, np.ndarray, "an array")
    if found.dtype.kind not in "ui" or found.ndim != 1 or size not in (None, found.size):
        refuse(f"{key} is an array of {found.dtype} with the shape {found.shape}")
    if found.size and not (found.min() >= 0 and found.max() < below):
        refuse(f"{key} goes from {found.min()} to {found.max()}")
    return found.astype(np.int64)


def same_names(tree: Tree, names: Iterable[str], of: str) -> None:
    """Refuse a tree that has other keys than these."""
    if set(tree) != set(names):
        refuse(f"the {of} are {', '.join(sorted(tree)) or 'none'}")


def _of_type(tree: Tree, key: str, kind: Any, words: str) -> Any:
    if key not in tree:
        refuse(f"{key} is missing")
    if not isinstance(tree[key], kind):
        refuse(f"{key} is not {words}")
    return tree[key]


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
        kinds = [one for one in inner if one is not NoneType]
        fitting = [one for one in kinds if isinstance(tree, get_origin(one) or one)]
        return from_tree((fitting or kinds)[0], tree, name)
    if origin in (list, dict):
        parts = _typed(tree, name, origin)
        if origin is list:
            return [from_tree(inner[0], one, f"{name}[{i}]") for i, one in enumerate(parts)]
        return {key: from_tree(inner[1], one, f"{name}.{key}") for key, one in parts.items()}
    if hasattr(kind, "_fields"):
        return _named(kind, _typed(tree, name, dict), name)
    return _plain(kind, tree, name)


def _named(kind: Any, tree: dict[str, Any], name: str) -> Any:
    """Return a ``NamedTuple``; all of its fields must be there, and no others."""
    kinds = get_type_hints(kind)
    if set(tree) != set(kinds):
        refuse(f"{name} has the fields {', '.join(sorted(tree)) or 'none'}")
    return kind(**{key: from_tree(one, tree[key], f"{name}.{key}") for key, one in kinds.items()})


def _plain(kind: Any, value: Any, name: str) -> Any:
    """Return a number, a string or an array; numbers are Python's, arrays can be written to."""
    if kind is np.ndarray:
        return np.require(_typed(value, name, np.ndarray), requirements=["C", "W"])
    if kind is bool:
        return bool(_typed(value, name, bool | np.bool_))
    if isinstance(value, bool | np.bool_):
        refuse(f"{name} is {value}")
    if kind is int:
        return int(_typed(value, name, int | np.integer))
    if kind is float:
        return float(_typed(value, name, int | float | np.integer | np.floating))
    return _typed(value, name, kind)


def _typed(value: Any, name: str, kind: Any) -> Any:
    if not isinstance(value, kind):
        refuse(f"{name} is of the type {type(value).__name__}")
    return value
