"""Arrays that grow as features appear, and that can be set aside and put back.

Both must cost what is added or touched and no more: a stream may bring a new feature with every
row, and a call that fails half-way must leave no trace.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from thresher.files import access
from thresher.kernels.moving import move_up

Restore = Callable[[], None]

LINE = 64  # bytes of a cache line: numbers that lie across two of them cost twice


def zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array of zeros that begins where a cache line does."""
    size = math.prod(shape) * dtype.itemsize
    room = np.zeros(size + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(dtype).reshape(shape)


def grown(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array with room for ``size`` entries along its first axis, new ones 0."""
    if array.shape[0] >= size and not _across_lines(array):
        return array
    room = 2 * array.shape[0] if array.shape[0] < size else 0
    larger = zeros((max(size, room, array.shape[0]), *array.shape[1:]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


def _across_lines(array: np.ndarray) -> bool:
    """Return whether lines or halves lie across two, as those of a copy or from a file may."""
    size = array.itemsize * math.prod(array.shape[1:])
    return size in (LINE, LINE // 2) and array.size > 0 and array.ctypes.data % size != 0


class Arrays:
    """Named arrays: ``by_slot`` have an entry per slot, ``n_slots`` of them in use; others not.

    Those that are ``resting`` have the given number in every entry and take no room; whoever asks
    for one by its name, to write there, wakes it.
    """

    def __init__(
        self,
        by_slot: dict[str, np.ndarray],
        whole: dict[str, np.ndarray],
        resting: dict[str, float] | None = None,
    ) -> None:
        self.by_slot = by_slot
        self.whole = whole
        self.resting = dict(resting or {})
        self.n_slots = 0

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array by its name, with its unused room."""
        if name in self.resting:
            self._wake(name)
        return self.by_slot[name] if name in self.by_slot else self.whole[name]

    def at_hand(self, name: str) -> np.ndarray:
        """Return an array by slot; an empty one if it rests, and is to rest on."""
        return self.by_slot[name]

    def rest(self, name: str, number: float = 0) -> None:
        """Let an array have one number in every entry."""
        self.by_slot[name] = self.by_slot[name][:0].copy()
        self.resting[name] = number

    def _wake(self, name: str) -> None:
        number = self.resting.pop(name)
        self.by_slot[name] = grown(self.by_slot[name], self.n_slots)
        if number:
            self.by_slot[name][: self.n_slots] = number

    def _awake(self) -> dict[str, np.ndarray]:
        return {name: a for name, a in self.by_slot.items() if name not in self.resting}

    def grow(self, n_slots: int) -> None:
        """Take more slots into use, with zeros in them."""
        for name, array in self._awake().items():
            self.by_slot[name] = grown(array, n_slots)
            self.by_slot[name][self.n_slots : n_slots] = 0
        self.n_slots = max(n_slots, self.n_slots)

    def take(self, slots: np.ndarray) -> "Arrays":
        """Return a copy that has the given slots only."""
        taken = Arrays(
            {
                name: array if name in self.resting else _taken(array, slots)
                for name, array in self.by_slot.items()
            },
            {name: array.copy() for name, array in self.whole.items()},
            self.resting,
        )
        taken.n_slots = slots.size
        return taken

    def keep(self, slots: np.ndarray) -> None:
        """Let the given slots, in ascending order, be all there are."""
        for array in self._awake().values():
            move_up(*_words(array), slots)
        self.n_slots = slots.size

    def spread(self, slots: np.ndarray, n_slots: int) -> None:
        """Let what is here be at the given slots of so many, with zeros at the others."""
        for name, array in self._awake().items():
            # a new array of zeros costs nothing where nothing is written
            self.by_slot[name] = zeros((n_slots, *array.shape[1:]), array.dtype)
            self.by_slot[name][slots] = array[: slots.size]
        self.n_slots = n_slots

    def put(self, slots: np.ndarray, taken: "Arrays") -> None:
        """Write back what ``take`` gave."""
        for name, array in taken.by_slot.items():
            if name not in taken.resting:
                self[name][slots] = array[: taken.n_slots]
            elif self.resting.get(name) != taken.resting[name]:
                self[name][slots] = taken.resting[name]
        for name, array in taken.whole.items():
            self.whole[name][...] = array

    def finite(self, slots: np.ndarray) -> bool:
        """Return whether the numbers of the given slots, and of none in particular, are finite."""
        numbers = [a[slots] for a in self._awake().values() if a.dtype.kind == "f"]
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
            "by_slot": {name: self.shown(name) for name in self.by_slot},
            "whole": dict(self.whole),
        }

    def shown(self, name: str) -> np.ndarray:
        """Return what is in use of an array by slot, which rests on if it does."""
        array = self.by_slot[name]
        if name not in self.resting:
            return array[: self.n_slots]
        return np.full((self.n_slots, *array.shape[1:]), self.resting[name], array.dtype)

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
        for name, number in self.resting.items():
            if (read.by_slot[name] == number).all():
                read.rest(name, number)
        return read


def _taken(array: np.ndarray, slots: np.ndarray) -> np.ndarray:
    """Return a copy of the given entries that begins where a cache line does."""
    found = zeros((slots.size, *array.shape[1:]), array.dtype)
    return np.take(array, slots, axis=0, out=found, mode="clip")  # raising needs another copy


def _words(array: np.ndarray) -> tuple[np.ndarray, int]:
    """Return an array as words of eight or four bytes, or one, and how many an entry has."""
    size = array.itemsize * math.prod(array.shape[1:])
    word = next(word for word in (np.uint64, np.uint32, np.uint8) if size % word().itemsize == 0)
    return array.reshape(-1).view(word), size // word().itemsize


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

    def add(self, **entry: float) -> None:
        """Add an entry, a number under each name."""
        place = int(self.length[0])
        if not self.room:
            self.grow(place + 1)
        for name, number in entry.items():
            self.arrays[name][place] = number
        self.length[0] = place + 1

    def used(self) -> dict[str, np.ndarray]:
        """Return what is in use, by name."""
        return {name: array[: self.length[0]] for name, array in self.arrays.items()}

    def copy(self) -> "Log":
        """Return a copy of what is in use."""
        used = Log(**{name: array.copy() for name, array in self.used().items()})
        used.length = self.length.copy()
        return used

    def renumber(self, name: str, numbers: np.ndarray) -> None:
        """Give the slots under ``name`` new numbers; entries of negative ones are dropped."""
        if not self.length[0]:
            return
        used = {key: array[: self.length[0]] for key, array in self.arrays.items()}
        found = numbers[used[name]]
        for key, array in used.items():
            kept = (found if key == name else array)[found >= 0]
            array[: len(kept)] = kept
        self.length[0] = np.count_nonzero(found >= 0)

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
