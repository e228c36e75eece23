"""Rows from sets of shards, in their order or in any other."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.errors import DataError
from thresher.data.labels import REGRESSOR
from thresher.data.naming import Names
from thresher.data.sources.cutting import CHUNK, row_cuts
from thresher.data.sources.protocol import Reading, Skipped
from thresher.data.sources.shard_agreement import agree, common_names
from thresher.data.sources.shard_labels import MOST_CLASSES, NONE, merged
from thresher.data.sources.shard_rows import Room, StoredRows
from thresher.data.sources.shard_set import ShardSet, in_words, is_shards, read_set

OPEN = 64  # shards that are mapped at a time

__all__ = ["Run", "ShardSource", "is_shards"]

Run = tuple[
    int, int, int
]  # the number of a shard, the first of its rows, and the one after the last


class ShardSource:
    """The rows of one or more folders of shards, one after the other.

    With ``names`` (those of a model that is to predict, say) columns are numbered as these names
    are; else as those of the first folder, or as they are if columns are just numbers.
    """

    rewinds = True

    def __init__(
        self,
        paths: str | Path | Sequence[str | Path],
        reading: Reading | None = None,
        names: Names | None = None,
    ) -> None:
        folders = [paths] if isinstance(paths, str | Path) else paths
        self.sets = [read_set(folder) for folder in folders]
        agree(self.sets, reading or Reading())
        self.names, self._numbers, self.width = common_names(self.sets, names)
        self.n_rows: int | None = sum(one.n_rows for one in self.sets)
        self.index_base = self.sets[0].index_base
        self.weighted = any(one.weighted for one in self.sets)
        self.kind = self.sets[0].labels["kind"]
        self.skipped = _skipped(self.sets)
        self._shards = [(one, k) for one in range(len(self.sets)) for k in self._range(one)]
        self._checked: list[set[str]] = [set() for _ in self._shards]
        self._open: OrderedDict[int, StoredRows] = OrderedDict()

    @property
    def n_shards(self) -> int:
        """The number of shards in all folders; this is how they are numbered."""
        return len(self._shards)

    @property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes, in order, and how many rows each has."""
        for one in self.sets:
            if one.labels["kind"] == NONE:
                raise DataError("has no labels.", file=one.folder)
            if one.labels["classes"] is None:
                many = (
                    f"has more than {MOST_CLASSES:,} different labels: these are no classes. "
                    f"{REGRESSOR}"
                )
                raise DataError(many, file=one.folder)
        return merged([one.labels for one in self.sets])

    def fingerprint(self) -> str:
        """Return what tells these rows from others, whatever file they were made from."""
        if len(self.sets) == 1:
            return self.sets[0].fingerprint
        return sha256("".join(one.fingerprint for one in self.sets).encode()).hexdigest()

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows from the first on."""
        for shard in range(self.n_shards):
            cuts = row_cuts(self.starts(shard), CHUNK).tolist()
            for first, last in pairwise(cuts):
                yield self.block(shard, first, last)

    def block(self, shard: int, first: int, last: int) -> Chunk:
        """Return a run of the rows of a shard."""
        with in_words(self._set_of(shard).folder):
            starts = self._rows_of(shard).starts
        room = self.room(last - first, int(starts[last] - starts[first]))
        return self.gathered([(shard, first, last)], room)

    def room(self, n_rows: int, nonzeros: int) -> Room:
        """Return memory for so many of the rows."""
        return Room(n_rows, nonzeros, self.kind, self.weighted)

    def gathered(self, runs: Sequence[Run], room: Room) -> Chunk:
        """Read runs of rows one after the other into memory that is large enough.

        Runs of one shard should be beside each other.
        """
        room.clear()
        for k, (shard, first, last) in enumerate(runs):
            with in_words(self._set_of(shard).folder):
                begin = int(room.starts[room.rows])
                room.add(self._rows_of(shard), first, last)
            self._renumber(shard, room.columns[begin : room.starts[room.rows]])
            if k + 1 == len(runs) or runs[k + 1][0] != shard:
                self._open[shard].shard.forget()
        chunk = room.chunk(self.width)
        return chunk if self._numbers is None else _canonical(chunk)

    def starts(self, shard: int) -> np.ndarray:
        """Return a copy of where the nonzeros of a shard's rows begin, to plan by."""
        with in_words(self._set_of(shard).folder):
            return self._rows_of(shard).starts.astype(np.int64)

    def _renumber(self, shard: int, columns: np.ndarray) -> None:
        """Give columns the numbers their names have, in place."""
        if self._numbers is not None:
            columns[...] = self._numbers[self._shards[shard][0]][columns]

    def _set_of(self, shard: int) -> ShardSet:
        return self.sets[self._shards[shard][0]]

    def _range(self, one: int) -> range:
        return range(len(self.sets[one].shards))

    def _rows_of(self, shard: int) -> StoredRows:
        """Return a shard's rows, mapped; the one not asked for longest is closed for it."""
        if shard not in self._open:
            whole, number = self.sets[self._shards[shard][0]], self._shards[shard][1]
            opened = whole.shard(number, self._checked[shard])
            self._open[shard] = StoredRows(opened, whole.n_columns, self.kind)
        self._open.move_to_end(shard)
        while len(self._open) > OPEN:
            self._open.popitem(last=False)
        return self._open[shard]


def _skipped(sets: Sequence[ShardSet]) -> Skipped:
    """Return what was left out when the shards were made."""
    examples = [example for one in sets for example in one.skipped["examples"]]
    return Skipped(sum(one.skipped["count"] for one in sets), examples)


def _canonical(chunk: Chunk) -> Chunk:
    """Return rows with their columns in order after these were renumbered.

    Names that a hash throws together are added up.
    """
    rows = chunk.rows
    rows.has_canonical_format = False
    rows.sum_duplicates()
    rows.eliminate_zeros()
    starts, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    return Chunk(starts, columns, rows.data, chunk.width, chunk.labels, chunk.weights)
