"""Chunks of a source brought together in memory."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from thresher.data.chunk import Chunk
from thresher.data.labels import tidy_labels
from thresher.data.sources.passes import passes_over
from thresher.data.sources.protocol import Source

MOST_ROWS, MOST_NONZEROS = 10_000, 1 << 21  # that a source is judged by before it is learnt


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


def some_rows(source: Source, shuffle: bool, seed: int) -> Labelled | None:
    """Return rows from the beginning of a source's first pass, as many as memory can surely take.

    None if there is something wrong with them: who learns them will say what.
    """
    chunks: list[Chunk] = []
    n_rows = nonzeros = 0
    for chunk in passes_over(source, shuffle, seed)(0, 0):
        chunks.append(chunk[: MOST_ROWS - n_rows])
        n_rows, nonzeros = n_rows + len(chunk), nonzeros + chunk.columns.size
        if n_rows >= MOST_ROWS or nonzeros >= MOST_NONZEROS:
            break
    if not chunks or any(chunk.labels is None for chunk in chunks):
        return None
    some = gathered(chunks)
    return some if np.isfinite(some.weights).all() and (some.weights >= 0).all() else None
