"""The history of stages as a table: there may be a million of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from thresher.data.growth import Log
from thresher.files import access
from thresher.files.words import narrow

Record = dict[str, Any]

# What a record of a stage says, in the order in which it says it, and of which type that is.
KINDS: dict[str, type] = {
    "stage": int,
    "rows_seen": int,
    "stable": int,
    "nonzero": int,
    "rejection_rate": float,
    "gravity": float,
    "burst_size": int,
}
LARGEST = 1 << 62


class StageHistory:
    """A record for every stage that was closed; they become dictionaries when looked at."""

    def __init__(self) -> None:
        self._columns = Log(**{name: np.zeros(0, kind) for name, kind in KINDS.items()})

    def __len__(self) -> int:
        return int(self._columns.length[0])

    def __iter__(self) -> Iterator[Record]:
        columns = [column.tolist() for column in self._columns.used().values()]
        return (dict(zip(KINDS, record, strict=True)) for record in zip(*columns, strict=True))

    def extend(self, **columns: Any) -> None:
        """Add records, given as an array for each thing that they say."""
        self._columns.extend(**columns)

    def append(self, **numbers: float) -> None:
        """Add a record."""
        self._columns.add(**numbers)

    def cut(self, n_records: int) -> None:
        """Forget all records but the first."""
        self._columns.length[0] = n_records

    def tree(self) -> dict[str, Any]:
        """Return the columns, each in as little room as it needs."""
        used = self._columns.used().items()
        return {name: narrow(a) if KINDS[name] is int else a.copy() for name, a in used}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "StageHistory":
        """Return the history that gave a tree."""
        n_records = access.integers(tree, "stage", None, LARGEST).size
        read = cls()
        read.extend(
            **{
                name: access.integers(tree, name, n_records, LARGEST)
                if kind is int
                else access.array(tree, name, np.float64, (n_records,))
                for name, kind in KINDS.items()
            }
        )
        return read
