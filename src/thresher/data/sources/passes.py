"""Pass after pass over a source, each in an order of its own, begun at any row."""

from collections.abc import Callable, Iterator

from thresher.data.chunk import Chunk
from thresher.data.sources.protocol import Source
from thresher.data.sources.shards import ShardSource
from thresher.data.sources.shuffle import BufferedShuffle, ShuffledShards

BUFFER_ROWS = 1 << 16

Passes = Callable[[int, int], Iterator[Chunk]]


def passes_over(source: Source, shuffle: bool, seed: int) -> Passes:
    """Return what reads pass number k from row r on: the same rows for the same seed, k and r.

    Shards are shuffled as a whole, by blocks and a buffer; other files only within a buffer. What
    can be read only once is a stream, and comes in its own order.
    """
    if not shuffle or not source.rewinds:
        return lambda _, skip: skip_rows(source.chunks(), skip)
    if isinstance(source, ShardSource):
        return ShuffledShards(source, seed, BUFFER_ROWS).pass_chunks
    return BufferedShuffle(source, seed, BUFFER_ROWS).pass_chunks


def skip_rows(chunks: Iterator[Chunk], skip: int) -> Iterator[Chunk]:
    """Leave out the first rows."""
    for chunk in chunks:
        if skip < len(chunk):
            yield chunk[skip:] if skip else chunk
        skip = max(0, skip - len(chunk))
