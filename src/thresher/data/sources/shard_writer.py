"""Any source written as a set of shards, in bounded memory, whole or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.sources.cutting import Limits, rows_that_fit
from thresher.data.sources.protocol import Reading, Source
from thresher.data.sources.shard_labels import LabelCounts
from thresher.data.sources.shard_rows import Piece, narrowed, packed
from thresher.data.sources.shard_set import (
    is_shards,
    shard_name,
    write_index,
    write_names,
)
from thresher.data.sources.shards import ShardSource
from thresher.files.atomic import WORDS
from thresher.files.errors import FileError
from thresher.files.folder import replacing_folder
from thresher.files.shard import write_shard

SHARD = Limits(100_000, 1 << 22)  # 16 to 48 MB of nonzeros

Progress = Callable[[int], None]


def write_shards(
    source: Source,
    folder: str | Path,
    progress: Progress | None = None,
    *,
    origin: dict[str, Any] | None = None,
    limits: Limits = SHARD,
    keep: Callable[[], bool] | None = None,
) -> ShardSource:
    """Read a source once, keep its rows as shards, and return them as a source.

    A set of shards that is there already is replaced when the new one is complete; anything else
    is left alone. ``progress`` is told the number of rows so far. ``origin`` is remembered with
    the set. ``keep`` is asked in the end whether what is there by now shall stay instead.
    """
    folder = Path(folder)
    _refuse_to_replace(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with replacing_folder(folder, keep) as place:
            _write(source, place, progress, origin or {}, limits)
    except OSError as error:
        raise _unwritten(folder, error) from error
    return ShardSource([str(folder)], Reading(format="shards", labelled=False))


def _write(
    source: Source,
    place: Path,
    progress: Progress | None,
    origin: dict[str, Any],
    limits: Limits,
) -> None:
    before = source.fingerprint()
    writer = ShardWriter(place, limits)
    for chunk in source.chunks():
        writer.add(chunk)
        if progress is not None:
            progress(writer.n_rows)
    if source.rewinds and source.fingerprint() != before:
        raise DataError("The data were changed while they were read. Read them when at rest.")
    writer.finish(source, {"fingerprint": before, **origin})


class ShardWriter:
    """Rows that wait until there are enough of them for a shard, and the shards written so far.

    Where one shard ends and the next begins depends on the rows, not on the chunks they came in.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder, self.limits = folder, limits
        self.labels = LabelCounts()
        self.shards: list[dict[str, int]] = []
        self.n_rows = self.n_columns = self.nonzeros = 0
        self.weighted = False
        self._empty()

    def add(self, chunk: Chunk) -> None:
        """Take rows; they are copied."""
        self.n_columns = max(self.n_columns, chunk.width)
        while len(chunk):
            fit = rows_that_fit(chunk, self.limits, self._rows, self._nonzeros)
            if fit:
                self._keep(chunk[:fit])
                chunk = chunk[fit:]
            else:
                self._flush()

    def finish(self, source: Source, origin: dict[str, Any]) -> None:
        """Write what waits, the names and the index."""
        self._flush()
        if not self.n_rows:
            raise DataError("There is not a single row in what was read.")
        facts = {
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "nonzeros": self.nonzeros,
            "index_base": source.index_base or 0,
            "labels": self.labels.tree(),
            "weighted": self.weighted,
            "names": None if source.names is None else self._write_names(source),
            "skipped": {"count": source.skipped.count, "examples": source.skipped.examples},
            "shards": self.shards,
        }
        write_index(self.folder, facts, origin)

    def _write_names(self, source: Source) -> int:
        tree = source.names.tree() if source.names is not None else {}
        if tree["kind"] == "known":
            raise DataError(
                "Rows that were read with the names of a finished model cannot be kept: it does "
                "not know all of theirs."
            )
        return write_names(self.folder, tree)

    def _keep(self, chunk: Chunk) -> None:
        self._pieces.append(narrowed(chunk, self.labels.add(chunk.labels)))
        self._rows += len(chunk)
        self._nonzeros += chunk.columns.size
        self.n_rows += len(chunk)
        self.nonzeros += chunk.columns.size
        self.weighted |= chunk.weights is not None

    def _flush(self) -> None:
        if not self._rows:
            return
        path = self.folder / shard_name(len(self.shards))
        checksum = write_shard(path, *packed(self._pieces))
        sizes = {"rows": self._rows, "nonzeros": self._nonzeros, "bytes": path.stat().st_size}
        self.shards.append({**sizes, "checksum": checksum})
        self._empty()

    def _empty(self) -> None:
        self._pieces: list[Piece] = []
        self._rows = self._nonzeros = 0


def _refuse_to_replace(folder: Path) -> None:
    """Leave alone whatever we have not written: it may be the only copy of something."""
    if not folder.exists() or is_shards(folder):
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise FileError(f"{folder} exists and is no folder of shards: choose another name.")


def _unwritten(folder: Path, error: OSError) -> FileError:
    reason = WORDS.get(error.errno or 0, error.strerror or str(error))
    message = f"{folder} cannot be written: {reason}. No part of it was kept."
    return FileError(message, error.errno)
