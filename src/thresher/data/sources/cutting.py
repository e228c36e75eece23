"""Rows put together and cut apart: how much of them is in memory at a time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from thresher.data.chunk import Chunk
from thresher.kernels.gather import cut, gather


class Limits(NamedTuple):
    """What a part of the rows may not exceed, except that it has at least one row.

    A nonzero takes 16 bytes while it is in memory.
    """

    rows: int
    nonzeros: int


CHUNK = Limits(8_192, 1 << 18)  # 4 MB


def row_cuts(starts: np.ndarray, limits: Limits) -> np.ndarray:
    """Return the rows at which parts begin, and the number of rows."""
    return cut(np.arange(starts.size), starts, limits.rows, limits.nonzeros)


def rows_that_fit(chunk: Chunk, limits: Limits, rows: int, nonzeros: int) -> int:
    """Return how many rows of a chunk can be added to a part that has so many."""
    by_nonzeros = int(np.searchsorted(chunk.starts, limits.nonzeros - nonzeros, "right")) - 1
    fit = min(limits.rows - rows, by_nonzeros, len(chunk))
    return max(fit, 1 if rows == 0 and len(chunk) else 0)


def in_order(chunk: Chunk, order: np.ndarray) -> Iterator[Chunk]:
    """Yield the rows named by ``order`` as chunks of the usual size."""
    before = np.zeros(order.size + 1, np.int64)
    np.cumsum(np.diff(chunk.starts)[order], out=before[1:])
    cuts = row_cuts(before, CHUNK)
    for first, last in pairwise(cuts.tolist()):
        yield _taken(chunk, order[first:last])


def _taken(chunk: Chunk, order: np.ndarray) -> Chunk:
    starts, columns, values = gather(chunk.starts, chunk.columns, chunk.values, order)
    return Chunk(
        starts,
        columns,
        values,
        chunk.width,
        None if chunk.labels is None else chunk.labels[order],
        None if chunk.weights is None else chunk.weights[order],
    )


def joined(chunks: Sequence[Chunk]) -> Chunk:
    """Return chunks, at least one, as one."""
    ends = np.concatenate([[0], *(np.diff(chunk.starts) for chunk in chunks)]).cumsum()
    labels = [chunk.labels for chunk in chunks if chunk.labels is not None]
    return Chunk(
        ends.astype(np.int64, copy=False),
        np.concatenate([chunk.columns for chunk in chunks]),
        np.concatenate([chunk.values for chunk in chunks]),
        max(chunk.width for chunk in chunks),
        np.concatenate(labels) if labels else None,
        _joined_weights(chunks),
    )


def _joined_weights(chunks: Sequence[Chunk]) -> np.ndarray | None:
    """Return all weights; rows without any count once beside rows that have some."""
    if all(chunk.weights is None for chunk in chunks):
        return None
    return np.concatenate(
        [np.ones(len(chunk)) if chunk.weights is None else chunk.weights for chunk in chunks]
    )
