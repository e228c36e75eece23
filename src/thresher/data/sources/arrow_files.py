"""Parquet and Arrow files as batches of rows, in bounded memory."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from thresher.data.errors import DataError
from thresher.data.sources.assemble import MOST_ROWS
from thresher.data.sources.files import TextFiles

MOST_BYTES = 32 << 20  # of a batch once it is unpacked to numbers
CELL = 8  # bytes of one of them


def arrow_library() -> Any:
    """Return pyarrow."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
        import pyarrow.types
    except ImportError:
        raise ImportError(
            "Reading Parquet and Arrow files needs the package pyarrow: "
            "pip install 'thresher[arrow]'"
        ) from None
    return pyarrow


@contextmanager
def in_words(path: str, problem: str) -> Iterator[None]:
    """Turn what pyarrow says about a file into an error of its data."""
    arrow = arrow_library()
    try:
        yield
    except (arrow.ArrowException, OSError, EOFError, UnicodeError) as error:
        raise DataError(f"{problem}: {error}", file=path) from error


class ArrowFile:
    """A file of either kind; its first bytes tell which."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._files = TextFiles([path])
        self._files.check()
        if not self._files.rewinds:
            raise DataError(
                "Parquet and Arrow files cannot be read from a pipe or standard input, because "
                "their end is read first: name a file."
            )

    @property
    def schema(self) -> Any:
        """Return the names and types of the columns."""
        with self._open() as file:
            return file.schema_arrow if self._is_parquet() else file.schema

    @property
    def n_rows(self) -> int | None:
        """Return the number of rows, if the file says so."""
        if not self._is_parquet():
            return None
        with self._open() as file:
            return int(file.metadata.num_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Read the given columns from the first row on."""
        size, mark = self._files.size, self._files.fingerprint()
        n_rows = max(1, min(MOST_ROWS, MOST_BYTES // (CELL * max(1, len(columns)))))
        with self._open() as file:
            if self._is_parquet():
                yield from file.iter_batches(n_rows, columns=list(columns))
            else:
                yield from _pieces(file, columns, n_rows)
        now = TextFiles([self.path])
        if now.size != size:
            raise DataError(
                f"grew or shrank from {size:,} to {now.size:,} bytes while it was read. Read it "
                "when it is complete, or read a copy.",
                file=self.path,
            )
        if now.fingerprint() != mark:
            raise DataError("was changed while it was read. Read a copy.", file=self.path)

    def _is_parquet(self) -> bool:
        with open(self.path, "rb") as file:
            return file.read(4) == b"PAR1"

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """Open the file, and say in words what is wrong with it."""
        arrow = arrow_library()
        kind = "Parquet" if self._is_parquet() else "Arrow"
        with (
            in_words(self.path, f"cannot be read as {kind}"),
            arrow.OSFile(self.path) as stream,
        ):
            yield self._reader(arrow, stream)

    def _reader(self, arrow: Any, stream: Any) -> Any:
        head = stream.read(8)
        stream.seek(0)
        if head[:4] == b"PAR1":
            return arrow.parquet.ParquetFile(
                stream, pre_buffer=False, buffer_size=1 << 16, page_checksum_verification=True
            )
        if head[:6] == b"ARROW1":
            return arrow.ipc.open_file(stream)
        if head[:4] == b"\xff\xff\xff\xff":
            return arrow.ipc.open_stream(stream)
        raise DataError(
            "is neither a Parquet nor an Arrow file by its first bytes. Compressed files must be "
            "unpacked first; files of Feather's first version written anew.",
            file=self.path,
        )


def without_rows(batch: Any, rows: Iterable[int]) -> Any:
    """Return a batch without some rows. (``take`` does not know all types.)"""
    ends = [*sorted(rows), batch.num_rows]
    starts = [0, *(end + 1 for end in ends)]
    pieces = [batch.slice(start, end - start) for start, end in zip(starts, ends, strict=False)]
    whole = arrow_library().Table.from_batches(pieces).combine_chunks()
    return next(iter(whole.to_batches()), batch.slice(0, 0))


def _pieces(file: Any, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
    """Return the batches that somebody wrote, cut into smaller ones."""
    numbered = hasattr(file, "num_record_batches")
    batches = (file.get_batch(i) for i in range(file.num_record_batches)) if numbered else file
    for batch in batches:
        wanted = batch.select(list(columns))
        for start in range(0, wanted.num_rows, n_rows):
            yield wanted.slice(start, n_rows)
