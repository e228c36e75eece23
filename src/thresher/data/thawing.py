"""Numbers that nobody may write, as those of a memory-mapped file, made ready to learn on."""

import copy
from typing import Any, TypeVar

import numpy as np

Whatever = TypeVar("Whatever")


def thawed(state: Whatever) -> Whatever:
    """Return a state whose arrays can all be written: itself, or else a copy."""
    return copy.deepcopy(state) if _is_frozen(state) else state


def _is_frozen(part: Any) -> bool:
    """Return whether any array within cannot be written."""
    if isinstance(part, np.ndarray):
        return not part.flags.writeable
    if isinstance(part, dict):
        return any(map(_is_frozen, part.values()))
    if isinstance(part, list | tuple):
        return any(map(_is_frozen, part))
    return any(map(_is_frozen, getattr(part, "__dict__", {}).values()))
