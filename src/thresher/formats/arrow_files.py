"""Parquet and Arrow files as batches of rows, in bounded memory, and their columns as arrays.

Every batch is validated in full before anything looks into it: Arrow's functions trust offsets and
indices, and one damaged byte would end the interpreter.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from thresher.formats.blocks import InputFiles
from thresher.formats.errors import DataError
from thresher.formats.named import MOST_ROWS
from thresher.formats.tables import check_columns

MOST_BYTES = 32 << 20  # of a batch once it is unpacked to numbers
PARQUET = {"pre_buffer": False, "buffer_size": 1 << 16, "page_checksum_verification": True}
CELL = 8  # bytes of one of them
NUMBERS, WORDS, NOTHING, LISTS, OTHER = "numbers", "words", "nothing", "lists", "other"


def arrow_library() -> Any:
    """Return pyarrow."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
        import pyarrow.types
    except ImportError:
        raise ImportError(
            "Reading Parquet and Arrow data needs the package pyarrow: "
            "pip install 'thresher[arrow]'"
        ) from None
    return pyarrow


@contextmanager
def arrow_errors(path: str, problem: str) -> Iterator[None]:
    """Turn pyarrow's errors about a file into errors of its data."""
    arrow = arrow_library()
    try:
        yield
    except (arrow.ArrowException, OSError, EOFError, UnicodeError, MemoryError) as error:
        raise DataError(f"{problem}: {str(error) or type(error).__name__}", file=path) from error


class ArrowFile:
    """A file of either kind; its first bytes show which."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._files = InputFiles([path])
        if not self._files.rewinds:
            raise DataError(
                "Parquet and Arrow files cannot be read from a pipe or standard input, because "
                "their end is read first: name a file."
            )
        with self._open() as opened:
            is_parquet = hasattr(opened, "schema_arrow")
            self.schema = opened.schema_arrow if is_parquet else opened.schema
            self.n_rows = int(opened.metadata.num_rows) if is_parquet else None
            check_columns(self.schema.names, path)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Read the given columns from the first row on."""
        before = self._files.fingerprint()
        n_rows = max(1, min(MOST_ROWS, MOST_BYTES // (CELL * max(1, len(columns)))))
        with self._open() as file:
            line = 1
            for batch in _batches(file, n_rows, list(columns)):
                wanted = batch.select(list(columns))
                with arrow_errors(self.path, f"rows from {line} on are damaged"):
                    wanted.validate(full=True)
                line += wanted.num_rows
                for start in range(0, wanted.num_rows, n_rows):
                    yield wanted.slice(start, n_rows)
        self._files.compare(self.path, "while it was read")
        if InputFiles([self.path]).fingerprint() != before:
            raise DataError("was changed while it was read. Read a copy.", file=self.path)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """Open the file, and explain what is wrong with it."""
        arrow = arrow_library()
        with open(self.path, "rb") as file:
            head = file.read(6)
        openers = {
            b"PAR1": ("Parquet", partial(arrow.parquet.ParquetFile, **PARQUET)),
            b"ARROW1": ("Arrow", arrow.ipc.open_file),
            b"\xff\xff\xff\xff": ("Arrow", arrow.ipc.open_stream),
        }
        kind, opener = next((openers[m] for m in openers if head.startswith(m)), ("", None))
        if opener is None:
            raise DataError(
                "is neither a Parquet nor an Arrow file by its first bytes. Compressed files must "
                "be unpacked first; files of Feather's first version must be written again.",
                file=self.path,
            )
        with (
            arrow_errors(self.path, f"cannot be read as {kind}"),
            arrow.OSFile(self.path) as stream,  # mapped memory could be cut off while it is read
        ):
            yield opener(stream)


def _batches(file: Any, n_rows: int, columns: list[str]) -> Iterator[Any]:
    """Return the batches of a file of any kind."""
    if hasattr(file, "iter_batches"):
        return iter(file.iter_batches(n_rows, columns=columns))
    if not hasattr(file, "num_record_batches"):
        return iter(file)
    return (file.get_batch(i) for i in range(file.num_record_batches))


def without_rows(batch: Any, rows: Iterable[int]) -> Any:
    """Return a batch without some rows. (``take`` does not know all types.)"""
    ends = [*sorted(rows), batch.num_rows]
    starts = [0, *(end + 1 for end in ends)]
    pieces = [batch.slice(start, end - start) for start, end in zip(starts, ends, strict=False)]
    whole = arrow_library().Table.from_batches(pieces).combine_chunks()
    return next(iter(whole.to_batches()), batch.slice(0, 0))


def kind_of(kind: Any) -> str:
    """Return what a column of a type holds."""
    types = arrow_library().types
    kinds = {
        NUMBERS: (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal),
        WORDS: (types.is_string, types.is_large_string, types.is_string_view),
        LISTS: (types.is_list, types.is_large_list, types.is_fixed_size_list),
        NOTHING: (types.is_null,),
    }
    if types.is_dictionary(kind):
        return kind_of(kind.value_type)
    return next((name for name, tests in kinds.items() if any(t(kind) for t in tests)), OTHER)


def is_integer(kind: Any) -> bool:
    """Return whether a type is one of whole numbers."""
    return bool(arrow_library().types.is_integer(kind))


def numbers_of(array: Any) -> np.ndarray:
    """Return numbers as floats, 0 for missing ones."""
    floats = _decoded(array).cast(arrow_library().float64(), safe=False).fill_null(0.0)
    return np.array(floats.to_numpy(zero_copy_only=False), np.float64)


def words_of(array: Any) -> list[str | None]:
    """Return words, None for missing ones."""
    words: list[str | None] = _decoded(array).to_pylist()
    return words


def missing_in(array: Any) -> np.ndarray:
    """Return which rows have nothing."""
    return np.asarray(_decoded(array).is_null().to_numpy(zero_copy_only=False), bool)


def _decoded(array: Any) -> Any:
    """Return an array that is no dictionary."""
    is_dictionary = arrow_library().types.is_dictionary(array.type)
    return array.dictionary_decode() if is_dictionary else array


class Lists:
    """A column of lists, as their items one after the other and how many each row has."""

    def __init__(self, array: Any) -> None:
        lengths = array.value_lengths().fill_null(0)
        self.lengths = np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64)
        self.items = array.flatten()
        self.rows = np.repeat(np.arange(self.lengths.size), self.lengths)

    def rows_with_missing(self) -> np.ndarray:
        """Return the rows that have an item which is null."""
        return np.unique(self.rows[missing_in(self.items)])

    def integers(self) -> np.ndarray:
        """Return the items as whole numbers, 0 for missing ones."""
        integers = self.items.cast(arrow_library().int64()).fill_null(0)
        return np.array(integers.to_numpy(zero_copy_only=False), np.int64)
