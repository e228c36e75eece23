"""Columns brought to one unit: what each is multiplied by before it is learnt."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.vocabulary import MOST_COLUMNS
from thresher.files import access
from thresher.files.words import narrow


@dataclass(frozen=True)
class ColumnScales:
    """A factor for every column, and a last one, always 0, for all that lie beyond.

    A column that never occurred has 0 too: nobody knows its unit, and where some are a thousand
    times others, a single value of such a column could drown a row.
    """

    factors: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray, factors: np.ndarray, width: int) -> "ColumnScales":
        """Return the scales of columns that occurred."""
        by_column = np.zeros(width + 1)
        by_column[columns] = factors
        return cls(by_column)

    def at(self, columns: np.ndarray) -> np.ndarray:
        """Return the factors of some columns."""
        return self.factors[np.minimum(columns, self.factors.size - 1)]

    def spread(self, width: int) -> np.ndarray:
        """Return the factors of so many columns."""
        return self.at(np.arange(width))

    def scaled(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Return the rows in one unit."""
        parts = rows.data * self.at(rows.indices), rows.indices, rows.indptr
        return sparse.csr_array(parts, shape=rows.shape)

    def having(self, rows: sparse.csr_array) -> "ColumnScales":
        """Return scales in which all columns of the rows have one: new ones are left as they are.

        What a stream's first value of a column says of its unit depends on nothing that came
        before, so it must not depend on how the stream is cut.
        """
        fresh = np.unique(rows.indices[self.at(rows.indices) == 0])
        if not fresh.size:
            return self
        factors = np.zeros(max(self.factors.size, rows.shape[1] + 1))
        factors[: self.factors.size - 1] = self.factors[:-1]
        factors[fresh] = 1.0
        return ColumnScales(factors)

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        columns = np.flatnonzero(self.factors)
        return {"columns": narrow(columns), "factors": self.factors[columns]}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "ColumnScales":
        """Return the scales that gave a tree."""
        columns = access.integers(tree, "columns", None, MOST_COLUMNS)
        factors = access.array(tree, "factors", np.float64, columns.shape)
        if not (np.isfinite(factors).all() and (factors > 0).all()):
            access.refuse("columns are multiplied by what is no scale")
        if (np.diff(columns) <= 0).any():
            access.refuse("scaled columns are not ascending")
        return cls.of(columns, factors, int(columns.max(initial=-1)) + 1)
