"""The history of stages as a table, so that thousands of them are stored in little room."""

from typing import Any

import numpy as np

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


def history_tree(history: list[Record]) -> dict[str, Any]:
    """Return the records as a column for each thing they say."""
    columns: dict[str, np.ndarray] = {
        name: np.array([record[name] for record in history], kind) for name, kind in KINDS.items()
    }
    return {name: narrow(a) if KINDS[name] is int else a for name, a in columns.items()}


def history_from_tree(tree: dict[str, Any]) -> list[Record]:
    """Return the records again."""
    n_records = access.integers(tree, "stage", None, LARGEST).size
    columns = [
        access.integers(tree, name, n_records, LARGEST).tolist()
        if kind is int
        else access.array(tree, name, np.float64, (n_records,)).tolist()
        for name, kind in KINDS.items()
    ]
    return [dict(zip(KINDS, record, strict=True)) for record in zip(*columns, strict=True)]
