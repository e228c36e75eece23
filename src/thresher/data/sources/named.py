"""What sources whose features have names have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.naming import GrowingNames, HashedNames, Names
from thresher.data.sources.assemble import MOST_ROWS, Gathered
from thresher.data.sources.fields import Label, Labels, Malformed
from thresher.data.sources.files import Block, TextFiles
from thresher.data.sources.protocol import Reading, Skipped


class Row(NamedTuple):
    """What a line says."""

    names: Sequence[str]
    values: Sequence[float]
    label: Label
    weight: float | None = None


class NamedSource(ABC):
    """Files read from the first to the last as rows with named features.

    ``names`` are those of a model that is to predict. Otherwise names are numbered as they occur,
    or hashed where the reading says so.
    """

    index_base = 0
    no_label = "the row has no label"

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        self.files = TextFiles(paths)
        self.reading = reading
        self.naming: Names = _new_names(reading) if names is None else names
        self.names: Names | None = self.naming
        self.rewinds = self.files.rewinds
        self.n_rows: int | None = None
        self._begin()

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
        """Return what tells these files from others."""
        return self.files.fingerprint()

    @abstractmethod
    def _read(self) -> Iterator[Chunk]:
        """Read the rows of one pass."""

    def _begin(self) -> None:
        """Forget what was found in the last pass."""
        self.skipped = Skipped()
        self.labels = Labels(self.reading.labelled, self.no_label, self.reading.ignore_labels)

    def _refuse(self, problem: Malformed, file: str, line: int) -> None:
        """Raise what is wrong with a row, or count it."""
        error = DataError(problem.message, file=file, line=line, column=problem.column)
        if self.reading.on_error != "skip":
            raise error from None
        self.skipped.add(error)


class LineSource(NamedSource):
    """A format that has a row on every line. Blank lines are no rows."""

    @abstractmethod
    def _row(self, text: str) -> Row | None:
        """Return what a line says, None if it is no row, or raise ``Malformed``."""

    def _read(self) -> Iterator[Chunk]:
        for block in self.files.blocks():
            yield from self._chunks(block)

    def _chunks(self, block: Block) -> Iterator[Chunk]:
        rows = Gathered()
        for line, text in enumerate(_lines(block.data), block.first_line):
            try:
                row = self._row(text if isinstance(text, str) else decoded(text))
            except Malformed as problem:
                self._refuse(problem, block.file, line)
                continue
            if row is not None:
                rows.add(line, *row)
            if len(rows) == MOST_ROWS:
                yield self._chunk(rows, block.file)
                rows = Gathered()
        yield self._chunk(rows, block.file)

    def _chunk(self, rows: Gathered, file: str) -> Chunk:
        def refuse(row: int, message: str) -> None:
            self._refuse(Malformed(message), file, rows.lines[row])

        return rows.chunk(self.naming, refuse)


def decoded(line: bytes) -> str:
    """Return a line's text, which must be UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode()) + 1
        raise Malformed(
            f"byte {line[error.start]:#04x} is not UTF-8 text: convert the file to UTF-8, or skip "
            "such rows",
            column,
        ) from None


def _lines(data: bytes) -> Sequence[str | bytes]:
    """Return the lines of a block, undecoded if any of them cannot be decoded."""
    whole = data.removesuffix(b"\n")
    try:
        return [line.removesuffix("\r") for line in whole.decode().split("\n")]
    except UnicodeDecodeError:
        return [line.removesuffix(b"\r") for line in whole.split(b"\n")]


def _new_names(reading: Reading) -> Names:
    """Return names for data nobody has read yet."""
    return GrowingNames() if reading.hash_bits is None else HashedNames(reading.hash_bits)
