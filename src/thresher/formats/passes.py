"""Pass after pass over a source, each in a random order of its own, begun at any row.

A pass is identified by its number: its order is a function of the seed and of that number, so any
pass can be made again, from any of its rows on, without the passes before it.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from thresher.draws import permutation
from thresher.formats.binary import BinarySource, Run
from thresher.formats.chunk import Chunk, Limits, cut, filled, in_order, joined, row_cuts
from thresher.formats.errors import DataError
from thresher.formats.protocol import Source

BLOCK = Limits(256, 1 << 16)  # rows that are read together; at most 1 MB
BUFFER = Limits(1 << 16, 1 << 22)  # 64 MB

# what a stream of random numbers is for; paths of a learner have the small numbers
BLOCKS = 1 << 30
ROWS = BLOCKS + 1  # and one more for every further buffer

SEGMENT, FIRST, N_ROWS, NONZEROS = range(4)  # what is known of a block

Passes = Callable[[int, int], Iterator[Chunk]]


def passes_over(source: Source, shuffle: bool, seed: int) -> Passes:
    """Return what reads pass number k from row r on: the same rows for the same seed, k and r.

    Binary rows are shuffled as a whole, by blocks and a buffer; other files only within a buffer.
    What can be read only once is a stream, and comes in its own order.
    """
    if not shuffle or not source.rewinds:
        return lambda _number, skip: skip_rows(source.chunks(), skip)
    if isinstance(source, BinarySource):
        return BlockShuffle(source, seed).chunks
    return BufferShuffle(source, seed).chunks


def skip_rows(chunks: Iterator[Chunk], skip: int) -> Iterator[Chunk]:
    """Leave out the first rows."""
    for chunk in chunks:
        if skip < len(chunk):
            yield chunk[skip:] if skip else chunk
        skip = max(0, skip - len(chunk))


class BlockShuffle:
    """Binary rows read by blocks in random order, and at random out of a buffer of many blocks.

    Every row comes once in a pass. Rows that fit into one buffer come in an order of which each is
    equally likely; others are as well mixed as blocks of 256 rows, from the whole data, allow.
    """

    def __init__(self, source: BinarySource, seed: int, buffer: Limits = BUFFER) -> None:
        self.source, self.seed, self.buffer = source, seed, buffer
        self.blocks = _plan(source)

    def chunks(self, number: int, skip: int = 0) -> Iterator[Chunk]:
        """Yield the rows of a pass, without the first ``skip`` of them."""
        order = permutation(self.seed, BLOCKS, number, len(self.blocks))
        rows, nonzeros = (_before(self.blocks[order, what]) for what in (N_ROWS, NONZEROS))
        cuts = cut(rows, nonzeros, *self.buffer)
        room = self.source.room(int(np.diff(nonzeros[cuts]).max(initial=0)))
        for buffer, (first, last) in enumerate(pairwise(cuts.tolist())):
            passed = max(0, skip - int(rows[first]))
            if passed < rows[last] - rows[first]:
                runs = _runs(self.blocks[np.sort(order[first:last])])
                chunk = self.source.gathered(runs, room)
                yield from _shuffled(chunk, self.seed, number, buffer, passed)


class BufferShuffle:
    """Rows of any source that can be read again: a buffer is filled, and emptied at random."""

    def __init__(self, source: Source, seed: int, buffer: Limits = BUFFER) -> None:
        if not source.rewinds:
            raise DataError("What can be read only once cannot be shuffled for each pass.")
        self.source, self.seed, self.buffer = source, seed, buffer

    def chunks(self, number: int, skip: int = 0) -> Iterator[Chunk]:
        """Yield the rows of a pass, without the first ``skip`` of them."""
        before = 0
        for buffer, parts in enumerate(filled(self.source.chunks(), self.buffer)):
            n_rows, passed = sum(map(len, parts)), max(0, skip - before)
            before += n_rows
            if passed < n_rows:
                yield from _shuffled(joined(parts), self.seed, number, buffer, passed)


def _plan(source: BinarySource) -> np.ndarray:
    """Return segment, first row, rows and nonzeros of every block."""
    blocks = [np.zeros((0, 4), np.int64)]
    for segment in range(source.n_segments):
        starts = source.starts(segment)
        cuts = row_cuts(starts, BLOCK)
        sizes = (np.full(cuts.size - 1, segment), cuts[:-1], np.diff(cuts), np.diff(starts[cuts]))
        blocks.append(np.column_stack(sizes))
    return np.concatenate(blocks)


def _runs(blocks: np.ndarray) -> list[Run]:
    """Return blocks as runs of rows."""
    segment, first, n_rows, _ = blocks.T
    return list(zip(segment.tolist(), first.tolist(), (first + n_rows).tolist(), strict=True))


def _before(sizes: np.ndarray) -> np.ndarray:
    """Return how much lies before each item, and altogether."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _shuffled(chunk: Chunk, seed: int, number: int, buffer: int, skip: int) -> Iterator[Chunk]:
    """Yield the rows of a buffer in the order of their pass, without the first ones."""
    return in_order(chunk, permutation(seed, ROWS + buffer, number, len(chunk))[skip:])
