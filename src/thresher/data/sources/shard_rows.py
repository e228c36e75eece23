"""How rows lie in a shard, and how they come out of it again.

Nothing is lost, and little is stored: column numbers take four bytes where they fit, values that
are all 1 take none, and four bytes where none needs more. A shard's arrays are

    starts    int64, where the nonzeros of each row begin, and where the last one's end
    columns   uint32, or int64 if one exceeds that
    values    float32 if that is exact, else float64; not there if every value is 1
    labels    float64, or uint32 places in the ``words`` among the facts; not there without labels
    weights   float64; not there if every row counts the same
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from thresher.data.chunk import Chunk
from thresher.data.sources.shard_labels import NONE, WORDS, dtype_of
from thresher.files.damage import Damaged
from thresher.files.shard import Shard

LARGEST = np.iinfo(np.uint32).max


class Piece(NamedTuple):
    """Some rows of a shard to be: copies, as small as they can be."""

    lengths: np.ndarray
    columns: np.ndarray
    values: np.ndarray | None
    labels: np.ndarray | list[str] | None
    weights: np.ndarray | None


def narrowed(chunk: Chunk, labels: np.ndarray | list[str] | None) -> Piece:
    """Return the rows of a chunk, which are not needed any more after that."""
    wide = chunk.columns.size and chunk.columns.max() > LARGEST
    return Piece(
        np.diff(chunk.starts),
        chunk.columns.astype(np.int64 if wide else np.uint32),
        _narrow_values(chunk.values),
        labels,
        None if chunk.weights is None else chunk.weights.astype(np.float64),
    )


def _narrow_values(values: np.ndarray) -> np.ndarray | None:
    if (values == 1.0).all():
        return None
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    return short if np.array_equal(short, values) else values.astype(np.float64)


def packed(pieces: Sequence[Piece]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays of a shard, and the facts about them."""
    starts = np.concatenate([[0], *(piece.lengths for piece in pieces)]).cumsum()
    arrays = {"starts": starts, "columns": np.concatenate([piece.columns for piece in pieces])}
    sizes = [piece.columns.size for piece in pieces]
    arrays |= _filled_up("values", [piece.values for piece in pieces], sizes)
    labels, words = _labels([piece.labels for piece in pieces])
    arrays |= labels
    rows = [piece.lengths.size for piece in pieces]
    arrays |= _filled_up("weights", [piece.weights for piece in pieces], rows)
    return arrays, {"rows": starts.size - 1, "nonzeros": int(starts[-1]), "words": words}


def _filled_up(
    name: str, parts: Sequence[np.ndarray | None], sizes: Sequence[int]
) -> dict[str, np.ndarray]:
    """Join parts of which some may not be there because they are all 1."""
    if all(part is None for part in parts):
        return {}
    whole = [
        np.ones(size, np.float32) if part is None else part
        for part, size in zip(parts, sizes, strict=True)
    ]
    return {name: np.concatenate(whole)}


def _labels(parts: Sequence[Any]) -> tuple[dict[str, np.ndarray], list[str] | None]:
    """Return numbers as they are, words as codes and the words they stand for."""
    if parts[0] is None:
        return {}, None
    if isinstance(parts[0], np.ndarray):
        return {"labels": np.concatenate(parts)}, None
    every = [word for part in parts for word in part]
    code_of = {word: code for code, word in enumerate(dict.fromkeys(every))}
    codes = np.fromiter(map(code_of.__getitem__, every), np.uint32, len(every))
    return {"labels": codes}, list(code_of)


class StoredRows:
    """The rows of one shard: arrays to be read only, each checked when it is first asked for."""

    def __init__(self, shard: Shard, width: int, kind: str) -> None:
        self.shard, self.width, self.kind = shard, width, kind

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the nonzeros of each row begin."""
        known = "starts" in self.shard.checked
        starts = self.shard.array("starts")
        expected = (self.shard.facts["rows"] + 1, 0, self.shard.facts["nonzeros"])
        sound = starts.size > 0 and (starts.size, starts[0], starts[-1]) == expected
        self._expect(sound and (known or bool((np.diff(starts) >= 0).all())), "starts")
        return starts

    @cached_property
    def columns(self) -> np.ndarray:
        """The columns of the nonzeros."""
        known = "columns" in self.shard.checked
        columns = self.shard.array("columns")
        self._expect(columns.size == self.starts[-1], "columns")
        if not known and columns.size:
            self._expect(int(columns.min()) >= 0 and int(columns.max()) < self.width, "columns")
        return columns

    @cached_property
    def values(self) -> np.ndarray | None:
        """The values of the nonzeros; None where all are 1."""
        return self._optional("values", int(self.starts[-1]))

    @cached_property
    def weights(self) -> np.ndarray | None:
        """The weights of the rows; None where all are 1."""
        return self._optional("weights", self.starts.size - 1)

    def labels(self, first: int, last: int) -> np.ndarray:
        """Return the labels of some rows."""
        codes = self._codes[first:last]
        return codes if self.kind != WORDS else self._words[codes]

    @cached_property
    def _codes(self) -> np.ndarray:
        codes = self.shard.array("labels")
        self._expect(codes.size == self.starts.size - 1, "labels")
        if self.kind == WORDS:
            self._expect(codes.size == 0 or int(codes.max()) < self._words.size, "labels")
        return codes

    @cached_property
    def _words(self) -> np.ndarray:
        return np.array(self.shard.facts["words"], object)

    def _optional(self, name: str, size: int) -> np.ndarray | None:
        if name not in self.shard:
            return None
        array = self.shard.array(name)
        self._expect(array.size == size, name)
        return array

    def _expect(self, sound: bool, name: str) -> None:
        """Make sure of what compiled code takes for granted."""
        if not sound:
            self.shard.checked.discard(name)
            raise Damaged(self.shard.path, f"its {name} contradict the rest of it")


class Room:
    """Memory for so many rows and nonzeros, filled from the front, and again when it is cleared.

    A buffer that is made anew each time costs more page faults than reading into it.
    """

    def __init__(self, n_rows: int, nonzeros: int, kind: str, weighted: bool) -> None:
        self.starts = np.zeros(n_rows + 1, np.int64)
        self.columns = np.empty(nonzeros, np.int64)
        self.values = np.empty(nonzeros)
        self.labels = None if kind == NONE else np.empty(n_rows, dtype_of(kind))
        self.weights = np.empty(n_rows) if weighted else None
        self.clear()

    def clear(self) -> None:
        """Make room for other rows; chunks given out before must not be used any more."""
        self.rows = 0

    def add(self, stored: StoredRows, first: int, last: int) -> None:
        """Copy rows out of a shard, in the types they are worked with."""
        starts, begin = stored.starts, self.starts[self.rows]
        here = slice(self.rows, self.rows + last - first)
        source = slice(starts[first], starts[last])
        target = slice(begin, begin + source.stop - source.start)
        np.add(starts[first + 1 : last + 1], begin - source.start, self.starts[1:][here])
        self.columns[target] = stored.columns[source]
        self.values[target] = 1.0 if stored.values is None else stored.values[source]
        if self.labels is not None:
            self.labels[here] = stored.labels(first, last)
        if self.weights is not None:
            self.weights[here] = 1.0 if stored.weights is None else stored.weights[first:last]
        self.rows = here.stop

    def chunk(self, width: int) -> Chunk:
        """Return what has been filled, without copying it."""
        rows, nonzeros = self.rows, self.starts[self.rows]
        return Chunk(
            self.starts[: rows + 1],
            self.columns[:nonzeros],
            self.values[:nonzeros],
            width,
            None if self.labels is None else self.labels[:rows],
            None if self.weights is None else self.weights[:rows],
        )
