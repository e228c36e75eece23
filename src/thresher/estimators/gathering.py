"""Chunks of a source brought together in memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy import sparse

from thresher.data.chunk import Chunk
from thresher.data.labels import tidy_labels
from thresher.data.sources.begun import Begun
from thresher.data.sources.passes import passes_over
from thresher.data.sources.protocol import Source

MOST_ROWS, MOST_NONZEROS = 10_000, 1 << 21  # that a source is judged by before it is learnt
# Rows and nonzeros of a source that is learnt as if it were an array, once, and in all passes: what
# is learnt at once cannot stop and go on, so that it must not take long.
MOST_AT_HAND, MOST_AT_ONCE = 1 << 24, 1 << 32


@dataclass(frozen=True)
class Labelled:
    """Rows that are all at hand."""

    rows: sparse.csr_array
    labels: np.ndarray
    weights: np.ndarray


def gathered(chunks: list[Chunk]) -> Labelled:
    """Return labelled chunks, of which there must be one, as one table of rows."""
    lengths = np.concatenate([np.diff(chunk.starts) for chunk in chunks])
    parts = (
        np.concatenate([chunk.values for chunk in chunks]),
        np.concatenate([chunk.columns for chunk in chunks]),
        np.concatenate([[0], np.cumsum(lengths)]),
    )
    rows = sparse.csr_array(parts, shape=(lengths.size, chunks[-1].width))
    labels = np.concatenate([chunk.labels for chunk in chunks if chunk.labels is not None])
    weights = [np.ones(len(c)) if c.weights is None else c.weights for c in chunks]
    return Labelled(rows, tidy_labels(labels), np.concatenate(weights))


def all_rows(source: Source, n_passes: float) -> Labelled | None:
    """Return all rows of a source if they are few, for memory surely holds those.

    None if they are many, or if there is something wrong with them: who learns them will say what.
    """
    most = min(MOST_AT_HAND, MOST_AT_ONCE / n_passes)
    chunks, size = [], 0
    for chunk in source.chunks():
        chunks.append(chunk)
        size += len(chunk) + chunk.columns.size
        if chunk.labels is None or size > most:
            return None
    return gathered(chunks) if chunks else None


def some_rows(source: Source, shuffle: bool, seed: int) -> Labelled | None:
    """Return rows from the beginning of the first pass over a source that can be read again.

    None if there is something wrong with them: who learns them will say what.
    """
    return _judged_by(_first_chunks(passes_over(source, shuffle, seed)(0, 0)))


def looked_into(source: Source) -> tuple[Source, Labelled | None]:
    """Return the first rows of a source that passes once, and the source with them still in it."""
    chunks = source.chunks()
    first = _first_chunks(chunks)
    return Begun(source, chain(first, chunks)), _judged_by(first)


def _first_chunks(chunks: Iterator[Chunk]) -> list[Chunk]:
    """Take as many chunks as there are to judge by, and memory can surely hold."""
    taken: list[Chunk] = []
    n_rows = nonzeros = 0
    for chunk in chunks:
        taken.append(chunk)
        n_rows, nonzeros = n_rows + len(chunk), nonzeros + chunk.columns.size
        if n_rows >= MOST_ROWS or nonzeros >= MOST_NONZEROS:
            break
    return taken


def _judged_by(chunks: list[Chunk]) -> Labelled | None:
    """Return the rows of chunks that count: the same ones wherever chunks end."""
    if not chunks or any(chunk.labels is None for chunk in chunks):
        return None
    some = gathered(chunks)
    if not (np.isfinite(some.weights).all() and (some.weights >= 0).all()):
        return None
    within = int(np.searchsorted(some.rows.indptr, MOST_NONZEROS))
    n_rows = min(MOST_ROWS, within, some.labels.size)
    return Labelled(some.rows[:n_rows], some.labels[:n_rows], some.weights[:n_rows])
