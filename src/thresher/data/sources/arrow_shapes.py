"""The two shapes of Parquet and Arrow files: a column per feature, or lists of features."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.naming import Names
from thresher.data.sources.arrow_columns import (
    LISTS,
    NOTHING,
    NUMBERS,
    WORDS,
    Lists,
    is_integer,
    kind_of,
    note_not_finite,
    numbers_of,
    words_of,
)
from thresher.data.sources.assemble import Refuse, assemble
from thresher.data.sources.cells import Problems
from thresher.data.sources.fields import Malformed
from thresher.data.sources.tables import Table, feature_columns, table_chunk

KEYS = ("names", "indices", "features")  # what the lists of names or indices may be called
VALUES = "values"


class Wide:
    """A column per feature: numbers, or categories where the column's type is that of strings."""

    def __init__(self, schema: Any, apart: Sequence[str], naming: Names, file: str) -> None:
        self.naming = naming
        self.columns = feature_columns(schema.names, apart, naming, file)
        for name in self.columns:
            self._learn_kind(name, schema.field(name).type, file)

    def read(self, batch: Any, problems: Problems) -> Table:
        """Return the columns of some rows, and note the problems of each row."""
        numbers: dict[str, np.ndarray] = {}
        words: dict[str, Sequence[str | None]] = {}
        for name in self.columns:
            array = batch.column(name)
            if self.naming.categorical[name]:
                words[name] = words_of(array)
            else:
                numbers[name] = numbers_of(array)
                note_not_finite(numbers[name], name, problems)
        return Table(numbers, words, None, None, batch.num_rows)

    def chunk(
        self, read: Any, labels: np.ndarray | None, weights: np.ndarray | None, refuse: Refuse
    ) -> Chunk:
        """Return what was read as a chunk."""
        table = read._replace(labels=labels, weights=weights)
        return table_chunk(table, self.naming, refuse)

    def _learn_kind(self, name: str, kind: Any, file: str) -> None:
        """Find out what a column holds; it must be what it held in other files."""
        found = kind_of(kind)
        if found not in (NUMBERS, WORDS, NOTHING):
            raise DataError(
                f"column {name!r} is of type {kind}: make numbers or strings of it, or leave it "
                "out",
                file=file,
            )
        known = self.naming.categorical.setdefault(name, found == WORDS)
        if found != NOTHING and known != (found == WORDS):
            before = "categories (strings)" if known else "numbers"
            raise DataError(
                f"column {name!r} is of type {kind}, but was learned from as {before}: convert it",
                file=file,
            )


class Long:
    """A list of names or indices, and beside it a list of values; without one, values are 1."""

    def __init__(self, schema: Any, key: str, naming: Names | None, base: int, file: str) -> None:
        self.key, self.naming, self.base = key, naming, base
        self.has_values = VALUES in schema.names
        self.columns = [key, VALUES] if self.has_values else [key]
        if self.has_values and not _holds_numbers(schema.field(VALUES).type):
            raise DataError(
                f"column {VALUES!r} is of type {schema.field(VALUES).type}, and should hold lists "
                f"of numbers as long as those of {key!r}",
                file=file,
            )

    def read(self, batch: Any, problems: Problems) -> Any:
        """Return rows, names or indices, and values of all items."""
        keys = Lists(batch.column(self.key))
        for row in keys.rows_with_missing().tolist():
            problems.setdefault(row, Malformed(f"an item of {self.key!r} is null"))
        values = self._values(batch, keys, problems)
        return keys.rows, self._items(keys, problems), values, batch.num_rows

    def chunk(
        self, read: Any, labels: np.ndarray | None, weights: np.ndarray | None, refuse: Refuse
    ) -> Chunk:
        """Return what was read as a chunk."""
        rows, items, values, n_rows = read
        columns = items if self.naming is None else self.naming.number(items)
        width = 0 if self.naming is None else len(self.naming)
        return assemble((rows, columns, values), width, labels, weights, n_rows, refuse)

    def _items(self, keys: Lists, problems: Problems) -> Any:
        if self.naming is not None:
            return [name or "" for name in words_of(keys.items)]
        columns = keys.integers() - self.base
        for row in np.unique(keys.rows[columns < 0]).tolist():
            message = f"an index is below {self.base}, where counting begins"
            problems.setdefault(row, Malformed(message))
        return columns

    def _values(self, batch: Any, keys: Lists, problems: Problems) -> np.ndarray:
        if not self.has_values:
            return np.ones(keys.rows.size)
        values = Lists(batch.column(VALUES))
        for row in np.flatnonzero(values.lengths != keys.lengths).tolist():
            counts = f"{keys.lengths[row]} items in {self.key!r} and {values.lengths[row]}"
            problems.setdefault(row, Malformed(f"the row has {counts} in {VALUES!r}"))
        numbers = numbers_of(values.items)
        for row in values.rows_with_missing().tolist():
            problems.setdefault(row, Malformed(f"an item of {VALUES!r} is null"))
        for row in np.unique(values.rows[~np.isfinite(numbers)]).tolist():
            problems.setdefault(row, Malformed(f"an item of {VALUES!r} is not finite"))
        return numbers


def key_column(schema: Any, file: str) -> str | None:
    """Return the column that holds lists of names or indices; None if there is none."""
    keys = [name for name in KEYS if name in schema.names and _holds_keys(schema.field(name).type)]
    if len(keys) > 1:
        raise DataError(f"{keys[0]!r} and {keys[1]!r} both hold lists: leave one out", file=file)
    return keys[0] if keys else None


def has_numbers(schema: Any, key: str | None) -> bool:
    """Return whether features are indices and not names."""
    return key is not None and is_integer(schema.field(key).type.value_type)


def _holds_keys(kind: Any) -> bool:
    return kind_of(kind) == LISTS and (
        is_integer(kind.value_type) or kind_of(kind.value_type) == WORDS
    )


def _holds_numbers(kind: Any) -> bool:
    return kind_of(kind) == LISTS and kind_of(kind.value_type) == NUMBERS
