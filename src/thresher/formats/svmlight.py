"""Rows of svmlight (libsvm) text.

    [label] [qid:number] index:value index:value ...  # comment

What is read, and what is refused with the file, the line and the column (counted in bytes from 1):

- A line ends with a newline, or with a carriage return and a newline; the last one may end with the
  file. A carriage return anywhere else is refused. Spaces and tabs separate, as many as there are.
- Lines that are blank or only a comment are no rows. ``#`` begins a comment anywhere. A
  comment may hold any bytes but NUL: where a disk has lost something, rows would vanish in it.
- Numbers are decimals with or without sign, point and exponent, digits before or after the point.
  They become the nearest double, as with Python's ``float``; too small ones become 0. Refused are
  nan, inf, numbers beyond the largest double, hexadecimals, underscores, and all else.
- A label is one number. Several, with commas between them, are refused. Where labels are not
  required, a row may begin with its first pair; then the labels of a whole block are left out.
  Where labels are ignored, as in prediction, a label may be any word without a colon.
- ``qid:number`` is allowed directly after the label. The number must be whole; it is not used.
- Indices are whole numbers up to 2^63 - 1, without sign. They may come in any order and are sorted;
  an index that occurs in a row twice is refused. Values that are 0 are left out.
- Indices count from 0 or from 1. Unless ``index_base`` is given, the first block (4 MB) that has an
  index decides for all files and passes: from 0 if index 0 is in it, else from 1. Where they count
  from 1, an index 0 is refused. Column = index - base.
- Beyond index 2^31 - 2 columns must be hashed: then all indices are taken as names and numbered by
  their hashes; values of indices with the same hash are added up.

With ``on_error="skip"`` a refused line is left out and counted.

Rows of any source are written with ``write``, indices counting from 1: labels must be numbers, and
weights cannot be kept. Names go to ``FILE.names``: index, tab, and the name as a JSON string.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np

from thresher.files.atomic import replacing
from thresher.formats import svmlight_kernel as kernel
from thresher.formats.blocks import BLOCK, Block
from thresher.formats.chunk import CHUNK, Chunk, assemble, pieces
from thresher.formats.errors import DataError
from thresher.formats.named import FileSource
from thresher.formats.names import HashedNames, Names
from thresher.formats.protocol import SHOWN, Format, Progress, Reading, Source
from thresher.formats.svmlight_kernel import HARD_NUMBER, NEWLINE, NO_INDEX, SPARE, Room, Rules

LAST_COLUMN = 2**31 - 2
LAST_INDEX = 2**63 - 1
# a number of twenty or more digits that is a label or a value
LONG = re.compile(rb"(?<![^\s:])[+-]?(?=[\d.]{20})\d*+\.?+\d*+(?:[eE][+-]?\d++)?+(?=[\s#])")


class SvmlightSource(FileSource):
    """svmlight text from files; ``names`` are those of a model whose indices are hashed."""

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        super().__init__(paths, reading)
        self.naming = names if isinstance(names, HashedNames) else None
        if self.naming is None and reading.hash_bits is not None:
            self.naming = HashedNames(reading.hash_bits)
        self.names: Names | None = self.naming
        self._base = reading.index_base  # None: not decided
        self._width = 0 if self.naming is None else len(self.naming)

    @property
    def index_base(self) -> int:
        """Return what the first column is called; as long as nothing is decided, 1."""
        if self.naming is not None:
            return 0
        return 1 if self._base is None else self._base

    def _read(self) -> Iterator[Chunk]:
        reader = BlockReader()
        for block in self.files.blocks(BLOCK):
            rows = reader.read(block.data, self._rules())
            self._refuse_faults(rows, block)
            yield from pieces(self._chunk(rows, block), CHUNK)

    def _rules(self) -> Rules:
        return Rules(
            lowest=self._base or 0,
            highest=LAST_COLUMN if self.naming is None else LAST_INDEX,
            labelled=self.reading.labelled,
            skip=self.reading.on_error == "skip",
            ignored=self.reading.ignore_labels,
        )

    def _refuse_faults(self, rows: "BlockRows", block: Block) -> None:
        """Raise what is wrong with a line, or count the lines with which something is."""
        shown = rows.faults[: max(0, SHOWN - self.skipped.count)]
        for fault in shown:
            self._report(fault_error(fault, rows.text, block, self._rules()))
        self.skipped.count += len(rows.faults) - len(shown)

    def _chunk(self, rows: "BlockRows", block: Block) -> Chunk:
        """Return all rows of a block."""
        labels = None if np.isnan(rows.labels).any() else rows.labels
        if self.naming is not None:
            return self._hash(self.naming, rows, labels, block)
        self._decide(rows, block.file)
        rows.indices[...] -= self.index_base
        self._width = max(self._width, int(rows.indices.max(initial=-1)) + 1)
        return Chunk(rows.starts, rows.indices, rows.values, self._width, labels)

    def _decide(self, rows: "BlockRows", file: str) -> None:
        """Find out what indices count from, if that is not known and these rows show it."""
        if self._base is not None or rows.least == NO_INDEX:
            return
        self._base = min(rows.least, 1)
        found = "an" if self._base == 0 else "no"
        self.decided.append(
            f"Indices count from {self._base}: there is {found} index 0 in the first "
            f"{len(rows.labels):,} rows of {file}."
        )

    def _hash(
        self, names: HashedNames, rows: "BlockRows", labels: np.ndarray | None, block: Block
    ) -> Chunk:
        """Number the columns by the hashes of their indices."""

        def refuse(row: int, message: str) -> None:
            line = block.first_line + int(rows.lines[row])
            self._report(DataError(message, file=block.file, line=line))

        distinct, places = np.unique(rows.indices, return_inverse=True)
        columns = names.number([str(index) for index in distinct.tolist()])[places]
        of_row = np.repeat(np.arange(len(rows.labels)), np.diff(rows.starts))
        cells = of_row, columns, rows.values
        return assemble(cells, len(names), labels, None, len(rows.labels), refuse)


class BlockRows(NamedTuple):
    """The rows in a block of text."""

    text: np.ndarray
    labels: np.ndarray
    lines: np.ndarray  # of each row, from 0
    starts: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    least: int  # of the indices, also where the value is 0
    faults: np.ndarray  # kind, place and line of each


class BlockReader:
    """Reads blocks, one after the other, with the same memory for their delimiters."""

    def __init__(self) -> None:
        self.flags = np.empty(0, np.uint8)
        self.delimiters = np.empty(0, np.int32)

    def read(self, data: memoryview, rules: Rules) -> BlockRows:
        """Return the rows of a block; long numbers in it may be written in fewer digits."""
        text = _text(data)
        n_lines = int(np.count_nonzero(text == NEWLINE))
        while True:
            room = _room(n_lines, self._find_delimiters(text))
            n_rows, n_faults, least = kernel.read_lines(text, self.delimiters, rules, room)
            faults = room.faults[:n_faults]
            hard = faults[faults[:, 0] == HARD_NUMBER, 1]
            if not hard.size:
                break
            _shorten(text, hard.tolist())
        n = room.starts[n_rows]
        labels, lines, starts = room.labels[:n_rows], room.lines[:n_rows], room.starts[: n_rows + 1]
        pairs = room.indices[:n], room.values[:n]
        return BlockRows(text, labels, lines, starts, *pairs, int(least), faults)

    def _find_delimiters(self, text: np.ndarray) -> int:
        """Find the delimiters of a text and return how many there are."""
        if self.flags.size < text.size:
            self.flags = np.empty(text.size, np.uint8)
            self.delimiters = np.empty(text.size + SPARE, np.int32)
        flags = self.flags[: text.size]
        kernel.flag_delimiters(text, flags)
        return kernel.list_delimiters(flags, self.delimiters)


def _text(data: memoryview) -> np.ndarray:
    """Return bytes as the kernels want them: writable, and with a newline at the end."""
    text = np.frombuffer(data, np.uint8)
    return text if text[-1] == NEWLINE else np.append(text, np.uint8(NEWLINE))


def _room(n_lines: int, n_delimiters: int) -> Room:
    """Return memory for all that could be there: every pair has a colon and an end."""
    return Room(
        labels=np.empty(n_lines),
        lines=np.empty(n_lines, np.int64),
        starts=np.empty(n_lines + 1, np.int64),
        indices=np.empty(n_delimiters // 2 + 1, np.int64),
        values=np.empty(n_delimiters // 2 + 1),
        faults=np.empty((n_lines, 3), np.int64),
    )


def _shorten(text: np.ndarray, places: list[int]) -> None:
    """Write all long numbers from each place to the end of its line in at most 17 digits.

    Python reads them; seventeen digits give the same double, and never take more bytes.
    """
    data = text.tobytes()
    for place in places:
        for found in LONG.finditer(data, place, data.index(b"\n", place) + 1):
            first, last = found.span()
            short = in_17_digits(float(found[0])).zfill(last - first)
            text[first:last] = np.frombuffer(short.encode(), np.uint8)


def in_17_digits(number: float) -> str:
    """Return a number as digits and an exponent, without a point."""
    if not np.isfinite(number):
        return "-1e999" if number < 0 else "1e999"
    digits, exponent = f"{number:.16e}".split("e")
    return f"{digits.replace('.', '')}e{int(exponent) - 16}"


QUOTED = 40  # bytes of the text at fault that are shown
DECIMAL = re.compile(rb"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?")
NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
PAIR, LATER_PAIR = re.compile(rb"\s*\d+:"), re.compile(rb"[ \t]\d+:")  # svmlight's own
MISREAD = (kernel.BAD_LABEL, kernel.BAD_PAIR, kernel.BAD_INDEX)  # where other formats fail
# the only byte that ends a word and could not be passed over
RETURN = "a carriage return inside a line: a line ends with a newline, or with both of them"


def fault_error(fault: np.ndarray, text: np.ndarray, block: Block, rules: Rules) -> DataError:
    """Return the error for a fault found by the kernel."""
    kind, place, line = fault.tolist()
    data = text.tobytes()
    start = data.rfind(b"\n", 0, place) + 1
    row = data[start : data.index(b"\n", place)]
    column = place - start
    if kind == kernel.REPEATED:
        column, message = _repeated(row)
    elif kind == kernel.BAD_INDEX:
        message = _index(row[column:], rules)
    else:
        message = MESSAGES[kind](_word(row[column:]))
    other = _other_format(row) if kind in MISREAD else None
    if other is not None:
        message = f"{_quoted(_word(row[column:]))} is not svmlight text; {other}"
    return DataError(message, file=block.file, line=block.first_line + line, column=column + 1)


def _label(word: bytes) -> str:
    if not word:
        return RETURN
    if b":" in word:
        return f"the row begins with {_quoted(word)}: a label, a number, must come first"
    if b"," in word:
        return (
            f"the label is {_quoted(word)}: rows with several labels cannot be learned; give each "
            "row one number"
        )
    return f"{_number(word, 'the label')}: in svmlight text labels are finite numbers"


def _pair(word: bytes) -> str:
    return f"{_quoted(word)} is not a pair index:value" if word else RETURN


def _index(rest: bytes, rules: Rules) -> str:
    index = _word(rest).split(b":")[0]
    if not index:
        return "there is no index before the colon"
    if index == b"qid":
        return "qid: must come directly after the label"
    if re.fullmatch(rb"-\d+", index):
        return f"index {_quoted(index)} is negative: indices count from 0 or 1"
    if not re.fullmatch(rb"\d+", index):
        return f"index {_quoted(index)} is not a whole number"
    return _index_out_of_range(index, rules)


def _index_out_of_range(index: bytes, rules: Rules) -> str:
    digits = index.lstrip(b"0")
    if not digits:
        return (
            "index 0, but indices count from 1, as was given or as the first rows show: if they "
            "count from 0, use index_base=0 (--index-base 0)"
        )
    if len(digits) > len(str(LAST_INDEX)) or int(digits) > LAST_INDEX:
        return f"index {_quoted(index)} is too large: none can be beyond 2^63 - 1"
    return (
        f"index {int(digits):,} is too large for a column: {rules.highest:,} is the last one. Hash "
        "the indices with hash_bits, for instance 24 (--hash-bits 24)"
    )


def _number(word: bytes, what: str) -> str:
    if NOT_FINITE.fullmatch(word):
        return f"{what} {_quoted(word)} is not finite"
    if DECIMAL.fullmatch(word):
        return f"{what} {_quoted(word)} is beyond the largest number there is"
    return f"{what} {_quoted(word)} is not a number"


def _repeated(row: bytes) -> tuple[int, str]:
    """Return the place of the first index that was there before, and the message."""
    seen: set[int] = set()
    for found in re.finditer(rb"(\d++):", row.split(b"#")[0]):
        index = int(found[1].lstrip(b"0") or b"0")
        if index in seen:
            return found.start(), f"index {index} occurs in this row twice"
        seen.add(index)
    raise AssertionError("no index repeats")


def _other_format(row: bytes) -> str | None:
    """Return what to do with a line that seems to be no svmlight text; None if it may be some."""
    if row.lstrip().startswith(b"{"):
        return "the line looks like JSON lines: use format='jsonl' (--format jsonl)"
    _, tab, rest = row.strip().partition(b"\t")
    if PAIR.match(rest) or (not tab and LATER_PAIR.search(row)):
        return None
    if tab:
        table = ", or if it is a table, tsv" if b"\t" in rest else ""
        text = "the line looks like labelled text, label<TAB>text: use format='text'"
        return f"{text} (--format text){table}"
    if b"," in row:
        return "the line looks like CSV: use format='csv' (--format csv)"
    if b";" in row:
        return "the line looks like a table with semicolons: use format='csv', sep=';'"
    return None


def _word(rest: bytes) -> bytes:
    """Return what comes first, up to a blank, a comment or the end of the line."""
    return re.split(rb"[ \t\r#]", rest, maxsplit=1)[0]


def _quoted(word: bytes) -> str:
    """Return bytes as they are shown, unless there are too many."""
    return repr(word[:QUOTED])[1:] + ("..." if len(word) > QUOTED else "")


MESSAGES: dict[int, Callable[[bytes], str]] = {
    kernel.BAD_LABEL: _label,
    kernel.BAD_QID: lambda word: f"{_quoted(word)}: after qid: there must be a whole number",
    kernel.BAD_PAIR: _pair,
    kernel.BAD_VALUE: lambda word: (
        _number(word, "the value") if word else "there is no value after the colon"
    ),
    kernel.HOLE: lambda _: (
        "a NUL byte in a comment: part of this file is lost. Copy or download it again"
    ),
}


def write(source: Source, path: str, progress: Progress | None = None) -> None:
    """Write the rows of a source as svmlight text; the file is there whole or not at all."""
    n_rows = 0
    with replacing(path) as file:
        for chunk in source.chunks():
            _write_rows(chunk, file, n_rows)
            n_rows += len(chunk)
            if progress is not None:
                progress(n_rows)
    if source.names is not None:
        with replacing(f"{path}.names") as file:
            for column in source.names.known().tolist():
                file.write(f"{column + 1}\t{json.dumps(source.names.name(column))}\n".encode())


def _write_rows(chunk: Chunk, file: BinaryIO, before: int) -> None:
    labels = [None] * len(chunk) if chunk.labels is None else chunk.labels.tolist()
    words = any(isinstance(label, str) for label in labels)
    if words or chunk.weights is not None:
        raise DataError(
            f"Rows have {'words for labels' if words else 'weights'}, and svmlight text has no "
            "place for them: convert to a .rows file instead."
        )
    columns, values = (chunk.columns + 1).tolist(), map(_short, chunk.values.tolist())
    pairs, ends = list(map("{}:{}".format, columns, values)), chunk.starts.tolist()
    for row, label in enumerate(labels):
        first = [] if label is None else [_short(label)]
        line = " ".join(first + pairs[ends[row] : ends[row + 1]])
        if not line:
            raise DataError(
                f"Row {before + row + 1:,} has neither a label nor features, and svmlight text has "
                "no such rows: convert to a .rows file instead."
            )
        file.write(line.encode() + b"\n")


def _short(number: float) -> str:
    """Return a number in as few digits as give the same double."""
    return repr(number).removesuffix(".0")


FORMAT = Format(SvmlightSource, options=("index_base", "hash_bits", "max_line_bytes"), write=write)
