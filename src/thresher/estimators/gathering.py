"""Chunks of a source brought together in memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse

from thresher.data.chunk import Chunk
from thresher.data.labels import tidy_labels
from thresher.data.sources.begun import Begun
from thresher.data.sources.passes import passes_over
from thresher.data.sources.protocol import Source

MOST_ROWS, MOST_NONZEROS = 10_000, 1 << 21  # that a source is judged by before it is learnt
MOST_RECALLED = 1 << 22  # rows, and nonzeros, that are looked at again after that
# Rows and nonzeros of a source that is learnt as if it were an array, once, and in all passes: what
# is learnt at once cannot stop and go on, so that it must not take long.
MOST_AT_HAND, MOST_AT_ONCE = 1 << 24, 1 << 32
MOST_PASSING = 1 << 22  # rows and nonzeros of one whose end is not known until it is there


class Most(NamedTuple):
    """How many rows and nonzeros are taken from the beginning of a source."""

    rows: int
    nonzeros: int


@dataclass(frozen=True)
class Labelled:
    """Rows that are all at hand."""

    rows: sparse.csr_array
    labels: np.ndarray
    weights: np.ndarray

    def beginning(self, n_rows: int) -> "Labelled":
        """Return no more than so many of the rows."""
        return Labelled(self.rows[:n_rows], self.labels[:n_rows], self.weights[:n_rows])


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


def rows_to_the_end(
    source: Source, n_passes: Callable[[int], float]
) -> tuple[Source, Labelled | None]:
    """Return all rows of a source that nobody has counted, if they are few, and the source.

    It still has all of its rows in it. So many passes would be made over a number of rows.
    """
    chunks, most = source.chunks(), min(MOST_AT_HAND, MOST_PASSING)
    first = _first_chunks(chunks, Most(most, most))
    after = next(chunks, None)
    whole = None
    if after is None and first and all(chunk.labels is not None for chunk in first):
        whole = gathered(first)
        n_rows, size = whole.labels.size, whole.labels.size + whole.rows.nnz
        if size > min(most, MOST_AT_ONCE / n_passes(n_rows)):
            whole = None
    if source.rewinds:
        return source, whole
    return Begun(source, _again(first, chunks if after is None else chain([after], chunks))), whole


def _again(first: list[Chunk], others: Iterator[Chunk]) -> Iterator[Chunk]:
    """Give the first chunks again, and let go of each; then the others."""
    while first:
        yield first.pop(0)
    yield from others


def some_rows(source: Source, shuffle: bool, seed: int) -> Labelled | None:
    """Return rows from the beginning of the first pass over a source that can be read again.

    None if there is something wrong with them: who learns them will say what.
    """
    return _beginning(source, shuffle, seed, _to_judge_by())


def rows_again(source: Source, shuffle: bool, seed: int, learnt: int) -> Labelled | None:
    """Return more of such rows, as many as memory surely holds beside a model.

    So many, at the beginning of the first pass, have been learnt.
    """
    return _beginning(source, shuffle, seed, Most(min(learnt, MOST_RECALLED), MOST_RECALLED))


def _beginning(source: Source, shuffle: bool, seed: int, most: Most) -> Labelled | None:
    return _within(most, _first_chunks(passes_over(source, shuffle, seed)(0, 0), most))


def looked_into(source: Source) -> tuple[Source, Labelled | None]:
    """Return the first rows of a source that passes once, and the source with them still in it."""
    chunks, most = source.chunks(), _to_judge_by()
    first = _first_chunks(chunks, most)
    some = _within(most, first)
    return Begun(source, _again(first, chunks)), some


def _to_judge_by() -> Most:
    return Most(MOST_ROWS, MOST_NONZEROS)


def _first_chunks(chunks: Iterator[Chunk], most: Most) -> list[Chunk]:
    """Take chunks until there are so many rows or nonzeros."""
    taken: list[Chunk] = []
    n_rows = nonzeros = 0
    for chunk in chunks:
        taken.append(chunk)
        n_rows, nonzeros = n_rows + len(chunk), nonzeros + chunk.columns.size
        if n_rows >= most.rows or nonzeros >= most.nonzeros:
            break
    return taken


def _within(most: Most, chunks: list[Chunk]) -> Labelled | None:
    """Return the rows of chunks that count: the same ones wherever chunks end."""
    if not chunks or any(chunk.labels is None for chunk in chunks):
        return None
    some = gathered(chunks)
    if not (np.isfinite(some.weights).all() and (some.weights >= 0).all()):
        return None
    within = int(np.searchsorted(some.rows.indptr, most.nonzeros))
    return some.beginning(min(most.rows, within))
