"""Rows of a source that are few enough to be learned together."""

from typing import Any

from thresher.estimators.learning import OnlineModel
from thresher.formats.chunk import Chunk, joined
from thresher.formats.errors import DataError
from thresher.formats.protocol import PeekedSource, Progress, Source

MOST = 1 << 24  # rows and nonzeros that are surely no burden: a quarter of a gigabyte


def fit_together(
    model: OnlineModel, source: Source, classes: Any = None, progress: Progress | None = None
) -> tuple[OnlineModel | None, Source]:
    """Return a model fitted to all rows of a source, and the source; None if the rows are many."""
    chunk, source = gather(source, progress)
    return (None if chunk is None else model.fit_chunk(chunk, source, classes)), source


def gather(source: Source, progress: Progress | None = None) -> tuple[Chunk | None, Source]:
    """Return all rows of a source, None if they are many, and a source with all of them."""
    chunks, size, n_rows = [], 0, 0
    rest = source.chunks()
    for chunk in rest:
        chunks.append(chunk)
        size, n_rows = size + len(chunk) + chunk.columns.size, n_rows + len(chunk)
        if size > MOST:
            return None, source if source.rewinds else PeekedSource(source, chunks, rest)
        if progress is not None:
            progress(n_rows)
    if not n_rows:
        raise DataError("There is not a single row to learn from.")
    return joined(chunks), source
