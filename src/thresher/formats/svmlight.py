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
"""

from collections.abc import Iterator, Sequence

import numpy as np

from thresher.formats.blocks import BLOCK, NEWLINE, Block
from thresher.formats.chunk import CHUNK, Chunk, assemble, pieces
from thresher.formats.errors import BadRow
from thresher.formats.named import FileSource
from thresher.formats.names import HashedNames, Names
from thresher.formats.protocol import Format, Reading
from thresher.formats.svmlight_lines import (
    LAST_INDEX,
    UNUSED,
    Lines,
    Rules,
    read_line,
    read_text,
    row_of_each,
)

LAST_COLUMN = 2**31 - 2


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
        for block in self.files.blocks(BLOCK):
            yield from pieces(self._chunk(block), CHUNK)

    def _chunk(self, block: Block) -> Chunk:
        """Return all rows of a block."""
        text = np.frombuffer(block.data, np.uint8)
        text = text if text[-1] == NEWLINE else np.append(text, np.uint8(NEWLINE))
        highest = LAST_COLUMN if self.naming is None else LAST_INDEX
        reading = self.reading
        rules = Rules(self._base or 0, highest, reading.labelled, reading.ignore_labels)
        lines, tidy = read_text(text, rules)
        if lines.odd.size:
            lines = self._with_odd(lines, text, rules, block)
        labels = None if np.isnan(lines.labels).any() else lines.labels
        columns = self._columns(lines, block.file)
        if tidy and self.naming is None:
            return Chunk(lines.starts, columns, lines.values, self._width, labels)

        def refuse(row: int, message: str) -> None:
            self._refuse(BadRow(message), block.file, block.first_line + int(lines.places[row, 2]))

        cells = row_of_each(lines.starts), columns, lines.values
        return assemble(cells, self._width, labels, None, len(lines.labels), refuse)

    def _with_odd(self, lines: Lines, text: np.ndarray, rules: Rules, block: Block) -> Lines:
        """Return lines with those that Python must read, and without those that are no rows."""
        dropped = []
        for row in lines.odd.tolist():
            first, end, line = lines.places[row].tolist()
            slots = slice(lines.starts[row], lines.starts[row + 1])
            lines.indices[slots], found = UNUSED, None
            try:
                found = read_line(text[first:end].tobytes(), rules)
            except BadRow as problem:
                self._refuse(problem, block.file, block.first_line + line)
            if found is None:
                dropped.append(row)
                continue
            lines.labels[row], pairs = found
            slots = slice(slots.start, slots.start + len(pairs))
            lines.indices[slots], lines.values[slots] = list(pairs), list(pairs.values())
        return lines.without(dropped)

    def _columns(self, lines: Lines, file: str) -> np.ndarray:
        """Return the columns of indices."""
        if self.naming is not None:
            distinct, places = np.unique(lines.indices, return_inverse=True)
            return self.naming.number([str(index) for index in distinct.tolist()])[places]
        if self._base is None and lines.indices.size:
            self._base = min(int(lines.indices.min()), 1)
            found = "an" if self._base == 0 else "no"
            self.decided.append(
                f"Indices count from {self._base}: there is {found} index 0 in the first "
                f"{len(lines.labels):,} rows of {file}."
            )
        columns = np.subtract(lines.indices, self.index_base, out=lines.indices)
        self._width = max(self._width, int(columns.max(initial=-1)) + 1)
        return columns


FORMAT = Format(SvmlightSource, options=("index_base", "hash_bits", "max_line_bytes"))
