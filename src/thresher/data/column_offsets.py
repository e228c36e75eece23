"""Columns brought to zero: what is taken away from some before they are learnt."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.matrix import canonical_csr
from thresher.files import access
from thresher.files.words import narrow


@dataclass(frozen=True)
class ColumnOffsets:
    """The offsets of some columns, which are ascending; all others have none."""

    columns: np.ndarray
    offsets: np.ndarray

    def at(self, columns: np.ndarray) -> np.ndarray:
        """Return the offsets of some columns."""
        places = np.minimum(np.searchsorted(self.columns, columns), self.columns.size - 1)
        return np.where(self.columns[places] == columns, self.offsets[places], 0.0)

    def spread(self, width: int) -> np.ndarray:
        """Return the offsets of so many columns."""
        return self.at(np.arange(width))

    def taken_from(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Return the rows less the offsets; a value that was not stored is less by one, too."""
        n_rows, n_columns = rows.shape
        width = max(n_columns, int(self.columns[-1]) + 1)
        shifts = self.spread(width)[rows.indices]
        if np.count_nonzero(shifts) == n_rows * self.columns.size:  # all values are stored
            parts = rows.data - shifts, rows.indices, rows.indptr
            return canonical_csr(sparse.csr_array(parts, shape=(n_rows, width)))
        every = (
            np.tile(self.offsets, n_rows),
            np.tile(self.columns, n_rows),
            np.arange(n_rows + 1) * self.columns.size,
        )
        stored = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(n_rows, width))
        return canonical_csr(stored - sparse.csr_array(every, shape=stored.shape))

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        return {"columns": narrow(self.columns), "offsets": self.offsets}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], width: int) -> "ColumnOffsets":
        """Return the offsets that gave a tree, of some of so many columns."""
        columns = access.integers(tree, "columns", None, width)
        offsets = access.array(tree, "offsets", np.float64, columns.shape)
        if not columns.size or not (np.isfinite(offsets).all() and (offsets != 0).all()):
            access.refuse("what is taken from columns are no offsets")
        if (np.diff(columns) <= 0).any():
            access.refuse("columns with offsets are not ascending")
        return cls(columns, offsets)
