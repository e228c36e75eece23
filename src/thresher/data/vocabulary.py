"""Which columns have occurred, and where their numbers are kept.

Learners know nothing of columns. A column receives a slot when it first occurs, and everything
kept about a feature lies at its slot: memory and time follow the features that occur, whatever the
declared width.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.growth import Arrays, Restore
from thresher.data.matrix import unit_scales
from thresher.files import access
from thresher.kernels.margins import lengths
from thresher.kernels.rows import Rows, squared_norms
from thresher.kernels.slots import (
    assign_slots,
    by_frequency,
    column_sums,
    count_fresh,
    distinct_slots,
    number_columns,
    write_scaled,
)
from thresher.workers import Workers

MOST_COLUMNS = 1 << 32  # kernels number them by uint32
NARROW = np.dtype(np.uint32)  # of columns, and of how often they occur, as far as it goes


class Vocabulary:
    """Columns by slot, slots by column, and how often and how strongly each has occurred."""

    def __init__(self, n_columns: int, normalize: bool = False) -> None:
        self.n_columns = n_columns
        self.normalize = normalize
        self.n_slots = 0
        self.slot_of = _room_for(n_columns)  # slot + 1; 0 is a column never seen
        self.most_rows = 0  # that a column can have occurred in
        integers = {name: np.zeros(0, NARROW) for name in ("columns", "occurrences")}
        self.arrays = Arrays({**integers, "squares": np.zeros(0)}, {})

    def __len__(self) -> int:
        """Return the number of columns seen so far."""
        return self.n_slots

    def __getitem__(self, name: str) -> np.ndarray:
        """Return ``columns``, ``occurrences`` (rows) or ``squares`` (sums), by slot."""
        numbers = self.arrays[name][: self.n_slots]
        return numbers if numbers.dtype.kind == "f" else numbers.astype(np.int64)

    def columns_of(self, slots: np.ndarray) -> np.ndarray:
        """Return the columns of some slots."""
        return self.arrays["columns"][slots]

    def count_anew(self) -> None:
        """Forget how often columns occurred, but not their slots."""
        for name in ("occurrences", "squares"):
            self.arrays[name][...] = 0
        self.most_rows = 0

    def learn_by_frequency(self, X: sparse.csr_array) -> None:
        """Give the matrix's columns slots, frequent ones first: they share cache lines."""
        columns = as_columns(X.indices)
        fresh, counts = count_fresh(columns, self.slot_of, self.n_slots)
        self.slot_of[fresh] = 0
        self._assign(fresh[by_frequency(counts)])

    def absorb(
        self,
        X: sparse.csr_array,
        dtype: np.dtype,
        anew: bool = True,
        run_all: Workers | None = None,
    ) -> tuple[Rows, np.ndarray]:
        """Return the matrix as rows of slots with their squared norms, new columns included.

        Values get the type ``dtype``. Rows that are not ``anew``, because an earlier pass has
        brought them, are not counted again.
        """
        share_out = run_all or Workers()
        rows = self._rows(X, dtype, share_out)
        steps = [partial(squared_norms, rows.starts, rows.values)]
        if anew:
            steps.append(partial(self._count, rows))
        return rows, share_out(lambda step: step(), steps)[0]

    def count(self, X: sparse.csr_array) -> None:
        """Count the columns of a matrix, and sum their squares."""
        self._count(self._rows(X, np.dtype(np.float64), Workers()))

    def _rows(self, X: sparse.csr_array, dtype: np.dtype, share_out: Workers) -> Rows:
        """Return the matrix as rows of slots."""
        self._widen(X.shape[1])
        starts, columns = X.indptr.astype(np.int64, copy=False), as_columns(X.indices)
        values, writing = self._values(starts, X.data, dtype, share_out.n_threads)
        steps = [partial(number_columns, columns, self.slot_of, self.n_slots), *writing]
        slots, fresh = share_out(lambda step: step(), steps)[0]
        self._append(fresh)
        return Rows(starts, slots, values)

    def _count(self, rows: Rows) -> None:
        """Add rows to what is known of their columns."""
        self._count_up_to(self.most_rows + rows.starts.size - 1)
        column_sums(rows.slots, rows.values, self.arrays["occurrences"], self.arrays["squares"])

    def _values(
        self, starts: np.ndarray, values: np.ndarray, dtype: np.dtype, n_shares: int
    ) -> tuple[np.ndarray, list[Callable[[], None]]]:
        """Return the values as a type, and what there is still to do until they stand there.

        Where that is asked for they are those of rows of unit length, written in so many shares.
        """
        if not self.normalize:
            with np.errstate(over="ignore"):  # learning finds numbers that are not finite
                return values.astype(dtype, copy=False), []
        found = np.empty(values.size, dtype)

        def write(share: np.ndarray) -> None:
            write_scaled(share, values, unit_scales(lengths(share, values)), found)

        cuts = [(starts.size - 1) * k // n_shares for k in range(n_shares + 1)]
        return found, [partial(write, starts[a : b + 1]) for a, b in pairwise(cuts)]

    def slots_in(self, X: sparse.csr_array) -> np.ndarray:
        """Return the slots of the matrix's columns that are known, each once."""
        return distinct_slots(as_columns(X.indices), self.slot_of, self.n_slots)

    def savepoint(self, slots: np.ndarray) -> Restore:
        """Return what undoes the absorption of a matrix that has the given slots, and new ones."""
        restore_sums = self.arrays.savepoint(slots)
        known, n_columns = self.n_slots, self.n_columns

        def restore() -> None:
            restore_sums()
            self.slot_of[self["columns"][known:]] = 0
            self.n_slots, self.n_columns = known, n_columns

        return restore

    def spread(self, by_slot: np.ndarray, fill: float = 0) -> np.ndarray:
        """Return numbers by slot as an array over all columns."""
        by_column = np.zeros(self.n_columns, by_slot.dtype)  # takes memory only where written
        if fill:
            by_column[:] = fill
        other = np.flatnonzero(by_slot[: self.n_slots] != fill)
        by_column[self.columns_of(other)] = by_slot[other]
        return by_column

    def _widen(self, n_columns: int) -> None:
        """Take in columns up to a larger number; a stream may not know how many will come."""
        if n_columns <= self.n_columns:
            return
        self.n_columns = n_columns
        if n_columns > self.slot_of.size:
            self.slot_of = _room_for(max(n_columns, 2 * self.slot_of.size))
            self.slot_of[self["columns"]] = np.arange(1, self.n_slots + 1)

    def _assign(self, columns: np.ndarray) -> None:
        self._append(assign_slots(columns, self.slot_of, self.n_slots))

    def _append(self, fresh: np.ndarray) -> None:
        """Take in columns that have just been given the next slots."""
        before, self.n_slots = self.n_slots, self.n_slots + fresh.size
        self.arrays.grow(self.n_slots)
        self.arrays["columns"][before : self.n_slots] = fresh

    def _count_up_to(self, most_rows: int) -> None:
        """Let columns occur in so many rows."""
        self.most_rows = most_rows
        counts = self.arrays["occurrences"]
        if counts.dtype == NARROW and most_rows > np.iinfo(NARROW).max:
            self.arrays.by_slot["occurrences"] = counts.astype(np.int64)

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values; see ``Arrays.tree``."""
        kept = {name: self[name] for name in ("columns", "occurrences", "squares")}
        return {"n_columns": self.n_columns, "normalize": self.normalize, **kept}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Vocabulary":
        """Return the vocabulary that gave a tree."""
        read = cls(access.whole(tree, "n_columns"), access.flag(tree, "normalize"))
        columns = access.array(tree, "columns", np.int64, (None,))
        if columns.size and not (columns.min() >= 0 and columns.max() < read.n_columns):
            access.refuse(f"columns go up to {columns.max()}, but there are {read.n_columns}")
        read._assign(as_columns(columns))
        if len(read) != columns.size:
            access.refuse("a column occurs twice")
        occurrences = access.array(tree, "occurrences", np.int64, (columns.size,))
        squares = access.array(tree, "squares", np.float64, (columns.size,))
        read._count_up_to(int(occurrences.max(initial=0)))
        read.arrays["occurrences"][: len(read)] = occurrences
        read.arrays["squares"][: len(read)] = squares
        return read


def _room_for(n_columns: int) -> np.ndarray:
    """Return four bytes for every declared column, of which only those that occur are touched."""
    try:
        if n_columns >= MOST_COLUMNS:
            raise MemoryError
        return np.zeros(n_columns, np.int32)
    except (MemoryError, ValueError):
        raise ValueError(
            f"X has {n_columns:,} columns, for which there is no memory (4 bytes each). Number the "
            "columns that occur, or hash them (sklearn.feature_extraction.FeatureHasher)."
        ) from None


def as_columns(indices: np.ndarray) -> np.ndarray:
    """Return indices as the one type the kernels are compiled for; those of four bytes are shared.

    There are fewer than MOST_COLUMNS.
    """
    return indices.view(np.uint32) if indices.itemsize == 4 else indices.astype(np.uint32)
