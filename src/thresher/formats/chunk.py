"""Some rows of a source: what every format becomes, how rows are joined, cut and reordered."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from thresher.jit import jit

Refuse = Callable[[int, str], None]  # a row by its place in the chunk, and what is wrong with it
Cells = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns, values


@dataclass(frozen=True)
class Chunk:
    """Sparse rows in canonical form (columns ascending and distinct, no zeros), and their labels.

    ``width`` is the number of columns known after these rows; sources whose features have no end
    raise it as they go. ``labels`` is None for rows without labels, ``weights`` None where every
    row counts the same.
    """

    starts: np.ndarray  # int64
    columns: np.ndarray  # int64
    values: np.ndarray  # float64
    width: int
    labels: np.ndarray | None = None  # int64, float64 or object (str)
    weights: np.ndarray | None = None  # float64

    @classmethod
    def of(
        cls, X: object, labels: np.ndarray | None = None, weights: np.ndarray | None = None
    ) -> "Chunk":
        """Return the rows of a matrix of any kind; nothing is shared with it."""
        rows = canonical_csr(X)
        starts, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
        return cls(starts, columns, rows.data.copy(), rows.shape[1], labels, weights)

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

    def at(self, places: np.ndarray) -> "Chunk":
        """Return some of the rows, in the order given."""
        starts, columns, values = gather(self.starts, self.columns, self.values, places)
        return Chunk(
            starts,
            columns,
            values,
            self.width,
            None if self.labels is None else self.labels[places],
            None if self.weights is None else self.weights[places],
        )

    def without(self, rows: np.ndarray) -> "Chunk":
        """Return a copy without some of the rows."""
        return self.at(np.delete(np.arange(len(self)), rows))


class Limits(NamedTuple):
    """What a part of the rows may not exceed, except that it has at least one row.

    A nonzero takes 16 bytes while it is in memory.
    """

    rows: int
    nonzeros: int


CHUNK = Limits(8_192, 1 << 18)  # 4 MB


def canonical_csr(X: object) -> sparse.csr_array:
    """Return float64 CSR rows with sorted columns, no repeats and no stored zeros.

    The input is never changed: arrays are shared with it where nothing needs changing, else copied.
    """
    rows = sparse.csr_array(X, dtype=np.float64)
    _refuse_strays(rows)
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def _refuse_strays(rows: sparse.csr_array) -> None:
    """Raise a ValueError if entries lie outside the shape: kernels trust them."""
    if (np.diff(rows.indptr) < 0).any():
        raise ValueError("The sparse matrix has rows that end before they begin: indptr is wrong.")
    # seen as unsigned, what is below 0 is beyond the width too
    columns = rows.indices.view(np.uint32 if rows.indices.itemsize == 4 else np.uint64)
    if columns.size and columns.max() >= rows.shape[1]:
        place = int(np.flatnonzero(columns >= rows.shape[1])[0])
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        raise ValueError(
            f"The sparse matrix has an entry at row {row}, column {rows.indices[place]}, but its "
            f"shape is {rows.shape}: its indices, or its shape, are wrong."
        )


def assemble(
    cells: Cells,
    width: int,
    labels: np.ndarray | None,
    weights: np.ndarray | None,
    n_rows: int,
    refuse: Refuse,
) -> Chunk:
    """Return cells in any order as a chunk: those of one row and column are added up."""
    rows, columns, values = _summed(*cells)
    width = max(width, int(columns.max(initial=-1)) + 1)
    finite = np.isfinite(values)
    refused = np.unique(rows[~finite])
    for row in refused.tolist():
        refuse(row, "the values of a repeated feature add up beyond the largest number there is")
    kept = finite & (values != 0)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=n_rows))])
    chunk = Chunk(starts.astype(np.int64), columns[kept], values[kept], width, labels, weights)
    return chunk.without(refused) if refused.size else chunk


def _summed(rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> Cells:
    """Return the cells by row and column, each once."""
    same_row = rows[1:] == rows[:-1]
    if np.where(same_row, columns[1:] > columns[:-1], rows[1:] > rows[:-1]).all():
        return rows, columns, values
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = np.ones(rows.size, bool)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at the sums
        sums = np.add.reduceat(values, np.flatnonzero(first))
    return rows[first], columns[first], sums


def joined(chunks: Sequence[Chunk]) -> Chunk:
    """Return chunks, at least one, as one.

    There are labels if all chunks have them; rows without weights count 1 beside those that have.
    """
    lengths = [np.diff(chunk.starts) for chunk in chunks]
    labels = [chunk.labels for chunk in chunks if chunk.labels is not None]
    weights = [np.ones(len(chunk)) if chunk.weights is None else chunk.weights for chunk in chunks]
    weighted = any(chunk.weights is not None for chunk in chunks)
    return Chunk(
        np.concatenate([[0], *lengths]).cumsum(dtype=np.int64),
        np.concatenate([chunk.columns for chunk in chunks]),
        np.concatenate([chunk.values for chunk in chunks]),
        max(chunk.width for chunk in chunks),
        np.concatenate(labels) if len(labels) == len(chunks) else None,
        np.concatenate(weights) if weighted else None,
    )


def row_cuts(starts: np.ndarray, limits: Limits) -> np.ndarray:
    """Return the rows at which parts begin, and the number of rows."""
    return cut(np.arange(starts.size), starts, limits.rows, limits.nonzeros)


def pieces(chunk: Chunk, limits: Limits = CHUNK) -> Iterator[Chunk]:
    """Yield the rows as chunks that keep within limits."""
    for first, last in pairwise(row_cuts(chunk.starts, limits).tolist()):
        yield chunk[first:last]


def in_order(chunk: Chunk, order: np.ndarray) -> Iterator[Chunk]:
    """Yield the rows named by ``order`` as chunks of the usual size."""
    before = np.zeros(order.size + 1, np.int64)
    np.cumsum(np.diff(chunk.starts)[order], out=before[1:])
    for first, last in pairwise(row_cuts(before, CHUNK).tolist()):
        yield chunk.at(order[first:last])


def filled(chunks: Iterator[Chunk], limits: Limits) -> Iterator[list[Chunk]]:
    """Yield runs of rows that fill the limits, wherever the chunks begin and end."""
    parts: list[Chunk] = []
    rows = nonzeros = 0
    for whole in chunks:
        chunk = whole
        while len(chunk):
            fit = _rows_that_fit(chunk, limits, rows, nonzeros)
            if fit:
                parts.append(chunk[:fit])
                rows, nonzeros = rows + fit, nonzeros + parts[-1].columns.size
                chunk = chunk[fit:]
            else:
                yield parts
                parts, rows, nonzeros = [], 0, 0
    if parts:
        yield parts


def _rows_that_fit(chunk: Chunk, limits: Limits, rows: int, nonzeros: int) -> int:
    """Return how many rows of a chunk can be added to a part that has so many."""
    by_nonzeros = int(np.searchsorted(chunk.starts, limits.nonzeros - nonzeros, "right")) - 1
    fit = min(limits.rows - rows, by_nonzeros, len(chunk))
    return max(fit, 1 if rows == 0 and len(chunk) else 0)


@jit
def gather(starts, columns, values, order):
    """Return the rows named by ``order``, one after the other."""
    new_starts = np.zeros(order.size + 1, np.int64)
    for i in range(order.size):
        row = order[i]
        new_starts[i + 1] = new_starts[i] + starts[row + 1] - starts[row]
    new_columns = np.empty(new_starts[order.size], np.int64)
    new_values = np.empty(new_starts[order.size])
    for i in range(order.size):
        first, last = starts[order[i]], starts[order[i] + 1]
        _copy(columns[first:last], new_columns[new_starts[i] : new_starts[i + 1]])
        _copy(values[first:last], new_values[new_starts[i] : new_starts[i + 1]])
    return new_starts, new_columns, new_values


@jit
def _copy(numbers, target):
    """Copy numbers (for short rows this is twice as fast as assigning a slice)."""
    for k in range(numbers.size):
        target[k] = numbers[k]


@jit
def cut(rows, nonzeros, most_rows, most_nonzeros):
    """Return where to cut items into runs that exceed neither limit, the ends included.

    ``rows`` and ``nonzeros`` count what lies before each border between items, so both have one
    entry more than there are items. An item that exceeds a limit by itself is a run of its own.
    """
    borders = np.zeros(rows.size, np.int64)
    count, last = 1, 0
    for i in range(2, rows.size):
        full = rows[i] - rows[last] > most_rows or nonzeros[i] - nonzeros[last] > most_nonzeros
        if full:
            last = i - 1
            borders[count] = last
            count += 1
    if rows.size > 1:
        borders[count] = rows.size - 1
        count += 1
    return borders[:count]
