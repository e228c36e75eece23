"""The records of a CSV file, each with the line it begins on."""

import csv
import io
from collections import deque
from collections.abc import Iterable, Iterator

from thresher.data.sources.fields import Malformed
from thresher.data.sources.files import Block
from thresher.data.sources.named import decoded


class Records:
    """Records of comma- or tab-separated text; a quoted cell may hold newlines.

    A record that cannot be read costs its first line only: reading goes on with the next one.
    """

    def __init__(self, blocks: Iterable[Block], delimiter: str) -> None:
        self._lines = _Lines(blocks)
        self._delimiter = delimiter
        self._reader = self._new_reader()

    @property
    def line(self) -> int:
        """Return the number of the line on which the last record began."""
        return self._lines.first

    @property
    def size(self) -> int:
        """Return how much text the last record took."""
        return sum(map(len, self._lines.taken))

    def __iter__(self) -> Iterator[list[str]]:
        """Return the records."""
        return self

    def __next__(self) -> list[str]:
        """Return the next record, [] for a blank line, or raise ``Malformed``."""
        self._lines.begin_record()
        try:
            return next(self._reader)
        except csv.Error as error:
            self._go_on()
            raise Malformed(_in_words(error)) from None
        except Malformed as problem:  # in a line; a table's columns are its cells
            self._go_on()
            message = f"{problem.message} (character {problem.column} of the line)"
            raise Malformed(message) from None

    def _go_on(self) -> None:
        self._lines.give_back()
        self._reader = self._new_reader()

    def _new_reader(self) -> Iterator[list[str]]:
        return csv.reader(self._lines, delimiter=self._delimiter, strict=True)


class _Lines:
    """The lines of a file, of which those of the current record can be read once more."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._source = (line for block in blocks for line in _lines(block.data))
        self._again: deque[str | bytes] = deque()
        self.taken: list[str | bytes] = []
        self.first = 1

    def begin_record(self) -> None:
        """Let the next record begin."""
        self.first += len(self.taken)
        self.taken = []

    def give_back(self) -> None:
        """Return all lines of the current record but the first."""
        self._again.extendleft(reversed(self.taken[1:]))
        self.taken = self.taken[:1]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._source)
        self.taken.append(line)
        return line if isinstance(line, str) else decoded(line)


def _in_words(error: csv.Error) -> str:
    """Return what is wrong with a record."""
    said = str(error)
    if "new-line" in said:
        return "a carriage return stands in the middle of the line"
    if "expected after" in said:
        return "a quoted cell goes on behind its closing quote: a quote within it is written twice"
    if "end of data" in said or "limit" in said:
        return f"a quoted cell has no end, or more than {csv.field_size_limit():,} characters"
    return f"the cells cannot be told apart: {said}"


def _lines(data: bytes) -> Iterable[str] | Iterable[bytes]:
    """Return lines with their newlines, undecoded if any cannot be decoded."""
    try:
        return io.StringIO(data.decode(), newline="\n")
    except UnicodeDecodeError:
        return io.BytesIO(data)
