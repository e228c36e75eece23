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

import csv
import io
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from thresher.formats.blocks import BLOCK, Block
from thresher.formats.chunk import Chunk
from thresher.formats.compression import CODECS
from thresher.formats.errors import BadRow, DataError
from thresher.formats.fields import (
    MISSING,
    Column,
    Problems,
    holds_categories,
    holds_codes,
    is_number,
    weight_in,
)
from thresher.formats.labels import label_array
from thresher.formats.named import MOST_ROWS, TabularSource, decoded
from thresher.formats.names import ZERO
from thresher.formats.protocol import Format, Reading
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
SEPARATORS = {"\t": "tabs", ";": "semicolons"}  # that a CSV file may have instead of commas


class TableSource(TabularSource):
    """Rows of CSV or TSV files."""

    def _read(self) -> Iterator[Chunk]:
        first: list[str] = []
        for file, blocks in _by_file(self.files.blocks()):
            records = Records(blocks, self._separator(file), self.reading)
            columns = read_header(records, self._known(), file)
            first = first or columns
            check_same_columns(columns, first, file)
            layout = self._layout(columns, file)
            for batch in self._batches(records, len(columns), file):
                yield self._chunk(layout, batch, file)

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
        return _Layout(columns, set(features), label if label in columns else None, reading.weight)

    def _batches(self, records: "Records", width: int, file: str) -> Iterator["_Batch"]:
        """Read records that have the right number of cells, some thousand at a time."""
        batch, size = _Batch([], []), 0
        while True:
            try:
                cells = next(records)
                if cells and len(cells) != width:
                    raise BadRow(f"the row has {len(cells)} cells, and the header {width}")
            except StopIteration:
                break
            except BadRow as problem:
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
            self._refuse(BadRow(message), file, batch.lines[row])

        return self._table_chunk(table, refuse)

    def _learn_kinds(self, layout: "_Layout", rows: list[list[str]]) -> None:
        """Find out what the columns hold that have not been seen yet."""
        kinds = self.naming.kinds
        words: dict[str, Sequence[str]] = {}
        codes: list[str] = []
        for place, name in enumerate(layout.columns):
            if name not in layout.features or name in kinds:
                continue
            cells = self._without_na([row[place] for row in rows])
            if name in self.reading.categories:
                kinds[name] = None
            elif holds_categories(cells):
                kinds[name], words[name] = None, cells
            elif holds_codes(cells):
                kinds[name] = None
                codes.append(name)
            else:
                kinds[name] = ZERO
        self.decided += note_categories(list(words), "most cells are words")
        self.decided += note_categories(codes, "there are numbers with leading zeros")
        warn_of_distinct_values(words)

    def _without_na(self, cells: Sequence[str]) -> Sequence[str]:
        """Return cells in which those that mean a missing value are empty."""
        missing = self.reading.na_values
        return ["" if cell.strip() in missing else cell for cell in cells] if missing else cells

    def _table(self, layout: "_Layout", rows: list[list[str]], problems: Problems) -> Table:
        """Return the columns of some rows, and note the problems of each row."""
        cells = dict(zip(layout.columns, zip(*rows, strict=True), strict=True)) if rows else {}
        table = Table({}, {}, None, None, len(rows))
        for place, name in enumerate(layout.columns, 1):
            column = Column(name, place, problems, self.reading.missing == "error")
            texts = self._without_na(cells.get(name, ()))
            if name == layout.label:
                labels = label_array(column.read(texts, self.labels.text, None))
                table = table._replace(labels=labels)
            elif name == layout.weight:
                table = table._replace(weights=np.array(column.read(texts, weight_in, 0.0)))
            elif name in layout.features and self.naming.kinds[name] is None:
                table.words[name] = [cell.strip() or None for cell in texts]
            elif name in layout.features:
                table.numbers[name] = column.numbers(texts)
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

    def without(self, refused: Collection[int]) -> "_Batch":
        """Return all other records."""
        kept = [row for row in range(len(self.rows)) if row not in refused]
        return _Batch([self.rows[row] for row in kept], [self.lines[row] for row in kept])


def _by_file(blocks: Iterable[Block]) -> Iterator[tuple[str, Iterator[Block]]]:
    """Return the blocks of each file, also where a file is named twice."""
    for (_, file), group in groupby(_numbered(blocks), key=lambda item: item[:2]):
        yield file, (block for _, _, block in group)


def _numbered(blocks: Iterable[Block]) -> Iterator[tuple[int, str, Block]]:
    number = 0
    for block in blocks:
        number += block.first_line == 1
        yield number, block.file, block


def read_header(records: "Records", known: Collection[str], file: str) -> list[str]:
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


def _refuse_header(columns: list[str], records: "Records", file: str) -> None:
    """Refuse a header that has other separators, or is a row."""
    found = [sep for sep in SEPARATORS if len(columns) == 1 and sep in columns[0]]
    if found:
        remedy = "format='tsv' (--format tsv)" if found[0] == "\t" else "sep=';' (--sep ';')"
        raise DataError(
            f"the header has {SEPARATORS[found[0]]} where {records.separator!r} is expected: use "
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


class Records:
    """Records of a table; a quoted cell may hold newlines.

    A record that cannot be read costs its first line only: reading goes on with the next one.
    """

    def __init__(self, blocks: Iterable[Block], separator: str, reading: Reading) -> None:
        self.separator, self._quote = separator, reading.quote
        self._lines = _Lines(blocks, reading.max_line_bytes)
        self._reader = self._new_reader()

    @property
    def line(self) -> int:
        """Return the number of the line on which the last record began."""
        return self._lines.first

    @property
    def size(self) -> int:
        """Return how much text the last record took."""
        return self._lines.size

    def __iter__(self) -> Iterator[list[str]]:
        """Return the records."""
        return self

    def __next__(self) -> list[str]:
        """Return the next record, [] for a blank line, or raise ``BadRow``."""
        self._lines.begin_record()
        try:
            return next(self._reader)
        except csv.Error as error:
            self._go_on()
            raise BadRow(_explained(error)) from None
        except BadRow as problem:  # in a line; a table's columns are its cells
            self._go_on()
            place = "" if problem.column is None else f" (character {problem.column} of the line)"
            raise BadRow(problem.message + place) from None

    def _go_on(self) -> None:
        self._lines.give_back()
        self._reader = self._new_reader()

    def _new_reader(self) -> Iterator[list[str]]:
        return csv.reader(
            self._lines,
            delimiter=self.separator,
            quotechar=self._quote or None,
            quoting=csv.QUOTE_MINIMAL if self._quote else csv.QUOTE_NONE,
            strict=True,
        )


class _Lines:
    """The lines of a file, of which those of the current record can be read once more."""

    def __init__(self, blocks: Iterable[Block], most: int) -> None:
        self._source = (line for block in blocks for line in _lines(bytes(block.data)))
        self._again: deque[str | bytes] = deque()
        self._most = most  # characters of a record
        self.taken: list[str | bytes] = []
        self.first = 1
        self.size = 0

    def begin_record(self) -> None:
        """Let the next record begin."""
        self.first += len(self.taken)
        self.taken, self.size = [], 0

    def give_back(self) -> None:
        """Return all lines of the current record but the first."""
        self._again.extendleft(reversed(self.taken[1:]))
        self.taken = self.taken[:1]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._source)
        self.taken.append(line)
        self.size += len(line)
        if self.size > self._most and len(self.taken) > 1:
            raise BadRow(f"the row, with newlines in quoted cells, has over {self._most:,} bytes")
        return line if isinstance(line, str) else decoded(line)


def _explained(error: csv.Error) -> str:
    """Return what is wrong with a record."""
    message = str(error)
    if "new-line" in message:
        return "there is a carriage return in the middle of the line"
    if "expected after" in message:
        return "a quoted cell goes on after its closing quote: a quote within it is written twice"
    if "end of data" in message or "limit" in message:
        return f"a quoted cell has no end, or more than {csv.field_size_limit():,} characters"
    return f"the cells cannot be separated: {message}"


def _lines(data: bytes) -> Iterable[str] | Iterable[bytes]:
    """Return lines with their newlines, undecoded if any cannot be decoded."""
    try:
        return io.StringIO(data.decode(), newline="\n")
    except UnicodeDecodeError:
        return io.BytesIO(data)


OPTIONS = (
    "label weight hash_bits max_line_bytes categories keep ignore index_column na_values missing "
    "sep quote"
)
FORMAT = Format(TableSource, options=tuple(OPTIONS.split()))
