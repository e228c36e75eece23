"""Comma- and tab-separated tables with a header.

What is read, and what is refused with the file, the line and the column (counted in cells from 1):

- The first line that is not blank names the columns, each by another name. Where all its cells are
  numbers it is taken for a row, and the file refused for want of a header; 0, 1, 2, ... (three and
  more, as pandas numbers columns) are names, and so are those a model has learned from.
- Every other line that is not blank is a row with as many cells. A cell may be quoted (``quote``),
  and then hold the separator (``sep``), newlines, and quotes written twice. Blanks around cells do
  not count.
- The label's column is ``label`` unless another is named. The first label of a pass decides for all
  whether they are numbers or words; words among numbers are refused. Whole numbers with leading
  zeros must all have the same number of digits: 12 beside 0012 is refused. A label may only be
  missing where labels are not required; in prediction labels are not read.
- The weight's column, if one is named, holds finite numbers that are not negative.
- ``keep`` and ``ignore`` choose the features among the other columns by name or pattern (``*``,
  ``?``); ``index_column`` is none.
- A feature's column holds numbers or categories. Those in ``categories`` are such. Otherwise the
  first rows (8,192, or 4 MB of text) decide for all files and passes: a column holds numbers if
  more of its cells are numbers than words, or if all are empty; but categories if there are whole
  numbers with leading zeros, as in postcodes. A column of numbers is a feature of the same name. In
  a column of categories, ``Bern`` in ``town`` is feature ``town=Bern`` with value 1.
- An empty cell, or one in ``na_values``, is a missing value. Among categories it is none. Of
  numbers it counts as the mean of the column in the first rows, and the feature ``age=missing`` is
  1; with ``missing="zero"`` it counts as 0, and with ``missing="error"`` it is refused.
- Numbers are decimals as in svmlight text. In a column of numbers all else is refused, most of all
  words that are no number: one such cell must not make categories of a thousand numbers. Refused
  are also nan, inf and other words for a missing number, whatever their case: NA, N/A, <NA>, NaT,
  null, none, nil, missing, ?, -, --, and a single point; #N/A, #NA, #NULL!, #NUM!, #VALUE!, #REF!,
  #NAME?, #DIV/0!; 1.#IND, 1.#QNAN. They count neither as numbers nor as words where a column's
  kind is decided, unless there is nothing else: then they are categories.

What a column holds is remembered with the names, so that a model reads every table as it read the
first; columns a model does not know are left out. Several files must have the same columns, in any
order. With ``on_error="skip"`` a refused line is left out and counted.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from thresher.formats.blocks import name_of
from thresher.formats.chunk import Chunk
from thresher.formats.compression import CODECS
from thresher.formats.errors import BadRow, DataError
from thresher.formats.fields import (
    MISSING,
    Column,
    Problems,
    holds_categories,
    is_number,
    weight_in,
)
from thresher.formats.labels import label_array
from thresher.formats.named import TabularSource
from thresher.formats.names import ZERO
from thresher.formats.protocol import Format
from thresher.formats.records import Batch, Records
from thresher.formats.tables import (
    Table,
    check_columns,
    check_present,
    check_same_columns,
    columns_apart,
    feature_columns,
    listed,
    note_categories,
    warn_of_distinct_values,
)

FEW = 3  # columns; fewer that are called 0 and 1 are as likely the cells of a row
SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}


class TableSource(TabularSource):
    """Rows of CSV or TSV files."""

    def _read(self) -> Iterator[Chunk]:
        first: list[str] = []
        for path in self.files.paths:
            file = name_of(path)
            records = Records(self.files.blocks_of(path), self._separator(file), self.reading)
            columns = read_header(records, self._known(), file)
            first = first or columns
            check_same_columns(columns, first, file)
            layout = self._layout(columns, file)
            for found in records.batches(len(columns)):
                if isinstance(found, Batch):
                    yield self._chunk(layout, found, file)
                else:
                    self._refuse(found[0], file, found[1])

    def _known(self) -> list[str]:
        """Return the columns of which something is known before the first line is read."""
        return [*self.naming.kinds, *columns_apart(self.reading)]

    def _separator(self, file: str) -> str:
        if self.reading.sep is not None:
            return self.reading.sep
        if self.reading.format in ("csv", "tsv"):
            return "\t" if self.reading.format == "tsv" else ","
        suffixes = [suffix for suffix in PurePath(file.lower()).suffixes if suffix not in CODECS]
        return "\t" if suffixes[-1:] == [".tsv"] else ","

    def _layout(self, columns: list[str], file: str) -> "_Layout":
        reading = self.reading
        check_present(reading, columns, file)
        features = feature_columns(columns, reading, self.naming, file)
        for name in reading.categories:
            if name not in features:
                raise DataError(
                    f"categories: no feature is called {name!r}. There are {listed(features)}.",
                    file=file,
                )
        label = reading.label or "label"
        weight = None if reading.ignore_labels else reading.weight
        return _Layout(columns, set(features), label if label in columns else None, weight)

    def _chunk(self, layout: "_Layout", batch: Batch, file: str) -> Chunk:
        """Return a batch's rows, without those that are refused."""
        self._learn_kinds(layout, batch)
        problems: Problems = {}
        table = self._table(layout, batch, problems)
        for row in sorted(problems):
            self._refuse(problems[row], file, batch.lines[row])
        if problems:
            batch = batch.without(problems, len(layout.columns))
            table = self._table(layout, batch, {})

        def refuse(row: int, message: str) -> None:
            self._refuse(BadRow(message), file, batch.lines[row])

        return self._table_chunk(table, refuse)

    def _learn_kinds(self, layout: "_Layout", batch: Batch) -> None:
        """Find out what the columns hold that have not been seen yet."""
        kinds = self.naming.kinds
        words: dict[str, Sequence[str]] = {}
        codes: list[str] = []
        for place, name in enumerate(layout.columns):
            if name not in layout.features or name in kinds:
                continue
            numbers = self._numbers(batch, place)
            if name in self.reading.categories:
                kinds[name] = None
            elif numbers is None and holds_categories(cells := self._texts(batch, place)):
                kinds[name], words[name] = None, cells
            elif batch.has_codes(place):
                kinds[name] = None
                codes.append(name)
            else:
                kinds[name] = ZERO
        self.decided += note_categories(list(words), "most cells are words")
        self.decided += note_categories(codes, "there are numbers with leading zeros")
        warn_of_distinct_values(words)

    def _texts(self, batch: Batch, place: int) -> Sequence[str]:
        """Return the cells of a column, of which those that mean a missing value are empty."""
        missing, cells = self.reading.na_values, batch.texts(place)
        return ["" if cell.strip() in missing else cell for cell in cells] if missing else cells

    def _numbers(self, batch: Batch, place: int) -> np.ndarray | None:
        """Return the numbers of a column, NaN for empty cells; None if its texts must be read."""
        return None if any(map(is_number, self.reading.na_values)) else batch.numbers(place)

    def _table(self, layout: "_Layout", batch: Batch, problems: Problems) -> Table:
        """Return the columns of some rows, and note the problems of each row."""
        table = Table({}, {}, None, None, len(batch))
        complete = self.reading.missing == "error"
        for place, name in enumerate(layout.columns):
            column = Column(name, place + 1, problems, complete)
            if name == layout.label:
                labels = label_array(column.read(self._texts(batch, place), self.labels.text, None))
                table = table._replace(labels=labels)
            elif name == layout.weight:
                weights = column.read(self._texts(batch, place), weight_in, 0.0)
                table = table._replace(weights=np.array(weights))
            elif name in layout.features and self.naming.kinds[name] is None:
                cells = self._texts(batch, place)
                table.words[name] = [cell.strip() or None for cell in cells]
            elif name in layout.features:
                numbers = self._numbers(batch, place)
                if numbers is None or (complete and np.isnan(numbers).any()):
                    numbers = column.numbers(self._texts(batch, place))
                table.numbers[name] = numbers
        return table


class _Layout(NamedTuple):
    """Which columns of a file are what."""

    columns: list[str]
    features: set[str]
    label: str | None
    weight: str | None


def read_header(records: Records, known: Collection[str], file: str) -> list[str]:
    """Return the names of the columns; some may be known from elsewhere."""
    try:
        columns = next((cells for cells in records if cells), [])
    except BadRow as problem:
        raise DataError(problem.message, file=file, line=records.line) from None
    if not columns:
        raise DataError("has blank lines only: its first line must name the columns", file=file)
    columns = [name.strip() for name in columns]
    if not set(columns) <= set(known):
        _refuse_header(columns, records, file)
    check_columns(columns, file)
    return columns


def _refuse_header(columns: list[str], records: Records, file: str) -> None:
    """Refuse a header that has other separators, or is a row."""
    found = [sep for sep in SEPARATORS if len(columns) == 1 and sep in columns[0]]
    if found:
        sep = found[0]
        remedy = "format='tsv' (--format tsv)" if sep == "\t" else f"sep={sep!r} (--sep {sep!r})"
        raise DataError(
            f"the header has {SEPARATORS[sep]} where {records.separator!r} is expected: use "
            f"{remedy}",
            file=file,
            line=records.line,
        )
    if _is_row(columns):
        raise DataError(
            f"there seems to be no header, as all cells of this line are numbers: "
            f"{listed(columns)}. Write a line with the columns' names above it, as in label,a,b; "
            "if these are the names, use some that are no numbers.",
            file=file,
            line=records.line,
        )


def _is_row(columns: Sequence[str]) -> bool:
    """Return whether the first line is a row: numbers, and not the names 0, 1, 2, ... of pandas."""
    if len(columns) >= FEW and columns == [str(place) for place in range(len(columns))]:
        return False
    cells = {name.lower() for name in columns} - MISSING - {""}
    return bool(cells) and all(map(is_number, cells))


OPTIONS = (
    "label weight hash_bits max_line_bytes categories keep ignore index_column na_values missing "
    "sep quote"
)
FORMAT = Format(TableSource, options=tuple(OPTIONS.split()))
