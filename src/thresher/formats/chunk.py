"""Some rows of a source: what every format ends as."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Chunk:
    """Sparse rows in canonical form (columns ascending and distinct, no zeros), and their labels.

    ``width`` is the number of columns known after these rows; sources whose features have no end
    raise it as they go. ``labels`` is None for rows that nobody has labelled, ``weights`` None
    where every row counts the same.
    """

    starts: np.ndarray  # int64
    columns: np.ndarray  # int64
    values: np.ndarray  # float64
    width: int
    labels: np.ndarray | None = None  # int64, float64 or object (str)
    weights: np.ndarray | None = None  # float64

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.starts.size - 1

    @property
    def rows(self) -> sparse.csr_array:
        """Return the rows as scipy knows them."""
        parts = (self.values, self.columns, self.starts)
        return sparse.csr_array(parts, shape=(len(self), self.width))

    def __getitem__(self, rows: slice) -> "Chunk":
        """Return a run of the rows."""
        first, last, _ = rows.indices(len(self))
        starts = self.starts[first : max(first, last) + 1]
        nonzeros = slice(starts[0], starts[-1])
        return Chunk(
            starts - starts[0],
            self.columns[nonzeros],
            self.values[nonzeros],
            self.width,
            None if self.labels is None else self.labels[first:last],
            None if self.weights is None else self.weights[first:last],
        )
