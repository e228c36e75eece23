"""What a source tells of its rows, labels and weights, and which row's cannot be learnt."""

from contextlib import suppress
from typing import Any

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.sources.protocol import Source
from thresher.estimators.inputs import check_weights

Told = tuple[np.ndarray, np.ndarray]  # labels and weights


def told_of(estimator: Any, source: Source, chunk: Chunk, before: int) -> Told:
    """Return labels and weights of the chunk after so many rows of a pass, if all can be learnt."""
    with suppress(ValueError):
        return _checked(estimator, chunk, before)
    if source.rewinds:  # passes may be shuffled: its own order tells a row's number
        _refuse_first(estimator, source)
    return _checked(estimator, chunk, before)


def _refuse_first(estimator: Any, source: Source) -> None:
    """Raise what is wrong with the first row of a source that cannot be learnt."""
    before = 0
    for chunk in source.chunks():
        _checked(estimator, chunk, before)
        before += len(chunk)


def _checked(estimator: Any, chunk: Chunk, before: int) -> Told:
    first = before + 1
    if chunk.labels is None:
        raise DataError(f"Row {first:,} has no label: training needs one for every row.")
    labels = estimator._chunk_labels(chunk.labels, first)
    return labels, check_weights(chunk.weights, len(chunk), first)
