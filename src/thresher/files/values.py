"""Values with declared types as trees, and back, checked part by part.

A type is ``int``, ``float``, ``bool``, ``str``, ``np.ndarray``, a ``NamedTuple``, or made of these
by ``list[...]``, ``dict[str, ...]`` and ``... | None``. So whoever adds a field to a ``NamedTuple``
need not do anything for it to be stored.
"""

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from thresher.files.access import refuse


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
        return from_tree(kinds[0], tree, name)
    if origin in (list, dict):
        parts = _of_type(origin, tree, name)
        if origin is list:
            return [from_tree(inner[0], one, f"{name}[{i}]") for i, one in enumerate(parts)]
        return {key: from_tree(inner[1], one, f"{name}.{key}") for key, one in parts.items()}
    if hasattr(kind, "_fields"):
        return _named(kind, _of_type(dict, tree, name), name)
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
        return np.require(_of_type(np.ndarray, value, name), requirements=["C", "W"])
    if kind is bool:
        return bool(_of_type(bool | np.bool_, value, name))
    if isinstance(value, bool | np.bool_):
        refuse(f"{name} is {value}")
    if kind is int:
        return int(_of_type(int | np.integer, value, name))
    if kind is float:
        return float(_of_type(int | float | np.integer | np.floating, value, name))
    return _of_type(kind, value, name)


def _of_type(kind: Any, value: Any, name: str) -> Any:
    if not isinstance(value, kind):
        refuse(f"{name} is of the type {type(value).__name__}")
    return value
