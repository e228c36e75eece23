"""Comma- and tab-separated tables with a header."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.sources.assemble import MOST_ROWS, label_array
from thresher.data.sources.cells import Column, Problems, is_categorical
from thresher.data.sources.compression import CODECS
from thresher.data.sources.fields import Malformed, decimal, weight_of
from thresher.data.sources.files import BLOCK, Block
from thresher.data.sources.named import NamedSource
from thresher.data.sources.records import Records
from thresher.data.sources.tables import (
    Table,
    check_columns,
    check_present,
    check_same_columns,
    feature_columns,
    table_chunk,
)


class TableSource(NamedSource):
    """Rows of a CSV or TSV file whose first line names the columns.

    A column whose cells in the first rows (8,192, or 4 MB of text) are numbers or empty holds
    numbers: its feature is called as it is. Any other holds categories: ``Bern`` in column
    ``town`` is feature ``town=Bern`` with value 1. An empty cell is a missing value and counts as
    0. Words for missing values (NA, nan, null, ?) among numbers are errors, as is a word in a
    column of numbers later on. Blanks around cells do not count; cells may be quoted.

    What a column holds is remembered with the names, so that a model reads every table as it read
    the first; columns a model does not know are left out. Several files must have the same columns,
    in any order. In messages a column's number is its place among the columns.
    """

    def _read(self) -> Iterator[Chunk]:
        first: list[str] = []
        for file, blocks in _by_file(self.files.blocks()):
            records = Records(blocks, self._delimiter(file))
            columns = _header(records, file)
            first = first or columns
            check_same_columns(columns, first, file)
            layout = self._layout(columns, file)
            for batch in self._batches(records, len(columns), file):
                yield self._chunk(layout, batch, file)

    def _delimiter(self, file: str) -> str:
        if self.reading.format in ("csv", "tsv"):
            return "\t" if self.reading.format == "tsv" else ","
        suffixes = [suffix for suffix in PurePath(file).suffixes if suffix.lower() not in CODECS]
        return "\t" if suffixes[-1:] == [".tsv"] else ","

    def _layout(self, columns: list[str], file: str) -> "_Layout":
        label, weight = self.reading.label or "label", self.reading.weight
        if self.reading.labelled:
            check_present(label, columns, "label", file)
        if weight is not None:
            check_present(weight, columns, "weight", file)
        features = feature_columns(columns, [label, weight or ""], self.naming, file)
        return _Layout(columns, set(features), label if label in columns else None, weight)

    def _batches(self, records: Records, width: int, file: str) -> Iterator["_Batch"]:
        """Read records that have the right number of cells, some thousand at a time."""
        batch, size = _Batch([], []), 0
        while True:
            try:
                cells = next(records)
                if cells and len(cells) != width:
                    raise Malformed(f"the row has {len(cells)} cells, and the header {width}")
            except StopIteration:
                break
            except Malformed as problem:
                self._refuse(problem, file, records.line)
                continue
            if cells:
                batch.rows.append(cells)
                batch.lines.append(records.line)
                size += records.size
            if len(batch.rows) == MOST_ROWS or size >= BLOCK:
                yield batch
                batch, size = _Batch([], []), 0
        if batch.rows:
            yield batch

    def _chunk(self, layout: "_Layout", batch: "_Batch", file: str) -> Chunk:
        """Return a batch's rows, without those that are refused."""
        self._learn_kinds(layout, batch.rows)
        problems: Problems = {}
        table = self._table(layout, batch.rows, problems)
        for row in sorted(problems):
            self._refuse(problems[row], file, batch.lines[row])
        if problems:
            batch = batch.without(problems)
            table = self._table(layout, batch.rows, {})

        def refuse(row: int, message: str) -> None:
            self._refuse(Malformed(message), file, batch.lines[row])

        return table_chunk(table, self.naming, refuse)

    def _learn_kinds(self, layout: "_Layout", rows: list[list[str]]) -> None:
        """Find out what the columns hold that nobody has seen yet."""
        kinds = self.naming.categorical
        for place, name in enumerate(layout.columns):
            if name in layout.features and name not in kinds:
                kinds[name] = is_categorical([row[place] for row in rows])

    def _table(self, layout: "_Layout", rows: list[list[str]], problems: Problems) -> Table:
        """Return the columns of some rows, and note the problems of each row."""
        cells = dict(zip(layout.columns, zip(*rows, strict=True), strict=True)) if rows else {}
        table = Table({}, {}, None, None, len(rows))
        for place, name in enumerate(layout.columns, 1):
            column, texts = Column(name, place, problems), cells.get(name, ())
            if name == layout.label:
                labels = label_array(column.read(texts, self.labels.text, None))
                table = table._replace(labels=labels)
            elif name == layout.weight:
                weights = np.array(column.read(texts, _weight, 0.0))
                table = table._replace(weights=weights)
            elif name in layout.features and self.naming.categorical[name]:
                table.words[name] = [cell.strip() or None for cell in texts]
            elif name in layout.features:
                table.numbers[name] = np.array(column.numbers(texts))
        return table


class _Layout(NamedTuple):
    """Which columns of a file are what."""

    columns: list[str]
    features: set[str]
    label: str | None
    weight: str | None


class _Batch(NamedTuple):
    """Some records and the lines on which they begin."""

    rows: list[list[str]]
    lines: list[int]

    def without(self, refused: Iterable[int]) -> "_Batch":
        """Return all other records."""
        kept = [row for row in range(len(self.rows)) if row not in refused]
        return _Batch([self.rows[row] for row in kept], [self.lines[row] for row in kept])


def _header(records: Records, file: str) -> list[str]:
    """Return the names of the columns."""
    try:
        columns = next((cells for cells in records if cells), [])
    except Malformed as problem:
        raise DataError(problem.message, file=file, line=records.line) from None
    if not columns:
        raise DataError("has blank lines only: its first line must name the columns", file=file)
    columns = [name.strip() for name in columns]
    check_columns(columns, file)
    return columns


def _weight(cell: str) -> float:
    try:
        return weight_of(decimal(cell))
    except Malformed as problem:
        reason = problem.message if cell else "there is none"
        raise Malformed(f"the row's weight cannot be read: {reason}") from None


def _by_file(blocks: Iterable[Block]) -> Iterator[tuple[str, Iterator[Block]]]:
    """Return the blocks of each file, also where a file is named twice."""
    for (_, file), group in groupby(_numbered(blocks), key=lambda item: item[:2]):
        yield file, (block for _, _, block in group)


def _numbered(blocks: Iterable[Block]) -> Iterator[tuple[int, str, Block]]:
    number = 0
    for block in blocks:
        number += block.first_line == 1
        yield number, block.file, block
