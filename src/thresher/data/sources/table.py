"""Comma- and tab-separated tables with a header.

What is read, and what is refused with the file, the line and the column (counted in cells from 1):

- The first line that is not blank names the columns, each by another name. Where all its cells are
  numbers it is taken for a row, and the file refused for want of a header; 0, 1, 2, ... (three and
  more, as pandas numbers columns) are names, and so are those a model has learned from.
- Every other line that is not blank is a row with as many cells. A cell may be quoted, and then
  hold the separator, newlines, and quotes written twice. Blanks around cells do not count.
- The label's column is ``label`` unless told. The first label of a pass decides for all whether
  they are numbers or words; words among numbers are refused. Whole numbers with zeros in
  front must all have the same number of digits: 12 beside 0012 is refused. A label may only be
  missing where labels are not required; in prediction labels are not looked at.
- The weight's column, if one is told, holds finite numbers that are not negative.
- Any other column holds numbers or categories. Told ``categories`` are such. Otherwise the first
  rows (8,192, or 4 MB of text) decide for all files and passes: a column holds numbers if more of
  its cells are numbers than words, or if all are empty. Its feature is called as it is. In a column
  of categories, ``Bern`` in ``town`` is feature ``town=Bern`` with value 1.
- An empty cell is a missing value and counts as 0.
- Numbers are decimals as in svmlight text. In a column of numbers all else is refused, most of all
  words that are no number: one such cell must not make categories of a thousand numbers. Refused
  are also nan, inf and other words for a missing number, whatever their case: NA, N/A, <NA>, NaT,
  null, none, nil, missing, ?, -, --, and a single point; #N/A, #NA, #NULL!, #NUM!, #VALUE!, #REF!,
  #NAME?, #DIV/0!; 1.#IND, 1.#QNAN. Only an empty cell is known to be meant as 0. They count neither
  as numbers nor as words where a column's kind is decided, unless there is nothing else: then they
  are categories.

What a column holds is remembered with the names, so that a model reads every table as it read the
first; columns a model does not know are left out. Several files must have the same columns, in any
order. With ``on_error="skip"`` a refused line is left out and counted.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.sources.assemble import MOST_ROWS, label_array
from thresher.data.sources.categories import taken_words, warn_of_unlike
from thresher.data.sources.cells import Column, Problems, is_categorical
from thresher.data.sources.compression import CODECS
from thresher.data.sources.fields import Malformed, decimal, weight_of
from thresher.data.sources.files import BLOCK, Block
from thresher.data.sources.headers import read_header
from thresher.data.sources.named import NamedSource
from thresher.data.sources.records import Records
from thresher.data.sources.tables import (
    Table,
    check_present,
    check_same_columns,
    feature_columns,
    table_chunk,
)


class TableSource(NamedSource):
    """Rows of CSV or TSV files.

    ``decided`` says in words which columns were taken for categories, once that is so.
    """

    decided: str | None = None

    def _read(self) -> Iterator[Chunk]:
        first: list[str] = []
        for file, blocks in _by_file(self.files.blocks()):
            records = Records(blocks, self._delimiter(file))
            columns = read_header(records, self._known(), file)
            first = first or columns
            check_same_columns(columns, first, file)
            layout = self._layout(columns, file)
            for batch in self._batches(records, len(columns), file):
                yield self._chunk(layout, batch, file)

    def _known(self) -> list[str]:
        """Return the columns of which something is known before the first line is read."""
        apart = [self.reading.label or "label", self.reading.weight or ""]
        return [*self.naming.categorical, *apart]

    def _delimiter(self, file: str) -> str:
        if self.reading.format in ("csv", "tsv"):
            return "\t" if self.reading.format == "tsv" else ","
        suffixes = [suffix for suffix in PurePath(file.lower()).suffixes if suffix not in CODECS]
        return "\t" if suffixes[-1:] == [".tsv"] else ","

    def _layout(self, columns: list[str], file: str) -> "_Layout":
        label, weight = self.reading.label or "label", self.reading.weight
        if self.reading.labelled:
            check_present(label, columns, "label", file)
        if weight is not None:
            check_present(weight, columns, "weight", file)
        for name in self.reading.categories:
            check_present(name, columns, "categories", file)
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
        kinds, told = self.naming.categorical, set(self.reading.categories)
        found: dict[str, list[str]] = {}
        for place, name in enumerate(layout.columns):
            if name in layout.features and name not in kinds:
                cells = [row[place] for row in rows]
                kinds[name] = name in told or is_categorical(cells)
                found |= {name: cells} if kinds[name] and name not in told else {}
        self.decided = taken_words(list(found), "most cells are words") or self.decided
        warn_of_unlike(found)

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
