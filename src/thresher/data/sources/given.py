"""Rows that a program gives: any iterable of arrays and labels."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.labels import first_missing, first_time
from thresher.data.matrix import canonical_csr
from thresher.data.naming import Names
from thresher.data.sources.given_columns import GivenColumns
from thresher.data.sources.protocol import Skipped


class GivenSource:
    """Pairs of rows and labels, or triples with weights; a list can be read again."""

    def __init__(self, chunks: Iterable[Any]) -> None:
        self.given = chunks
        self.rewinds = not isinstance(chunks, Iterator)
        self.n_rows = _count(chunks) if isinstance(chunks, list | tuple) else None
        self.index_base = None
        self.skipped = Skipped()
        self._columns = GivenColumns()

    @property
    def names(self) -> Names | None:
        """What columns are called, as soon as the first item has been read."""
        return self._columns.names

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows from the first on."""
        width, words = 0, None
        for number, item in enumerate(self.given, 1):
            rows, labels, weights = _parts(item, number)
            self._columns.see(item[0], rows.shape[1], number)
            before, words = words, labels.dtype.kind in "OUS"
            if before not in (None, words):
                raise DataError(
                    f"The labels of item {number} of the stream are of another type than those "
                    "before: make them all strings or all numbers."
                )
            width = max(width, rows.shape[1])
            # copies: rows may be kept for a while, and a program may fill the same arrays again
            yield Chunk(
                rows.indptr.astype(np.int64),
                rows.indices.astype(np.int64),
                rows.data.copy(),
                width,
                labels.copy(),
                None if weights is None else weights.copy(),
            )

    def fingerprint(self) -> str:
        """Return nothing: what a program gives has no mark of its own."""
        return ""


def _count(items: Sequence[Any]) -> int:
    """Return the rows of items that are all at hand."""
    return sum(_parts(item, number)[0].shape[0] for number, item in enumerate(items, 1))


def _parts(item: Any, number: int) -> tuple[sparse.csr_array, np.ndarray, np.ndarray | None]:
    """Return rows, labels and weights of one item, checked."""
    if not isinstance(item, tuple) or len(item) not in (2, 3):
        raise DataError(
            f"Item {number} of the stream is {type(item).__name__}: give tuples of rows and "
            "labels, or of rows, labels and weights."
        )
    rows, labels = canonical_csr(item[0]), np.asarray(item[1])
    weights = np.asarray(item[2], np.float64) if len(item) == 3 else None
    if labels.shape != (rows.shape[0],):
        raise DataError(
            f"Item {number} of the stream has {rows.shape[0]} rows and labels of shape "
            f"{labels.shape}."
        )
    missing = first_missing(labels)
    if missing is not None:
        raise DataError(f"Item {number} of the stream has no label at its row {missing + 1}.")
    dated = first_time(labels)
    if dated is not None:
        raise DataError(
            f"Item {number} of the stream has a date or a time for a label, {labels[dated]!s} at "
            f"its row {dated + 1}: labels are numbers or strings. Make strings of them."
        )
    if not np.isfinite(rows.data).all():
        raise DataError(f"Item {number} of the stream has values that are not finite.")
    return rows, labels, weights
