"""The rows of a matrix, read again where they lie."""

from functools import cached_property

import numpy as np
from scipy import sparse

from thresher.data.matrix import unit_scales
from thresher.data.vocabulary import Vocabulary, as_columns
from thresher.kernels.evidence import Entries, add_evidence, count_kept, pick_slots
from thresher.kernels.margins import lengths
from thresher.kernels.rows import Rows


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
        room = Rows(
            np.empty_like(self._entries.starts),
            np.empty(n + 1, np.uint32),
            np.empty(n + 1, self.dtype),
        )
        pick_slots(self._entries, places, room)
        return Rows(room.starts, room.slots[:n], room.values[:n])
