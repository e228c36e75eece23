"""What formats share: files as sources of rows, features with names, a row on every line."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from thresher.formats.blocks import Block, InputFiles
from thresher.formats.chunk import Chunk, Refuse, assemble
from thresher.formats.errors import BadRow, DataError
from thresher.formats.fields import weight_array
from thresher.formats.labels import Label, LabelReader, label_array
from thresher.formats.names import GrowingNames, HashedNames, Names, has_mean
from thresher.formats.protocol import Reading, Skipped
from thresher.formats.tables import (
    Table,
    columns_with_gaps,
    learn_means,
    note_gaps,
    table_chunk,
)

MOST_ROWS = 8192  # of a chunk


class Row(NamedTuple):
    """What a line holds."""

    names: Sequence[str]
    values: Sequence[float]
    label: Label
    weight: float | None = None


class FileSource(ABC):
    """Files read from the first to the last as rows."""

    def __init__(self, paths: Sequence[str], reading: Reading) -> None:
        self.files = InputFiles(paths, reading.max_line_bytes)
        self.reading = reading
        self.rewinds = self.files.rewinds
        self.n_rows: int | None = None
        self.decided: list[str] = []
        self.skipped = Skipped()

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows from the first on."""
        self._begin()
        n_rows = 0
        for chunk in self._read():
            n_rows += len(chunk)
            if len(chunk):
                yield chunk
        self.n_rows = n_rows

    def fingerprint(self) -> str:
        """Return what distinguishes these files from others."""
        return self.files.fingerprint()

    def modified(self) -> list[int]:
        """Return when each file was changed last, in nanoseconds."""
        return self.files.changed()

    @abstractmethod
    def _read(self) -> Iterator[Chunk]:
        """Read the rows of one pass."""

    def _begin(self) -> None:
        """Forget what was found in the last pass."""
        self.skipped = Skipped()

    def _report(self, error: DataError) -> None:
        """Raise what is wrong with a row, or count it."""
        if self.reading.on_error != "skip":
            raise error from None
        self.skipped.add(error)

    def _refuse(self, problem: BadRow, file: str, line: int) -> None:
        """Do the same with what is wrong with a line."""
        self._report(DataError(problem.message, file=file, line=line, column=problem.column))


class NamedSource(FileSource):
    """Files of rows with named features.

    ``names`` are those of a model that is to predict. Otherwise names are numbered as they occur,
    or hashed where the reading has ``hash_bits``.
    """

    index_base = 0
    no_label = "the row has no label"

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        super().__init__(paths, reading)
        self.naming: Names = new_names(reading) if names is None else names
        self.names: Names | None = self.naming
        self._begin()

    def _begin(self) -> None:
        super()._begin()
        reading = self.reading
        self.labels = LabelReader(reading.labelled, self.no_label, reading.ignore_labels)


class TabularSource(NamedSource):
    """A format whose rows have the same columns."""

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        super().__init__(paths, reading, names)
        self._learns_means = not self.naming.kinds and reading.missing in (None, "mean")
        self._noted = set[str]()  # columns in which numbers are missing

    def _table_chunk(self, table: Table, refuse: Refuse) -> Chunk:
        """Return the rows of a table."""
        if self._learns_means:
            learn_means(table, self.naming)
        filled = [name for name in columns_with_gaps(table) if has_mean(self.naming.kinds[name])]
        self.decided += note_gaps([name for name in filled if name not in self._noted])
        self._noted.update(filled)
        return table_chunk(table, self.naming, refuse)


class LineSource(NamedSource):
    """A format that has a row on every line. Blank lines are no rows."""

    @abstractmethod
    def _row(self, text: str) -> Row | None:
        """Return what a line holds, None if it is no row, or raise ``BadRow``."""

    def _read(self) -> Iterator[Chunk]:
        for block in self.files.blocks():
            yield from self._chunks(block)

    def _chunks(self, block: Block) -> Iterator[Chunk]:
        rows = Gathered()
        for line, text in enumerate(_lines(bytes(block.data)), block.first_line):
            try:
                row = self._row(text if isinstance(text, str) else decoded(text))
            except BadRow as problem:
                self._refuse(problem, block.file, line)
                continue
            if row is not None:
                rows.add(line, *row)
            if len(rows) == MOST_ROWS:
                yield self._chunk(rows, block.file)
                rows = Gathered()
        yield self._chunk(rows, block.file)

    def _chunk(self, rows: "Gathered", file: str) -> Chunk:
        def refuse(row: int, message: str) -> None:
            self._refuse(BadRow(message), file, rows.lines[row])

        return rows.chunk(self.naming, refuse)


class Gathered:
    """Rows one after the other, as lists; a feature may occur in a row several times."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.values: list[float] = []
        self.counts: list[int] = []
        self.labels: list[Label] = []
        self.weights: list[float | None] = []
        self.lines: list[int] = []  # of the file

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def add(
        self,
        line: int,
        names: Sequence[str],
        values: Sequence[float],
        label: Label = None,
        weight: float | None = None,
    ) -> None:
        """Add a row."""
        self.names += names
        self.values += values
        self.counts.append(len(names))
        self.labels.append(label)
        self.weights.append(weight)
        self.lines.append(line)

    def chunk(self, names: Names, refuse: Refuse) -> Chunk:
        """Return the rows with their columns numbered."""
        columns = names.number(self.names)
        rows = np.repeat(np.arange(len(self)), self.counts)
        cells = rows, columns, np.array(self.values, np.float64)
        labels, weights = label_array(self.labels), weight_array(self.weights)
        return assemble(cells, len(names), labels, weights, len(self), refuse)


def decoded(line: bytes) -> str:
    """Return a line's text, which must be UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode()) + 1
        raise BadRow(
            f"byte {line[error.start]:#04x} is not UTF-8 text: convert the file to UTF-8, or skip "
            "such rows",
            column,
        ) from None


def new_names(reading: Reading) -> Names:
    """Return names for new data."""
    return GrowingNames() if reading.hash_bits is None else HashedNames(reading.hash_bits)


def _lines(data: bytes) -> Sequence[str | bytes]:
    """Return the lines of a block, undecoded if any of them cannot be decoded."""
    whole = data.removesuffix(b"\n")
    try:
        return [line.removesuffix("\r") for line in whole.decode().split("\n")]
    except UnicodeDecodeError:
        return [line.removesuffix(b"\r") for line in whole.split(b"\n")]
