"""Records of tables: plain ones are read by a kernel, all others by Python's ``csv``.

A record is plain if it has as many cells as there are columns, and no cell is quoted. Where others
are among some thousand records, the rest of a block is left to ``csv``, which knows all that can be
wrong.
"""

import csv
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import numpy as np

from thresher.formats.blocks import BLOCK, Block
from thresher.formats.decimals import U1, read_decimal
from thresher.formats.errors import BadRow
from thresher.formats.fields import CODE
from thresher.formats.named import MOST_ROWS, decoded
from thresher.formats.protocol import Reading
from thresher.jit import inlined, jit

TAB, NEWLINE, RETURN, SPACE, NOUGHT, NINE = (int(byte) for byte in b"\t\n\r 09")
NO_QUOTE = 256  # is no byte
OF_NUMBERS = "0123456789+-.eE"


class Batch:
    """Some records, column by column, and the lines on which they begin."""

    def __init__(self, rows: Sequence[Sequence[str]], lines: Sequence[int]) -> None:
        self.rows, self.lines = rows, lines

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.lines)

    def texts(self, place: int) -> Sequence[str]:
        """Return the cells of a column."""
        return [row[place] for row in self.rows]

    def numbers(self, place: int) -> np.ndarray | None:
        """Return the numbers of a column, NaN for empty cells; None if its texts must be read."""
        return None

    def has_codes(self, place: int) -> bool:
        """Return whether a cell is a whole number with leading zeros, as of a postcode."""
        return any(map(CODE.fullmatch, self.texts(place)))

    def without(self, refused: Collection[int], width: int) -> "Batch":
        """Return all other records."""
        columns = [self.texts(place) for place in range(width)]
        kept = [row for row in range(len(self)) if row not in refused]
        rows = [[column[row] for column in columns] for row in kept]
        return Batch(rows, [self.lines[row] for row in kept])


class PlainBatch(Batch):
    """The same, read by a kernel: numbers, infinite where a cell is none, and where cells begin."""

    def __init__(
        self, data: bytes, numbers: np.ndarray, starts: np.ndarray, codes: np.ndarray, line: int
    ) -> None:
        super().__init__((), (starts[:, 0] + line).tolist())
        self._data = data
        self._numbers, self._starts, self._codes = numbers, starts[:, 1:], codes

    def texts(self, place: int) -> Sequence[str]:
        """Return the cells of a column."""
        places = zip(*self._starts[:, place : place + 2].T.tolist(), strict=True)
        if self._text is not None:
            return [self._text[first : stop - 1].strip() for first, stop in places]
        return [self._data[first : stop - 1].decode().strip() for first, stop in places]

    @cached_property
    def _text(self) -> str | None:
        """Return all as text, if each character takes a byte."""
        return self._data.decode() if self._data.isascii() else None

    def numbers(self, place: int) -> np.ndarray | None:
        """Return the numbers of a column, NaN for empty cells; None if its texts must be read."""
        numbers = self._numbers[:, place]
        return None if np.isinf(numbers).any() else numbers

    def has_codes(self, place: int) -> bool:
        """Return whether a cell is a whole number with leading zeros, as of a postcode."""
        return bool(self._codes[place]) and super().has_codes(place)


class Records:
    """Records of one table, which are read once.

    A record that cannot be read costs its first line only: reading goes on with the next one.
    """

    def __init__(self, blocks: Iterator[Block], separator: str, reading: Reading) -> None:
        self.separator, self._quote = separator, reading.quote
        self._lines = _Lines(blocks, reading.max_line_bytes)
        self._reader = self._new_reader()
        self._plain = separator.isascii() and not set(separator + self._quote) & set(OF_NUMBERS)

    @property
    def line(self) -> int:
        """Return the number of the line on which the last record began."""
        return self._lines.first

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

    def batches(self, width: int) -> Iterator["Batch | tuple[BadRow, int]"]:
        """Return some thousand records of so many cells at a time, or what is wrong with a line."""
        while self._lines.ready():
            if self._plain:
                yield from self._plain_batches(width)
            yield from self._others(width)

    def _plain_batches(self, width: int) -> Iterator[Batch]:
        """Read records while some thousand of them, or all up to the end of a block, are plain."""
        self._lines.begin_record()
        if not _is_text(self._lines.data):
            return
        while batch := self._read_plain(width):
            yield batch

    def _read_plain(self, width: int) -> Batch | None:
        """Read some thousand records if all are plain."""
        lines = self._lines
        numbers, codes = np.empty((MOST_ROWS, width)), np.zeros(width, np.bool_)
        starts = np.empty((MOST_ROWS, width + 2), np.int64)
        quote = ord(self._quote) if self._quote else NO_QUOTE
        n, n_lines, stop = read_cells(
            np.frombuffer(lines.data, np.uint8),
            *(lines.at, ord(self.separator), quote),
            *(numbers, starts, codes),
        )
        if n < MOST_ROWS and stop < len(lines.data):
            return None
        batch = PlainBatch(lines.data, numbers[:n], starts[:n], codes, lines.first)
        lines.at, lines.first = stop, lines.first + n_lines
        return batch

    def _others(self, width: int) -> Iterator["Batch | tuple[BadRow, int]"]:
        """Read with ``csv`` up to the end of a block, or of the record that goes beyond it."""
        rows, lines, size = list[list[str]](), list[int](), 0
        while self._lines.left:
            try:
                cells = next(self)
                if cells and len(cells) != width:
                    raise BadRow(f"the row has {len(cells)} cells, and the header {width}")
            except StopIteration:
                break
            except BadRow as problem:
                yield problem, self.line
                continue
            if cells:
                rows.append(cells)
                lines.append(self.line)
                size += self._lines.size
            if len(rows) == MOST_ROWS or size >= BLOCK:
                yield Batch(rows, lines)
                rows, lines, size = [], [], 0
        if rows:
            yield Batch(rows, lines)

    def _go_on(self) -> None:
        self._lines.repeat()
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

    def __init__(self, blocks: Iterator[Block], most: int) -> None:
        self._blocks = blocks
        self.data, self.at = b"", 0  # the current block, and where its next line begins
        self._again: deque[bytes] = deque()
        self._most = most  # bytes of a record
        self.taken: list[bytes] = []
        self.first = 1
        self.size = 0

    @property
    def left(self) -> bool:
        """Return whether there are lines in the current block."""
        return bool(self._again) or self.at < len(self.data)

    def ready(self) -> bool:
        """Go to the next block if there is nothing left of this one; return whether there is."""
        if self.left:
            return True
        self.at, self.data = 0, next((bytes(block.data) for block in self._blocks), b"")
        self.data += b"" if self.data.endswith(b"\n") or not self.data else b"\n"
        return self.left

    def begin_record(self) -> None:
        """Let the next record begin."""
        self.first += len(self.taken)
        self.taken, self.size = [], 0

    def repeat(self) -> None:
        """Return all lines of the current record but the first."""
        self._again.extendleft(reversed(self.taken[1:]))
        self.taken = self.taken[:1]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if not self.ready():
            raise StopIteration
        if self._again:
            line = self._again.popleft()
        else:
            first, self.at = self.at, self.data.index(b"\n", self.at) + 1
            line = self.data[first : self.at]
        self.taken.append(line)
        self.size += len(line)
        if self.size > self._most and len(self.taken) > 1:
            raise BadRow(f"the row, with newlines in quoted cells, has over {self._most:,} bytes")
        return decoded(line)


def _is_text(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


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


@jit
def read_cells(text, p, separator, quote, numbers, starts, codes):
    """Read plain records; return how many there are, of how many lines, and where they end.

    Of each cell there is the number, NaN for an empty cell, and infinity where the kernel does not
    know it; and in ``starts``, after the record's line, where it begins.
    """
    p, n_lines, n, width = np.uint64(p), 0, 0, numbers.shape[1]
    while p < np.uint64(text.size) and n < numbers.shape[0]:
        begin, column, plain = p, 0, not _line_ends(text, p)
        while plain:
            starts[n, column + 1] = p
            numbers[n, column], p, code = _read_cell(text, p, separator, quote)
            codes[column] |= code
            column += 1
            plain = text[p] == separator and column < width
            p += np.uint64(plain)
        if column not in (0, width) or not _line_ends(text, p):
            return n, n_lines, begin
        p += U1 if text[p] == NEWLINE else U1 + U1
        if column:
            starts[n, 0], starts[n, width + 1] = n_lines, p
            n += 1
        n_lines += 1
    return n, n_lines, p


@inlined
def _read_cell(text, p, separator, quote):
    """Return a cell's number, where it ends, and whether it begins with a zero and a digit."""
    first = _skip_blanks(text, p, separator)
    number, p, known = read_decimal(text, first)
    p = _skip_blanks(text, p, separator)
    empty = p == first
    if text[p] != separator and not _line_ends(text, p):
        known = False
    while text[p] != separator and not _line_ends(text, p):
        if text[p] == quote or text[p] == RETURN:
            break
        p += U1
    empty = empty and p == first
    code = text[first] == NOUGHT and NOUGHT <= text[first + U1] <= NINE
    return number if known else np.nan if empty else np.inf, p, code


@inlined
def _skip_blanks(text, p, separator):
    while (text[p] == SPACE or text[p] == TAB) and text[p] != separator:
        p += U1
    return p


@inlined
def _line_ends(text, p):
    return text[p] == NEWLINE or (text[p] == RETURN and text[p + U1] == NEWLINE)
