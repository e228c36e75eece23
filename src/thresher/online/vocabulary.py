"""Which columns have occurred, and where their numbers are kept.

Learners know nothing of columns. A column receives a slot when it first occurs, and everything
kept about it lies at its slot: memory and time follow the columns that occur, whatever the
declared width.
"""

from typing import Any

import numpy as np

from thresher.files import access
from thresher.jit import jit
from thresher.online.arrays import Restore, grown
from thresher.rows import MOST_COLUMNS, refuse_width


class Vocabulary:
    """Columns by slot, and slots by column."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self._slot_of = _room_for(n_columns)  # slot + 1; 0 is a column never seen
        self._columns, self._n_slots = np.zeros(0, np.int64), 0

    def __len__(self) -> int:
        """Return the number of columns seen so far."""
        return self._n_slots

    @property
    def columns(self) -> np.ndarray:
        """Return the columns by slot."""
        return self._columns[: self._n_slots]

    def absorb(self, columns: np.ndarray, by_frequency: bool = False) -> np.ndarray:
        """Return the slots of columns; those not seen before get the next ones.

        New slots ``by_frequency`` in these columns keep frequent ones side by side, which is kind
        to the processor's cache.
        """
        known = len(self)
        self.widen(int(columns.max()) + 1 if columns.size else 0)
        slots, fresh = number_columns(columns, self._slot_of, known)
        self._n_slots += fresh.size
        if by_frequency:
            order = np.argsort(-np.bincount(slots, minlength=len(self))[known:], kind="stable")
            fresh = fresh[order]
            self._slot_of[fresh] = np.arange(known + 1, len(self) + 1)
            slots, _ = number_columns(columns, self._slot_of, len(self))
        self._columns = grown(self._columns, len(self))
        self._columns[known : len(self)] = fresh
        return slots

    def widen(self, n_columns: int) -> None:
        """Take in columns beyond those known so far."""
        if n_columns <= self.n_columns:
            return
        if n_columns > self._slot_of.size:
            slot_of = _room_for(n_columns, most=max(n_columns, 2 * self._slot_of.size))
            slot_of[self.columns] = np.arange(1, len(self) + 1)
            self._slot_of = slot_of
        self.n_columns = n_columns

    def slots_in(self, columns: np.ndarray) -> np.ndarray:
        """Return the slots of the columns that are known, each once."""
        return distinct_slots(columns, self._slot_of, len(self))

    def savepoint(self) -> Restore:
        """Return what undoes the absorption of columns."""
        known, n_columns = len(self), self.n_columns

        def restore() -> None:
            self._slot_of[self.columns[known:]] = 0
            self._n_slots, self.n_columns = known, n_columns

        return restore

    def spread(self, by_slot: np.ndarray, n_columns: int, fill: float = 0) -> np.ndarray:
        """Return numbers by slot, in the last axis, as an array over so many columns."""
        by_column = np.full((*by_slot.shape[:-1], n_columns), fill, by_slot.dtype)
        by_column[..., self.columns] = by_slot
        return by_column

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values; see ``Arrays.tree``."""
        return {"n_columns": self.n_columns, "columns": self.columns}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Vocabulary":
        """Return the vocabulary that gave a tree."""
        read = cls(access.whole(tree, "n_columns", most=MOST_COLUMNS - 1))
        columns = access.integers(tree, "columns", None, read.n_columns)
        read.absorb(columns.astype(np.uint32))
        if len(read) != columns.size:
            access.refuse("a column occurs twice")
        return read


def _room_for(n_columns: int, most: int | None = None) -> np.ndarray:
    """Return four bytes for every declared column, of which only those that occur are touched."""
    try:
        if n_columns >= MOST_COLUMNS:
            raise MemoryError
        return np.zeros(min(most or n_columns, MOST_COLUMNS), np.int32)
    except (MemoryError, ValueError):
        refuse_width(n_columns)


@jit
def number_columns(columns, slot_of, known):
    """Return the slots of columns, and those columns that were not seen before, now with a slot."""
    slots = np.empty(columns.size, np.uint32)
    fresh = np.empty(min(columns.size, slot_of.size), columns.dtype)
    n = 0
    for k in range(columns.size):
        slot = slot_of[columns[k]]
        if slot == 0:
            fresh[n] = columns[k]
            n += 1
            slot = slot_of[columns[k]] = known + n
        slots[k] = slot - 1
    return slots, fresh[:n]


@jit
def distinct_slots(columns, slot_of, n_slots):
    """Return the known slots among the columns, each once; slots found are negative meanwhile.

    Without a branch on whether a column is repeated, which would be unpredictable.
    """
    # with one place more, for it is written before it is counted
    found = np.empty(min(columns.size, n_slots) + 1, np.int64)
    places = np.empty(found.size, np.uint32)
    n = 0
    for k in range(columns.size):
        column = columns[k]
        if column < slot_of.size:
            slot = slot_of[column]
            found[n] = slot - 1
            places[n] = column
            n += slot > 0
            slot_of[column] = -abs(slot)
    for k in range(n):
        slot_of[places[k]] = found[k] + 1
    return found[:n]
