"""Tables: every row has the same columns, of numbers or of categories."""

import warnings
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from thresher.formats.chunk import Chunk, Refuse, assemble
from thresher.formats.errors import BadRow, DataError
from thresher.formats.labels import is_missing
from thresher.formats.names import ZERO, Kind, Names, has_mean
from thresher.formats.protocol import Reading

ABSENT = "missing"  # the category of a missing number
SHOWN = 20  # columns that a message lists
FEWEST = 20  # values that are enough to judge a column
NEARLY_ALL = 0.9  # of which at least so many differ where they are no categories


class Table(NamedTuple):
    """Some rows of a table, column by column; NaN and None are missing."""

    numbers: dict[str, np.ndarray]
    words: dict[str, Sequence[str | None]]
    labels: np.ndarray | None
    weights: np.ndarray | None
    n_rows: int


def table_chunk(table: Table, names: Names, refuse: Refuse) -> Chunk:
    """Return rows whose features are called ``column``, ``column=word`` or ``column=missing``.

    Columns of numbers are numbered first, categories row by row as they occur, so that it does not
    matter where one chunk ends and the next begins.
    """
    table = _filled(table, names)
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


def learn_means(table: Table, names: Names) -> None:
    """Let the mean of each new column of numbers stand in for those that are missing."""
    for name, numbers in table.numbers.items():
        if table.n_rows and not has_mean(names.kinds[name]):
            present = numbers[~np.isnan(numbers)]
            with np.errstate(over="ignore"):
                mean = float(present.mean()) if present.size else 0.0
            names.kinds[name] = mean if np.isfinite(mean) else 0.0


def as_in_table(found: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Mapping[str, Any]:
    """Return the entries of an object as the row of a table that a model has learned from.

    Without such a table they are returned as they are. In a table, what is not there is missing,
    and what the model has no column for is no feature.
    """
    entries: dict[str, Any] = {}
    for name, kind in kinds.items():
        value = found.get(name)
        missing = is_missing(value)
        if kind is not None and isinstance(value, str):
            raise BadRow(f"the value of {name!r} is a string, but was a number before: convert it")
        if kind is None and isinstance(value, int | float) and not missing:
            entries[name] = as_word(value)
        elif has_mean(kind) and missing:
            entries |= {name: kind, f"{name}={ABSENT}": 1}
        else:
            entries[name] = None if missing else value
    return entries if kinds else found


def as_word(number: float) -> str:
    """Return a number as a CSV file has it."""
    return str(number).removesuffix(".0")


def _filled(table: Table, names: Names) -> Table:
    """Return a table without missing numbers; a category shows where a mean stands for one."""
    numbers, words = dict(table.numbers), dict(table.words)
    for name in columns_with_gaps(table):
        gaps, kind = np.isnan(numbers[name]), names.kinds[name]
        mean = 0.0 if kind in (None, ZERO) else kind
        numbers[name] = np.where(gaps, mean, numbers[name])
        if has_mean(kind):
            words[name] = [ABSENT if gap else None for gap in gaps.tolist()]
    return table._replace(numbers=numbers, words=words)


def columns_with_gaps(table: Table) -> list[str]:
    """Return the columns in which numbers are missing."""
    return [name for name, numbers in table.numbers.items() if np.isnan(numbers).any()]


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


def columns_apart(reading: Reading) -> list[str]:
    """Return the columns that are no features: of the label, the weight and the index."""
    apart = (reading.label or "label", reading.weight, reading.index_column)
    return [name for name in apart if name is not None]


def feature_columns(columns: Sequence[str], reading: Reading, names: Names, file: str) -> list[str]:
    """Return the columns that are features: those a model knows, or those the reading chooses."""
    apart = columns_apart(reading)
    features = [name for name in columns if name not in apart]
    if names.kinds:
        return check_known(features, names, file)
    if reading.index_column not in (None, *columns):
        raise DataError(
            f"index_column: no column is called {reading.index_column!r}. There are "
            f"{listed(columns)}.",
            file=file,
        )
    return _chosen(features, reading, file)


def check_known(columns: Sequence[str], names: Names, file: str | None) -> list[str]:
    """Return the columns that a model has learned from, all of which must be there."""
    known, there = names.kinds, set(columns)
    missing = [name for name in known if name not in there]
    if missing:
        raise DataError(
            f"columns are missing that the model has learned from: {listed(missing)}. There are "
            f"{listed(columns)}.",
            file=file,
        )
    return [name for name in columns if name in known] if known else list(columns)


def _chosen(features: list[str], reading: Reading, file: str) -> list[str]:
    """Return the features that are kept, and not ignored."""
    kept = set(_matching(features, "keep", reading.keep, file)) if reading.keep else set(features)
    kept -= set(_matching(features, "ignore", reading.ignore, file))
    chosen = [name for name in features if name in kept]
    if features and not chosen:
        raise DataError("keep and ignore leave no column to learn from", file=file)
    check_distinct(chosen, file)
    return chosen


def check_distinct(features: Sequence[str], file: str | None) -> None:
    """Refuse a column that is called like a category of another one."""
    there = set(features)
    for name in (name for name in features if "=" in name):
        column = next(
            (name[:i] for i, c in enumerate(name) if c == "=" and name[:i] in there), None
        )
        if column is not None:
            raise DataError(
                f"column {name!r} is called like a category of column {column!r}: rename one of "
                "them, or leave one out",
                file=file,
            )


def _matching(columns: list[str], what: str, patterns: Sequence[str], file: str) -> list[str]:
    """Return the columns that match a pattern; each pattern must match one."""
    found: list[str] = []
    for pattern in patterns:
        matching = [name for name in columns if name == pattern or fnmatchcase(name, pattern)]
        if not matching:
            raise DataError(
                f"{what}: no feature is called {pattern!r}. There are {listed(columns)}.", file=file
            )
        found += matching
    return found


def check_columns(columns: Sequence[str], file: str) -> None:
    """Refuse columns without a name, and names that occur twice."""
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


def check_present(reading: Reading, columns: Sequence[str], file: str) -> None:
    """Refuse a table that lacks a column that the reading names."""
    wanted = {"label": reading.label or "label"} if reading.labelled else {}
    if reading.weight is not None and not reading.ignore_labels:
        wanted["weight"] = reading.weight
    for what, name in wanted.items():
        if name not in columns:
            raise DataError(
                f"there is no column {name!r} for the {what}. There are {listed(columns)}: name "
                f"one of them ({what}=, --{what}).",
                file=file,
            )


def listed(columns: Sequence[str]) -> str:
    """Return names for a message, not too many."""
    rest = len(columns) - SHOWN
    return ", ".join(map(repr, columns[:SHOWN])) + (f" and {rest:,} more" if rest > 0 else "")


def note_categories(columns: Sequence[str], because: str) -> list[str]:
    """Return the note that some columns were taken for categories, if any were."""
    return [f"Read as categories, as {because}: {listed(columns)}."] if columns else []


def note_gaps(columns: Sequence[str]) -> list[str]:
    """Return the note that numbers are missing in some columns, if there are any."""
    if not columns:
        return []
    return [
        f"Numbers are missing in {listed(columns)}: each counts as its column's mean, beside a "
        f"feature such as '{columns[0]}={ABSENT}'. missing= (--missing) has alternatives."
    ]


def warn_of_distinct_values(columns: Mapping[str, Sequence[str]]) -> None:
    """Warn if nearly all values of some columns differ: they are of no use for other rows."""
    distinct = [name for name, values in columns.items() if _differ(values)]
    if distinct:
        warnings.warn(
            f"Nearly all values of {listed(distinct)} differ: each is a category of its own, from "
            "which nothing can be learned about other rows. Leave columns of ids out (ignore=, "
            "--ignore), make numbers of dates, and read sentences as lines of label<TAB>text "
            "(format='text', --format text).",
            UserWarning,
            stacklevel=2,
        )


def _differ(values: Sequence[str]) -> bool:
    present = [value for value in values if value.strip()]
    return len(present) >= FEWEST and len(set(present)) >= NEARLY_ALL * len(present)
