"""Rows in a random order, out of more than fits into memory.

A pass is named by its number: its order is a function of the seed and of that number, so any pass
can be made again, from any of its rows on, without the passes before it.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.sources.cutting import Limits, in_order, joined, row_cuts, rows_that_fit
from thresher.data.sources.protocol import Source
from thresher.data.sources.shards import Run, ShardSource
from thresher.kernels.gather import cut
from thresher.randomness import permutation

BLOCK = Limits(256, 1 << 16)  # rows that are read together; at most 1 MB
BUFFER_NONZEROS = 1 << 22  # 64 MB
BUFFER_ROWS = 1 << 16

# what chance is used for; paths of a learner have the small numbers
BLOCKS = 1 << 30
ROWS = BLOCKS + 1  # and one more for every further buffer


class ShuffledShards:
    """Shards read by blocks in random order, and rows at random out of a buffer of many blocks.

    Every row comes once in a pass. Rows that fit into one buffer come in an order of which each is
    equally likely; others are as well mixed as blocks of 256 rows, out of all shards, allow.
    """

    def __init__(self, source: ShardSource, seed: int, buffer_rows: int = BUFFER_ROWS) -> None:
        self.source, self.seed = source, seed
        self.limits = Limits(buffer_rows, BUFFER_NONZEROS)
        self.blocks = _plan(source)

    def pass_chunks(self, number: int, skip: int = 0) -> Iterator[Chunk]:
        """Yield the rows of a pass, without the first ``skip`` of them."""
        order = permutation(self.seed, BLOCKS, number, len(self.blocks))
        rows, nonzeros = (_before(self.blocks[order, column]) for column in (ROW_COUNT, NONZEROS))
        cuts = cut(rows, nonzeros, *self.limits)
        room = self.source.room(_largest(rows[cuts]), _largest(nonzeros[cuts]))
        for buffer, (first, last) in enumerate(pairwise(cuts.tolist())):
            passed = max(0, skip - int(rows[first]))
            if passed < rows[last] - rows[first]:
                blocks = self.blocks[np.sort(order[first:last])]
                chunk = self.source.gathered(_runs(blocks), room)
                yield from _shuffled(chunk, self.seed, number, buffer, passed)


class BufferedShuffle:
    """Rows of any source that can be read again: a buffer is filled, and emptied at random."""

    def __init__(self, source: Source, seed: int, buffer_rows: int = BUFFER_ROWS) -> None:
        if not source.rewinds:
            raise DataError("What can be read only once cannot be shuffled for each pass.")
        self.source, self.seed = source, seed
        self.limits = Limits(buffer_rows, BUFFER_NONZEROS)

    def pass_chunks(self, number: int, skip: int = 0) -> Iterator[Chunk]:
        """Yield the rows of a pass, without the first ``skip`` of them."""
        before = 0
        for buffer, parts in enumerate(_buffers(self.source.chunks(), self.limits)):
            n_rows, passed = sum(map(len, parts)), max(0, skip - before)
            before += n_rows
            if passed < n_rows:
                yield from _shuffled(joined(parts), self.seed, number, buffer, passed)


SHARD, FIRST, ROW_COUNT, NONZEROS = range(4)  # what is known of a block


def _plan(source: ShardSource) -> np.ndarray:
    """Return shard, first row, rows and nonzeros of every block."""
    blocks = [np.zeros((0, 4), np.int64)]
    for shard in range(source.n_shards):
        starts = source.starts(shard)
        cuts = row_cuts(starts, BLOCK)
        sizes = (np.full(cuts.size - 1, shard), cuts[:-1], np.diff(cuts), np.diff(starts[cuts]))
        blocks.append(np.column_stack(sizes))
    return np.concatenate(blocks)


def _runs(blocks: np.ndarray) -> list[Run]:
    """Return blocks as runs of rows."""
    shard, first, n_rows, _ = blocks.T
    return list(zip(shard.tolist(), first.tolist(), (first + n_rows).tolist(), strict=True))


def _largest(borders: np.ndarray) -> int:
    return int(np.diff(borders).max(initial=0))


def _before(sizes: np.ndarray) -> np.ndarray:
    """Return how much lies before each item, and altogether."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _shuffled(chunk: Chunk, seed: int, number: int, buffer: int, skip: int) -> Iterator[Chunk]:
    """Yield the rows of a buffer in the order of their pass, without the first ones."""
    return in_order(chunk, permutation(seed, ROWS + buffer, number, len(chunk))[skip:])


def _buffers(chunks: Iterator[Chunk], limits: Limits) -> Iterator[list[Chunk]]:
    """Yield runs of rows that fill a buffer, wherever the chunks begin and end."""
    parts: list[Chunk] = []
    rows = nonzeros = 0
    for whole in chunks:
        chunk = whole
        while len(chunk):
            fit = rows_that_fit(chunk, limits, rows, nonzeros)
            if fit:
                parts.append(chunk[:fit])
                rows, nonzeros = rows + fit, nonzeros + parts[-1].columns.size
                chunk = chunk[fit:]
            else:
                yield parts
                parts, rows, nonzeros = [], 0, 0
    if parts:
        yield parts
