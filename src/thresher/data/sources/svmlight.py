"""Rows of svmlight (libsvm) text.

    [label] [qid:number] index:value index:value ...  # comment

What is read, and what is refused with the file, the line and the column (counted in bytes from 1):

- A line ends with a newline, or with a carriage return and a newline; the last one may end with the
  file. A carriage return anywhere else is refused. Spaces and tabs separate, as many as there are.
- Lines that are blank or only a comment are no rows. ``#`` begins a comment wherever it stands. A
  comment may hold any bytes but NUL: where a disk has lost something, rows would vanish in it.
- Numbers are decimals with or without sign, point and exponent, digits before or behind the point.
  They become the nearest double, what Python's ``float`` gives; too small ones become 0. Refused
  are nan, inf, numbers beyond the largest double, hexadecimals, underscores, and all else.
- A label is one number. Several, with commas between them, are refused. Where labels are not
  required, a row may begin with its first pair; then the labels of a whole block are left out.
  Where labels are ignored, as in prediction, a label may be any word without a colon.
- ``qid:number`` is allowed directly behind the label. The number must be whole; nobody uses it.
- Indices are whole numbers up to 2^63 - 1, without sign. They may come in any order and are sorted;
  an index that stands in a row twice is refused. Values that are 0 are left out.
- Indices count from 0 or from 1. Unless told, the first block (4 MB) that has an index decides for
  all files and passes: from 0 if index 0 is in it, else from 1. Where they count from 1, an index 0
  is refused. Column = index - base.
- Beyond index 2^31 - 2 columns must be hashed: then all indices are taken as names and numbered by
  their hashes; values of indices with the same hash are added up.

With ``on_error="skip"`` a refused line is left out and counted.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.naming import HashedNames, Names
from thresher.data.sources.assemble import assemble
from thresher.data.sources.cutting import CHUNK, row_cuts
from thresher.data.sources.files import BLOCK, TextFiles, View
from thresher.data.sources.protocol import SHOWN, Reading, Skipped
from thresher.data.sources.svmlight_blocks import BlockReader, Rows
from thresher.data.sources.svmlight_faults import fault_error
from thresher.kernels.svmlight import NO_INDEX, Rules

LAST_COLUMN = 2**31 - 2
LAST_INDEX = 2**63 - 1


class SvmlightSource:
    """svmlight text from files; ``names`` are those of a model whose indices are hashed.

    ``decided`` says in words how indices were found to count, once that is so.
    """

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        self.files = TextFiles(paths)
        self.files.check()
        self.reading = reading
        self.rewinds = self.files.rewinds
        self.n_rows: int | None = None
        self.naming = _hashed(reading, names)
        self.names: Names | None = self.naming
        self.decided: str | None = None
        self.skipped = Skipped()
        self._base = reading.index_base  # None: not decided
        self._width = 0 if self.naming is None else len(self.naming)

    @property
    def index_base(self) -> int:
        """Return what the first column is called; as long as nothing is decided, 1."""
        if self.naming is not None:
            return 0
        return 1 if self._base is None else self._base

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows from the first on."""
        self.skipped = Skipped()
        reader = BlockReader()
        n_rows = 0
        for view in self.files.views(BLOCK):
            rows = reader.read(view.data, self._rules())
            self._refuse(rows, view)
            chunk = self._chunk(rows, view)
            for first, last in pairwise(row_cuts(chunk.starts, CHUNK).tolist()):
                yield chunk[first:last]
            n_rows += len(chunk)
        self.n_rows = n_rows

    def fingerprint(self) -> str:
        """Return what tells these files from others."""
        return self.files.fingerprint()

    def _rules(self) -> Rules:
        return Rules(
            lowest=self._base or 0,
            highest=LAST_COLUMN if self.naming is None else LAST_INDEX,
            labelled=self.reading.labelled,
            patient=self.reading.on_error == "skip",
            ignored=self.reading.ignore_labels,
        )

    def _refuse(self, rows: Rows, view: View) -> None:
        """Raise what is wrong with a line, or count the lines with which something is."""
        told = rows.faults[: max(0, SHOWN - self.skipped.count)]
        for fault in told:
            self._report(fault_error(fault, rows.text, view, self._rules()))
        self.skipped.count += len(rows.faults) - len(told)

    def _report(self, error: DataError) -> None:
        if self.reading.on_error != "skip":
            raise error
        self.skipped.add(error)

    def _chunk(self, rows: Rows, view: View) -> Chunk:
        """Return all rows of a block."""
        labels = None if np.isnan(rows.labels).any() else rows.labels
        if self.naming is not None:
            return self._hash(self.naming, rows, labels, view)
        self._decide(rows, view.file)
        rows.indices[...] -= self.index_base
        self._width = max(self._width, int(rows.indices.max(initial=-1)) + 1)
        return Chunk(rows.starts, rows.indices, rows.values, self._width, labels)

    def _decide(self, rows: Rows, file: str) -> None:
        """Find out what indices count from, if nobody knows and these rows can tell."""
        if self._base is not None or rows.least == NO_INDEX:
            return
        self._base = min(rows.least, 1)
        found = "an" if self._base == 0 else "no"
        self.decided = (
            f"Indices count from {self._base}: there is {found} index 0 in the first "
            f"{len(rows.labels):,} rows of {file}."
        )

    def _hash(self, names: HashedNames, rows: Rows, labels: np.ndarray | None, view: View) -> Chunk:
        """Number the columns by the hashes of their indices."""

        def refuse(row: int, message: str) -> None:
            line = view.first_line + int(rows.lines[row])
            self._report(DataError(message, file=view.file, line=line))

        distinct, places = np.unique(rows.indices, return_inverse=True)
        columns = names.number([str(index) for index in distinct.tolist()])[places]
        of_row = np.repeat(np.arange(len(rows.labels)), np.diff(rows.starts))
        cells = of_row, columns, rows.values
        return assemble(cells, len(names), labels, None, len(rows.labels), refuse)


def _hashed(reading: Reading, names: Names | None) -> HashedNames | None:
    """Return what numbers indices by their hashes, if they are to be hashed."""
    if isinstance(names, HashedNames):
        return names
    return None if reading.hash_bits is None else HashedNames(reading.hash_bits)
