"""Parquet and Arrow files (IPC, Feather), through pyarrow.

What is read, and what is refused with the file and the row (called a line, counted from 1):

- The first bytes of a file show whether it is Parquet, or Arrow's IPC file or stream.
- Where there is a column ``names``, ``indices`` or ``features`` that holds lists of strings or of
  whole numbers, its items are the features of a row, and those of column ``values``, lists of the
  same lengths, their values; without that column all values are 1. Whole numbers are columns as
  they are, counted from 0 unless ``index_base`` is 1. Items that occur in a row several times are
  added up; an item that is null is refused. Other columns, but for label and weight, are not used.
- Otherwise every column but label and weight is a feature, unless ``keep``, ``ignore`` or
  ``index_column`` leave it out: numbers, true and false as 1 and 0, strings (also as Arrow's
  dictionaries) as categories, called ``town=Bern``. Null is a missing value, as in CSV files
  (``missing``); NaN and infinity are refused. Columns of other types are refused.
- A label is a number or a string, the same in all rows, in column ``label`` unless another is
  named. It may only be null where labels are not required; in prediction its column is not read.
- The weight's column, if one is named, holds finite numbers that are not negative.

A model's columns must all be there with the same kind of content; columns it does not know are left
out. With ``on_error="skip"`` a refused row is left out and counted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thresher.formats.arrow_files import (
    LISTS,
    NOTHING,
    NUMBERS,
    WORDS,
    ArrowFile,
    Lists,
    arrow_errors,
    is_integer,
    kind_of,
    missing_in,
    numbers_of,
    without_rows,
    words_of,
)
from thresher.formats.chunk import Chunk, Refuse, assemble
from thresher.formats.errors import BadRow, DataError
from thresher.formats.fields import Problems, bad_weight
from thresher.formats.labels import Label, label_array
from thresher.formats.named import TabularSource
from thresher.formats.names import ZERO, Names
from thresher.formats.protocol import Format, Reading
from thresher.formats.tables import (
    Table,
    check_present,
    check_same_columns,
    feature_columns,
)

KEYS = ("names", "indices", "features")  # what the lists of names or indices may be called
VALUES = "values"


class ArrowSource(TabularSource):
    """Rows of Parquet files, or of Arrow's IPC files and streams."""

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        self._label = reading.label or "label"
        self.no_label = f"the row has no label: {self._label!r} is null"
        super().__init__(paths, reading, names)
        self._files = [ArrowFile(path) for path in self.files.paths]
        schema = self._files[0].schema
        if _has_indices(schema, _key_column(schema, paths[0])):
            self._number_columns(names, paths[0])
        counts = [file.n_rows for file in self._files]
        if reading.on_error == "raise" and None not in counts:
            self.n_rows = sum(count or 0 for count in counts)

    def _number_columns(self, names: Names | None, file: str) -> None:
        """Take features for numbers, as the first file does."""
        if names is not None:
            raise DataError(
                "features are indices, but the model knows its features by name", file=file
            )
        self.names = None
        self.index_base = self.reading.index_base or 0

    def _read(self) -> Iterator[Chunk]:
        width = 0
        for file in self._files:
            shape = self._shape(file.schema, file.path)
            apart = [n for n in file.schema.names if n in (self._label, self.reading.weight)]
            line = 1
            for batch in file.batches([*shape.columns, *apart]):
                with arrow_errors(file.path, f"rows from {line} on cannot be read"):
                    chunk = self._chunk(shape, batch, file.path, line)
                width = max(width, chunk.width)
                yield replace(chunk, width=width) if self.names is None else chunk
                line += batch.num_rows

    def _shape(self, schema: Any, file: str) -> "Wide | Long":
        """Return how rows lie in a file."""
        check_present(self.reading, schema.names, file)
        key = _key_column(schema, file)
        if _has_indices(schema, key) != (self.names is None):
            raise DataError("features are names in one file and indices in another", file=file)
        if key is not None:
            return Long(schema, key, self.names, self.index_base, file)
        check_same_columns(schema.names, self._files[0].schema.names, file)
        return Wide(schema, self.reading, self.naming, file, self._table_chunk)

    def _chunk(self, shape: "Wide | Long", batch: Any, file: str, line: int) -> Chunk:
        """Return a batch's rows, without those that are refused."""
        lines = np.arange(line, line + batch.num_rows)
        while True:
            problems: Problems = {}
            features = shape.read(batch, problems)
            labels = self._labels(batch, file, problems)
            weights = self._weights(batch, file, problems)
            if not problems:
                break
            for row in sorted(problems):
                self._refuse(problems[row], file, int(lines[row]))
            batch, lines = without_rows(batch, problems), np.delete(lines, list(problems))

        def refuse(row: int, message: str) -> None:
            self._refuse(BadRow(message), file, int(lines[row]))

        return shape.chunk(features, labels, weights, refuse)

    def _labels(self, batch: Any, file: str, problems: Problems) -> np.ndarray | None:
        """Return the labels of some rows."""
        if self.labels.ignored or self._label not in batch.schema.names:
            return None
        array = batch.column(self._label)
        words = _kind_among(array, (NUMBERS, WORDS, NOTHING), self._label, file) == WORDS
        texts: Sequence[Any] = words_of(array) if words else numbers_of(array).tolist()
        read: Any = self.labels.word if words else self.labels.number
        missing = missing_in(array).tolist()
        labels: list[Label] = []
        for row, label in enumerate(texts):
            try:
                labels.append(self.labels.missing() if missing[row] else read(label))
            except BadRow as problem:
                labels.append(None)
                problems.setdefault(row, problem)
        return label_array(labels)

    def _weights(self, batch: Any, file: str, problems: Problems) -> np.ndarray | None:
        """Return how much some rows count."""
        name = self.reading.weight
        if name is None or self.labels.ignored:
            return None
        array = batch.column(name)
        _kind_among(array, (NUMBERS,), name, file)
        weights = numbers_of(array)
        weights[missing_in(array)] = np.nan
        for row in np.flatnonzero(~((weights >= 0) & np.isfinite(weights))).tolist():
            problems.setdefault(row, bad_weight(weights[row]))
        return weights


def _kind_among(array: Any, kinds: Sequence[str], name: str, file: str) -> str:
    """Return what a column holds, if it is one of several kinds."""
    kind = kind_of(array.type)
    if kind not in kinds:
        raise DataError(
            f"column {name!r} is of type {array.type}, which cannot be a label or a weight",
            file=file,
        )
    return kind


class Wide:
    """A column per feature: numbers, or categories where the column's type is that of strings."""

    def __init__(
        self,
        schema: Any,
        reading: Reading,
        naming: Names,
        file: str,
        chunk: Callable[[Table, Refuse], Chunk],
    ) -> None:
        self.naming, self._chunk, self._complete = naming, chunk, reading.missing == "error"
        self.columns = feature_columns(schema.names, reading, naming, file)
        for name in self.columns:
            self._learn_kind(name, schema.field(name).type, file)

    def read(self, batch: Any, problems: Problems) -> Table:
        """Return the columns of some rows, and note the problems of each row."""
        table = Table({}, {}, None, None, batch.num_rows)
        for name in self.columns:
            array = batch.column(name)
            if self.naming.kinds[name] is None:
                table.words[name] = words_of(array)
                continue
            table.numbers[name] = values = numbers_of(array)
            for row in np.flatnonzero(~np.isfinite(values)).tolist():
                message = f"{values[row]} in column {name!r} is not finite: null is a missing value"
                problems.setdefault(row, BadRow(message))
            gaps = missing_in(array)
            if self._complete:
                problem = BadRow(f"there is no number in column {name!r}")
                problems.update(dict.fromkeys(np.flatnonzero(gaps).tolist(), problem))
            values[gaps] = np.nan
        return table

    def chunk(
        self, read: Any, labels: np.ndarray | None, weights: np.ndarray | None, refuse: Refuse
    ) -> Chunk:
        """Return what was read as a chunk."""
        return self._chunk(read._replace(labels=labels, weights=weights), refuse)

    def _learn_kind(self, name: str, kind: Any, file: str) -> None:
        """Find out what a column holds; it must be what it held in other files."""
        found = kind_of(kind)
        if found not in (NUMBERS, WORDS, NOTHING):
            raise DataError(
                f"column {name!r} is of type {kind}: make numbers or strings of it, or leave it "
                f"out (ignore=[{name!r}], --ignore {name})",
                file=file,
            )
        known = self.naming.kinds.setdefault(name, None if found == WORDS else ZERO) is None
        if found != NOTHING and known != (found == WORDS):
            before = "categories (strings)" if known else "numbers"
            raise DataError(
                f"column {name!r} is of type {kind}, but held {before} before: convert it",
                file=file,
            )


class Long:
    """A list of names or indices, and beside it a list of values; without one, values are 1."""

    def __init__(self, schema: Any, key: str, naming: Names | None, base: int, file: str) -> None:
        self.key, self.naming, self.base = key, naming, base
        self.has_values = VALUES in schema.names
        self.columns = [key, VALUES] if self.has_values else [key]
        kind = schema.field(VALUES).type if self.has_values else None
        if kind is not None and not _holds_lists(kind, (NUMBERS,)):
            raise DataError(
                f"column {VALUES!r} is of type {kind}, and should hold lists of numbers as long as "
                f"those of {key!r}",
                file=file,
            )

    def read(self, batch: Any, problems: Problems) -> Any:
        """Return rows, names or indices, and values of all items."""
        keys = Lists(batch.column(self.key))
        for row in keys.rows_with_missing().tolist():
            problems.setdefault(row, BadRow(f"an item of {self.key!r} is null"))
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
            problems.setdefault(row, BadRow(message))
        return columns

    def _values(self, batch: Any, keys: Lists, problems: Problems) -> np.ndarray:
        if not self.has_values:
            return np.ones(keys.rows.size)
        values = Lists(batch.column(VALUES))
        for row in np.flatnonzero(values.lengths != keys.lengths).tolist():
            counts = f"{keys.lengths[row]} items in {self.key!r} and {values.lengths[row]}"
            problems.setdefault(row, BadRow(f"the row has {counts} in {VALUES!r}"))
        numbers = numbers_of(values.items)
        for row in values.rows_with_missing().tolist():
            problems.setdefault(row, BadRow(f"an item of {VALUES!r} is null"))
        for row in np.unique(values.rows[~np.isfinite(numbers)]).tolist():
            problems.setdefault(row, BadRow(f"an item of {VALUES!r} is not finite"))
        return numbers


def _key_column(schema: Any, file: str) -> str | None:
    """Return the column that holds lists of names or indices; None if there is none."""
    keys = [name for name in KEYS if name in schema.names and _holds_keys(schema.field(name).type)]
    if len(keys) > 1:
        raise DataError(f"{keys[0]!r} and {keys[1]!r} both hold lists: leave one out", file=file)
    return keys[0] if keys else None


def _has_indices(schema: Any, key: str | None) -> bool:
    """Return whether features are indices and not names."""
    return key is not None and is_integer(schema.field(key).type.value_type)


def _holds_keys(kind: Any) -> bool:
    return _holds_lists(kind, (WORDS,)) or (kind_of(kind) == LISTS and is_integer(kind.value_type))


def _holds_lists(kind: Any, kinds: Sequence[str]) -> bool:
    return kind_of(kind) == LISTS and kind_of(kind.value_type) in kinds


OPTIONS = "label weight index_base hash_bits keep ignore index_column missing"
FORMAT = Format(ArrowSource, options=tuple(OPTIONS.split()))
