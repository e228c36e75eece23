"""Rows with named features, gathered one by one and made into a chunk."""

from collections.abc import Callable, Sequence

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.naming import Names
from thresher.data.sources.fields import Label

MOST_ROWS = 8192  # of a chunk

Refuse = Callable[[int, str], None]  # a row by its place in the chunk, and what is wrong with it


class Gathered:
    """Rows one after the other, as lists; a feature may stand in a row several times."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.values: list[float] = []
        self.counts: list[int] = []
        self.labels: list[Label] = []
        self.weights: list[float | None] = []
        self.lines: list[int] = []  # where in the file they stand

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def add(
        self,
        line: int,
        names: Sequence[str],
        values: Sequence[float],
        label: Label,
        weight: float | None,
    ) -> None:
        """Add a row."""
        self.names += names
        self.values += values
        self.counts.append(len(names))
        self.labels.append(label)
        self.weights.append(weight)
        self.lines.append(line)

    def chunk(self, names: Names, refuse: Refuse) -> Chunk:
        """Return the rows with their columns numbered."""
        columns = names.number(self.names)
        rows = np.repeat(np.arange(len(self)), self.counts)
        cells = rows, columns, np.array(self.values, np.float64)
        return assemble(
            cells,
            len(names),
            label_array(self.labels),
            weight_array(self.weights),
            len(self),
            refuse,
        )


Cells = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns, values


def assemble(
    cells: Cells,
    width: int,
    labels: np.ndarray | None,
    weights: np.ndarray | None,
    n_rows: int,
    refuse: Refuse,
) -> Chunk:
    """Return cells in any order as a chunk: what stands in a row several times is added up."""
    rows, columns, values = _summed(*cells)
    width = max(width, int(columns.max(initial=-1)) + 1)
    finite = np.isfinite(values)
    refused = np.unique(rows[~finite])
    for row in refused.tolist():
        refuse(row, "the values of a repeated feature add up beyond the largest number there is")
    kept = finite & (values != 0)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=n_rows))])
    chunk = Chunk(starts.astype(np.int64), columns[kept], values[kept], width, labels, weights)
    return without(chunk, refused) if refused.size else chunk


def _summed(rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> Cells:
    """Return the cells by row and column, each once."""
    same_row = rows[1:] == rows[:-1]
    if np.where(same_row, columns[1:] > columns[:-1], rows[1:] > rows[:-1]).all():
        return rows, columns, values
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    first = np.ones(rows.size, bool)
    first[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    with np.errstate(over="ignore", invalid="ignore"):  # whoever asked looks at the sums
        sums = np.add.reduceat(values, np.flatnonzero(first))
    return rows[first], columns[first], sums


def without(chunk: Chunk, refused: np.ndarray) -> Chunk:
    """Return a chunk without some of its rows."""
    kept = np.ones(len(chunk), bool)
    kept[refused] = False
    counts = np.diff(chunk.starts)
    cells = np.repeat(kept, counts)
    return Chunk(
        np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.int64),
        chunk.columns[cells],
        chunk.values[cells],
        chunk.width,
        None if chunk.labels is None else chunk.labels[kept],
        None if chunk.weights is None else chunk.weights[kept],
    )


def label_array(labels: Sequence[Label]) -> np.ndarray | None:
    """Return labels as numbers or as words; None where any of them is missing."""
    if any(label is None for label in labels):
        return None
    words = bool(labels) and isinstance(labels[0], str)
    return np.array(labels, object if words else np.float64)


def weight_array(weights: Sequence[float | None]) -> np.ndarray | None:
    """Return how much rows count, 1 unless said; None where nothing is said at all."""
    if all(weight is None for weight in weights):
        return None
    return np.array([1.0 if weight is None else weight for weight in weights])
