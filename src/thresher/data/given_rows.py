"""The rows of a matrix, read again where they lie."""

from functools import cached_property

import numpy as np
from scipy import sparse

from thresher.data.matrix import unit_scales
from thresher.data.vocabulary import Vocabulary, as_columns
from thresher.kernels.evidence import Entries, add_evidence, count_kept, join_slot, pick_slots
from thresher.kernels.margins import lengths
from thresher.kernels.rows import Rows
from thresher.kernels.slots import keep_slots


class GivenRows:
    """A matrix as a vocabulary knows it, all of whose columns it has numbered.

    Learning makes a copy of the rows and throws out of it what is purged. This is for those who
    want to look at everything again, without another copy.
    """

    def __init__(self, X: sparse.csr_array, vocabulary: Vocabulary, dtype: np.dtype) -> None:
        self.X = X
        self.vocabulary = vocabulary
        self.dtype = dtype

    @cached_property
    def _entries(self) -> Entries:
        starts = self.X.indptr.astype(np.int64, copy=False)
        scales = np.ones(starts.size - 1)
        if self.vocabulary.normalize:
            scales = unit_scales(lengths(starts, self.X.data))
        columns, slot_of = as_columns(self.X.indices), self.vocabulary.slot_of
        return Entries(starts, columns, self.X.data, scales, slot_of)

    def evidence(self, pulls: np.ndarray, bends: np.ndarray) -> np.ndarray:
        """Return what rows that pull and bend a feature's weight say of every slot.

        A column each for PULL, LEVEL and BEND: see there.
        """
        found = np.zeros((len(self.vocabulary), 3))
        add_evidence(self._entries, pulls, bends, found)
        return found

    def with_slots(self, slots: np.ndarray) -> Rows:
        """Return a copy of the rows with the given slots, which are ascending, renumbered."""
        places = np.full(len(self.vocabulary), -1)
        places[slots] = np.arange(slots.size)
        n = count_kept(self._entries, places)
        room = self._room(n + 1)
        pick_slots(self._entries, places, room)
        return Rows(room.starts, room.slots[:n], room.values[:n])

    def with_another(self, rows: Rows, slot: int, place: int) -> Rows:
        """Return a copy of rows of some slots with one more, at its place among them.

        That takes a fraction of the time of a copy of all: columns need not be looked up.
        """
        column = self.vocabulary["columns"][slot]
        n = rows.values.size + int(np.count_nonzero(self._entries.columns == column))
        room = self._room(n)
        join_slot(self._entries, column, rows, place, room)
        return room

    def _room(self, n: int) -> Rows:
        starts = np.empty_like(self._entries.starts)
        return Rows(starts, np.empty(n, np.uint32), np.empty(n, self.dtype))


def without(rows: Rows, slot: int) -> Rows:
    """Return a copy of rows without a slot; those that come after it move up."""
    n_rows, places = rows.starts.size - 1, np.arange(int(rows.slots.max(initial=slot)) + 1)
    places[slot:] -= 1
    places[slot] = -1
    room = Rows(np.empty_like(rows.starts), np.empty_like(rows.slots), np.empty_like(rows.values))
    n = keep_slots(*rows, places, 0, n_rows, room)
    room.starts[n_rows] = n
    return Rows(room.starts, room.slots[:n], room.values[:n])
