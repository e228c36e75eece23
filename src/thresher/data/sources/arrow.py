"""Parquet and Arrow files (IPC, Feather), through pyarrow.

What is read, and what is refused with the file and the row (called a line, counted from 1):

- The first bytes of a file tell whether it is Parquet, or Arrow's IPC file or stream.
- Where there is a column ``names``, ``indices`` or ``features`` that holds lists of strings or of
  whole numbers, its items are the features of a row, and those of column ``values``, lists of the
  same lengths, their values; without that column all values are 1. Whole numbers are columns as
  they stand, counted from 0 unless the reading says 1. Items that stand in a row several times are
  added up; an item that is null is refused. Other columns, but for label and weight, are read over.
- Otherwise every column but label and weight is a feature: numbers, true and false as 1 and 0,
  strings (also as Arrow's dictionaries) as categories, called ``town=Bern``. Null is a missing
  value and counts as 0; NaN and infinity are refused. Columns of other types are refused.
- A label is a number or a string, the same in all rows, in column ``label`` unless told. It may
  only be null where labels are not required; in prediction its column is not looked at.
- The weight's column, if one is told, holds finite numbers that are not negative.

A model's columns must all be there with the same kind of content; columns it does not know are left
out. With ``on_error="skip"`` a refused row is left out and counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.naming import Names
from thresher.data.sources.arrow_columns import (
    NOTHING,
    NUMBERS,
    WORDS,
    kind_of,
    missing_in,
    numbers_of,
    words_of,
)
from thresher.data.sources.arrow_files import ArrowFile, in_words, without_rows
from thresher.data.sources.arrow_shapes import Long, Wide, has_numbers, key_column
from thresher.data.sources.assemble import label_array
from thresher.data.sources.cells import Problems
from thresher.data.sources.fields import Label, Malformed, bad_weight
from thresher.data.sources.named import NamedSource
from thresher.data.sources.protocol import Reading
from thresher.data.sources.tables import check_columns, check_present, check_same_columns


class ArrowSource(NamedSource):
    """Rows of Parquet files, or of Arrow's IPC files and streams."""

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        self._label, self._weight = reading.label or "label", reading.weight
        self.no_label = f"the row has no label: {self._label!r} is null"
        super().__init__(paths, reading, names)
        self._files = [ArrowFile(path) for path in self.files.paths]
        schema = self._files[0].schema
        if has_numbers(schema, key_column(schema, paths[0])):
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
            line = 1
            for batch in file.batches([*shape.columns, *self._apart(file.schema)]):
                with in_words(file.path, f"rows from {line} on cannot be read"):
                    chunk = self._chunk(shape, batch, file.path, line)
                width = max(width, chunk.width)
                yield replace(chunk, width=width) if self.names is None else chunk
                line += batch.num_rows

    def _apart(self, schema: Any) -> list[str]:
        """Return the columns that are no features."""
        return [name for name in schema.names if name in (self._label, self._weight)]

    def _shape(self, schema: Any, file: str) -> Wide | Long:
        """Return how rows lie in a file."""
        check_columns(schema.names, file)
        if self.reading.labelled:
            check_present(self._label, schema.names, "label", file)
        if self._weight is not None:
            check_present(self._weight, schema.names, "weight", file)
        key = key_column(schema, file)
        if has_numbers(schema, key) != (self.names is None):
            raise DataError("features are names in one file and indices in another", file=file)
        if key is not None:
            return Long(schema, key, self.names, self.index_base, file)
        check_same_columns(schema.names, self._files[0].schema.names, file)
        return Wide(schema, self._apart(schema), self.naming, file)

    def _chunk(self, shape: Wide | Long, batch: Any, file: str, line: int) -> Chunk:
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
            self._refuse(Malformed(message), file, int(lines[row]))

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
            except Malformed as problem:
                labels.append(None)
                problems.setdefault(row, problem)
        return label_array(labels)

    def _weights(self, batch: Any, file: str, problems: Problems) -> np.ndarray | None:
        """Return how much some rows count."""
        if self._weight is None:
            return None
        array = batch.column(self._weight)
        _kind_among(array, (NUMBERS,), self._weight, file)
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
