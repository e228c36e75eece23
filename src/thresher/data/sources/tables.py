"""Tables: every row has the same columns, of numbers or of categories."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.naming import Names
from thresher.data.sources.assemble import Refuse, assemble

SHOWN = 20  # columns that a message lists


class Table(NamedTuple):
    """Some rows of a table, column by column; None among words is a missing one."""

    numbers: dict[str, np.ndarray]
    words: dict[str, Sequence[str | None]]
    labels: np.ndarray | None
    weights: np.ndarray | None
    n_rows: int


def table_chunk(table: Table, names: Names, refuse: Refuse) -> Chunk:
    """Return rows whose features are called ``column`` or ``column=word``.

    Columns of numbers are numbered first, categories row by row as they occur, so that it does not
    matter where one chunk ends and the next begins.
    """
    categories, word_rows = _categories(table.words)
    numbered = names.number([*table.numbers, *categories])
    columns = np.array(list(table.numbers.values()), np.float64)
    values = columns.reshape(len(table.numbers), table.n_rows).T
    rows, places = np.nonzero(values)
    cells = (
        np.concatenate([rows, word_rows]),
        np.concatenate([numbered[places], numbered[len(table.numbers) :]]),
        np.concatenate([values[rows, places], np.ones(word_rows.size)]),
    )
    return assemble(cells, len(names), table.labels, table.weights, table.n_rows, refuse)


def _categories(words: dict[str, Sequence[str | None]]) -> tuple[list[str], np.ndarray]:
    """Return the names of the categories that occur, row by row, and the rows."""
    starts = [f"{name}=" for name in words]
    names = [
        start + word
        for row in zip(*words.values(), strict=True)
        for start, word in zip(starts, row, strict=True)
        if word is not None
    ]
    present = np.array([[word is not None for word in column] for column in words.values()], bool)
    return names, np.nonzero(present.T)[0] if words else np.zeros(0, np.int64)


def feature_columns(
    columns: Sequence[str], apart: Sequence[str], names: Names, file: str
) -> list[str]:
    """Return the columns that are features: all but those ``apart``.

    A model knows its columns from training. Each of them must be there; others are left out.
    """
    features = [name for name in columns if name not in apart]
    known = names.categorical
    if not known:
        return features
    present = set(features)
    missing = [name for name in known if name not in present]
    if missing:
        raise DataError(
            f"columns are missing that the model has learned from: {listed(missing)}. There are "
            f"{listed(columns)}.",
            file=file,
        )
    return [name for name in features if name in known]


def check_columns(columns: Sequence[str], file: str) -> None:
    """Refuse columns without a name, and names that stand twice."""
    seen: set[str] = set()
    for place, name in enumerate(columns, 1):
        if not name:
            raise DataError(
                "the column has no name. Name it, or write the table without it.",
                file=file,
                column=place,
            )
        if name in seen:
            raise DataError(f"two columns are called {name!r}", file=file, column=place)
        seen.add(name)


def check_same_columns(columns: Sequence[str], first: Sequence[str], file: str) -> None:
    """Refuse a file that has other columns than the first of several."""
    others = sorted(set(columns) ^ set(first))
    if others:
        raise DataError(
            f"columns differ from those of the first file: {listed(others)} in one of them only",
            file=file,
        )


def check_present(name: str, columns: Sequence[str], what: str, file: str) -> None:
    """Refuse a table that lacks the label's or the weight's column."""
    if name not in columns:
        raise DataError(
            f"there is no column {name!r} for the {what}. There are {listed(columns)}: name one of "
            f"them ({what}=..., on the command line --{what}).",
            file=file,
        )


def listed(columns: Sequence[str]) -> str:
    """Return names for a message, not too many."""
    rest = len(columns) - SHOWN
    return ", ".join(map(repr, columns[:SHOWN])) + (f" and {rest:,} more" if rest > 0 else "")
