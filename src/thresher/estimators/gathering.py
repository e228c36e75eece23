"""Chunks of a source brought together in memory."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from thresher.data.chunk import Chunk
from thresher.data.labels import tidy_labels


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
