"""Arrays that grow as columns appear, and that can be put back as they were.

Both cost what is added or touched and no more: a stream may bring a new column with every row, and
a call that fails must leave no trace.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thresher.files import access

Restore = Callable[[], None]
Numbers = dict[str, np.ndarray]


def grown(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array with room for ``size`` entries along its last axis, new ones 0."""
    n = array.shape[-1]
    if n >= size:
        return array
    larger = np.zeros((*array.shape[:-1], max(size, 2 * n)), array.dtype)
    larger[..., :n] = array
    return larger


def at(array: np.ndarray, slots: np.ndarray) -> np.ndarray:
    """Return the entries of some slots: by ``take``, which would copy all in Fortran's order."""
    if array.flags.c_contiguous:
        return array.take(slots, axis=-1)
    return array.T.take(slots, axis=0).T


@dataclass(eq=False)
class Arrays:
    """Named arrays: those ``by_slot`` have the slots as their last axis, those ``whole`` do not.

    ``n_slots`` of the slots are in use, the rest is room to grow. ``first`` names the numbers that
    new slots begin with, where these are not 0. This is the state of learners that need no more.
    """

    by_slot: dict[str, np.ndarray]
    whole: dict[str, np.ndarray]
    first: dict[str, float] = field(default_factory=dict)
    n_slots: int = 0

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array by its name, with its unused room."""
        return self.by_slot[name] if name in self.by_slot else self.whole[name]

    def values(self) -> tuple[np.ndarray, ...]:
        """Return all arrays in the order of their declaration."""
        return *self.by_slot.values(), *self.whole.values()

    def used(self, name: str) -> np.ndarray:
        """Return what is in use of an array by slot."""
        return self.by_slot[name][..., : self.n_slots]

    def grow(self, n_slots: int, n_columns: int = 0) -> None:
        """Take more slots into use."""
        if n_slots <= self.n_slots:
            return
        for name, array in self.by_slot.items():
            array = self.by_slot[name] = grown(array, n_slots)
            array[..., self.n_slots : n_slots] = self.first.get(name, 0)
        self.n_slots = n_slots

    def finite(self, slots: np.ndarray) -> bool:
        """Return whether all numbers of the given slots, and all whole ones, are finite."""
        arrays = [at(one, slots) for one in self.by_slot.values() if one.dtype.kind == "f"]
        return all(np.isfinite(one).all() for one in (*arrays, *self.whole.values()))

    def savepoint(self, slots: np.ndarray, n_updates: int = 0) -> Restore:
        """Return what brings the arrays back if only the given slots change, and new ones."""
        n_slots = self.n_slots
        saved = {name: at(array, slots) for name, array in self.by_slot.items()}
        whole = {name: array.copy() for name, array in self.whole.items()}

        def restore() -> None:
            for name, array in saved.items():
                self.by_slot[name][..., slots] = array
            for name, array in whole.items():
                self.whole[name][...] = array
            self.n_slots = n_slots

        return restore

    def tree(self) -> dict[str, Any]:
        """Return what is in use, as a tree of plain values.

        The arrays in it are these, no copies: write them down before learning goes on.
        """
        return {
            "n_slots": self.n_slots,
            "by_slot": {name: self.used(name) for name in self.by_slot},
            "whole": dict(self.whole),
        }

    def from_tree(self, tree: dict[str, Any]) -> "Arrays":
        """Return the arrays that gave a tree; they must have the names and types of these."""
        n_slots = access.whole(tree, "n_slots")
        by_slot, whole = (access.part(tree, name, Numbers) for name in ("by_slot", "whole"))
        access.same_names(by_slot, self.by_slot, "numbers by slot")
        access.same_names(whole, self.whole, "other numbers")
        return Arrays(
            {
                name: access.array(by_slot, name, mine.dtype, (*mine.shape[:-1], n_slots))
                for name, mine in self.by_slot.items()
            },
            {
                name: access.array(whole, name, mine.dtype, mine.shape)
                for name, mine in self.whole.items()
            },
            self.first,
            n_slots,
        )


class Log:
    """Named arrays with entries along their last axis, filled from the front, in several lanes.

    Each lane (a path) has ``lengths[lane]`` entries in use.
    """

    def __init__(self, n_lanes: int, **kinds: type) -> None:
        self.arrays: dict[str, np.ndarray] = {
            name: np.zeros((n_lanes, 0), kind) for name, kind in kinds.items()
        }
        self.lengths = np.zeros(n_lanes, np.int64)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array by its name, with its unused room."""
        return self.arrays[name]

    def grow(self, size: int) -> None:
        """Make room for ``size`` entries in every lane."""
        self.arrays = {name: grown(array, size) for name, array in self.arrays.items()}

    def used(self, name: str) -> list[np.ndarray]:
        """Return what is in use of an array, lane by lane."""
        return [a[:n] for a, n in zip(self.arrays[name], self.lengths, strict=True)]

    def savepoint(self, only_appended: bool) -> Restore:
        """Return what brings the log back; one that is only added to need not be copied."""
        lengths = self.lengths.copy()
        most = 0 if only_appended else int(lengths.max(initial=0))
        saved = {name: array[:, :most].copy() for name, array in self.arrays.items()}

        def restore() -> None:
            for name, array in saved.items():
                self.arrays[name][:, :most] = array
            self.lengths[...] = lengths

        return restore

    def tree(self) -> dict[str, Any]:
        """Return what is in use as a tree of plain values, one lane after the other."""
        joined = {name: np.concatenate(self.used(name)) for name in self.arrays}
        return {"lengths": self.lengths.copy(), **joined}

    def fill(self, tree: dict[str, Any]) -> None:
        """Take over the entries that gave a tree; it must have the names and types of this log."""
        access.same_names(tree, ["lengths", *self.arrays], "entries of a log")
        lengths = access.integers(tree, "lengths", self.lengths.size, 1 << 40)
        ends = np.cumsum(lengths)
        size = int(ends[-1]) if ends.size else 0
        read = {
            name: access.array(tree, name, mine.dtype, (size,))
            for name, mine in self.arrays.items()
        }
        self.grow(int(lengths.max(initial=0)))
        for name, joined in read.items():
            for lane, (last, n) in enumerate(zip(ends, lengths, strict=True)):
                self.arrays[name][lane, :n] = joined[last - n : last]
        self.lengths[...] = lengths
