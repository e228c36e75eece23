"""Rows that a program gives: any iterable of arrays and labels, as a source."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from thresher.estimators.inputs import check_rows
from thresher.estimators.labels import refuse_unlearnable
from thresher.formats.chunk import Chunk
from thresher.formats.errors import DataError
from thresher.formats.names import GrowingNames, Names
from thresher.formats.protocol import Skipped


class GivenSource:
    """Pairs of rows and labels, or triples with weights; a list can be read again.

    All must have the columns of the first; those of data frames are found by name.
    """

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = items
        self.rewinds = not isinstance(items, Iterator)
        self.n_rows = _count(items) if isinstance(items, list | tuple) else None
        self.index_base = None
        self.skipped = Skipped()
        self.decided: list[str] = []
        self._first = BaseEstimator()  # knows the columns of the first item, as any estimator does

    @property
    def names(self) -> Names | None:
        """Return what columns are called, as soon as the first item has been read."""
        known = getattr(self._first, "feature_names_in_", None)
        # each is a column of numbers, as in the file of a table
        return None if known is None else GrowingNames(known, dict.fromkeys(known.tolist(), False))

    def fingerprint(self) -> str:
        """Return nothing: given rows have nothing that identifies them."""
        return ""

    def modified(self) -> list[int]:
        """Return nothing: there are no files."""
        return []

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows from the first on."""
        for number, item in enumerate(self.items, 1):
            try:
                yield self._chunk(item, reset=not hasattr(self._first, "n_features_in_"))
            except (ValueError, TypeError) as error:
                raise DataError(f"Item {number} of the stream: {error}") from None

    def _chunk(self, item: Any, reset: bool) -> Chunk:
        """Return one item, checked; a copy, for a program may fill the same arrays again."""
        if not isinstance(item, tuple) or len(item) not in (2, 3):
            raise ValueError(
                f"it is a {type(item).__name__}. Give tuples of rows and labels, or of rows, "
                "labels and weights."
            )
        rows, labels = check_rows(self._first, item[0], reset), np.array(item[1])
        if labels.shape != (rows.n,):
            raise ValueError(f"it has {rows.n} rows, and labels of shape {labels.shape}.")
        refuse_unlearnable(labels, "labels")
        return Chunk(
            rows.starts.copy(),
            rows.columns.astype(np.int64),
            rows.values.copy(),
            self._first.n_features_in_,
            labels,
            np.array(item[2], np.float64) if len(item) == 3 else None,
        )


def _count(items: Iterable[Any]) -> int | None:
    """Return the number of rows of items that are all at hand, if that is what they are."""
    shapes = [np.shape(one[0]) if isinstance(one, tuple) and one else () for one in items]
    return sum(shape[0] for shape in shapes) if all(shapes) else None
