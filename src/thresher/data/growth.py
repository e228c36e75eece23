"""Arrays that grow as features appear, and that can be set aside and put back.

Both must cost what is added or touched and no more: a stream may bring a new feature with every
row, and a call that fails half-way must leave no trace.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from thresher.files import access

Restore = Callable[[], None]


def grown(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array with room for ``size`` entries along its first axis, new ones 0."""
    if array.shape[0] >= size:
        return array
    larger = np.zeros((max(size, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


class Arrays:
    """Named arrays: ``by_slot`` have an entry per slot, ``n_slots`` of them in use; others not."""

    def __init__(self, by_slot: dict[str, np.ndarray], whole: dict[str, np.ndarray]) -> None:
        self.by_slot = by_slot
        self.whole = whole
        self.n_slots = 0

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array by its name, with its unused room."""
        return self.by_slot[name] if name in self.by_slot else self.whole[name]

    def grow(self, n_slots: int) -> None:
        """Take more slots into use, with zeros in them."""
        for name, array in self.by_slot.items():
            self.by_slot[name] = grown(array, n_slots)
            self.by_slot[name][self.n_slots : n_slots] = 0
        self.n_slots = max(n_slots, self.n_slots)

    def take(self, slots: np.ndarray) -> "Arrays":
        """Return a copy that has the given slots only."""
        taken = Arrays(
            {name: array[slots] for name, array in self.by_slot.items()},
            {name: array.copy() for name, array in self.whole.items()},
        )
        taken.n_slots = slots.size
        return taken

    def put(self, slots: np.ndarray, taken: "Arrays") -> None:
        """Write back what ``take`` gave."""
        for name, array in taken.by_slot.items():
            self.by_slot[name][slots] = array
        for name, array in taken.whole.items():
            self.whole[name][...] = array

    def finite(self, slots: np.ndarray) -> bool:
        """Return whether the numbers of the given slots, and of none in particular, are finite."""
        numbers = [a[slots] for a in self.by_slot.values() if a.dtype.kind == "f"]
        numbers += [a for a in self.whole.values() if a.dtype.kind == "f"]
        return all(np.isfinite(some).all() for some in numbers)

    def savepoint(self, slots: np.ndarray | None) -> Restore:
        """Return what brings the arrays back if only the given slots change; None means any."""
        saved = np.arange(self.n_slots) if slots is None else slots
        taken, n_slots = self.take(saved), self.n_slots

        def restore() -> None:
            self.put(saved, taken)
            self.n_slots = n_slots

        return restore

    def tree(self) -> dict[str, Any]:
        """Return what is in use, without its spare room, as a tree of plain values.

        The arrays in it are these, no copies: write them down before learning goes on.
        """
        return {
            "n_slots": self.n_slots,
            "by_slot": {name: array[: self.n_slots] for name, array in self.by_slot.items()},
            "whole": dict(self.whole),
        }

    def from_tree(self, tree: dict[str, Any]) -> "Arrays":
        """Return the arrays that gave a tree; they must have the names and types of these."""
        n_slots = access.whole(tree, "n_slots")
        by_slot, whole = access.branch(tree, "by_slot"), access.branch(tree, "whole")
        access.same_names(by_slot, self.by_slot, "numbers by slot")
        access.same_names(whole, self.whole, "other numbers")
        read = Arrays(
            {
                name: access.array(by_slot, name, mine.dtype, (n_slots, *mine.shape[1:]))
                for name, mine in self.by_slot.items()
            },
            {
                name: access.array(whole, name, mine.dtype, mine.shape)
                for name, mine in self.whole.items()
            },
        )
        read.n_slots = n_slots
        return read


class Log:
    """Named arrays that are filled from the front; ``length[0]`` entries are in use."""

    def __init__(self, **arrays: np.ndarray) -> None:
        self.arrays = arrays
        self.length = np.zeros(1, np.int64)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array by its name, with its unused room."""
        return self.arrays[name]

    @property
    def room(self) -> int:
        """Return how many more entries there is room for."""
        return min(array.shape[0] for array in self.arrays.values()) - int(self.length[0])

    def grow(self, size: int) -> None:
        """Make room for ``size`` entries."""
        self.arrays = {name: grown(array, size) for name, array in self.arrays.items()}

    def extend(self, **entries: np.ndarray) -> None:
        """Add entries, an array of them under each name."""
        first = int(self.length[0])
        last = first + min(array.shape[0] for array in entries.values())
        self.grow(last)
        for name, array in entries.items():
            self.arrays[name][first:last] = array
        self.length[0] = last

    def used(self) -> dict[str, np.ndarray]:
        """Return what is in use, by name."""
        return {name: array[: self.length[0]] for name, array in self.arrays.items()}

    def copy(self) -> "Log":
        """Return a copy of what is in use."""
        used = Log(**{name: array.copy() for name, array in self.used().items()})
        used.length = self.length.copy()
        return used

    def renumbered(self, name: str, numbers: np.ndarray) -> "Log":
        """Return a copy in which the slots under ``name`` have new numbers."""
        used = self.copy()
        used[name][...] = numbers[used[name]]
        return used

    def tree(self) -> dict[str, Any]:
        """Return what is in use as a tree of plain values."""
        return dict(self.copy().arrays)

    def from_tree(self, tree: dict[str, Any]) -> "Log":
        """Return the log that gave a tree; it must have the names and types of this one."""
        access.same_names(tree, self.arrays, "entries of a log")
        read = Log(
            **{
                name: access.array(tree, name, mine.dtype, (None, *mine.shape[1:]))
                for name, mine in self.arrays.items()
            }
        )
        read.length[0] = read.room
        if any(array.shape[0] != read.length[0] for array in read.arrays.values()):
            access.refuse("the entries of a log differ in number")
        return read
