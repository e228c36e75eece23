"""How rows lie in a binary file, how they are written, and what is checked when they are read.

Nothing is lost, and little is stored: column numbers take four bytes where they fit, values that
are all 1 take none, and four bytes where that is exact. All numbers are little-endian.

    segments  of up to 100,000 rows, each with the arrays
              starts    int64, where the nonzeros of each row begin, and where the last one's end
              columns   uint32, or int64 if one exceeds that
              values    float32 if that is exact, else float64; none if every value is 1
              labels    float64, or uint32 numbers of words; none without labels
              weights   float64; none if every row counts the same
              each filled up with zeros to a multiple of eight bytes
    index     JSON: facts; of each segment's arrays the name, type, length and checksum
    trailer   uint64 length of the index, uint32 CRC-32 of the index and of its length

The checksum of an array is a CRC-32, compared when the array is first read; no byte in the file is
left out. A file that was changed or cut short is refused when the damage is met. (Of what the
standard library has, CRC-32 was the fastest: 3.4 GB/s, where SHA-256 ran at 1.5.)
"""

import json
import mmap
import os
import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, BinaryIO, NoReturn

import numpy as np

from thresher.files.atomic import replacing
from thresher.formats.chunk import Chunk, Limits, filled, joined
from thresher.formats.errors import DataError
from thresher.formats.labels import NONE, NUMBERS, WORDS
from thresher.formats.names import Names, names_from_tree
from thresher.formats.protocol import Progress, Source

SEGMENT = Limits(100_000, 1 << 21)  # 8 to 24 MB of nonzeros
LARGEST = np.iinfo(np.uint32).max
MOST_CLASSES = 1 << 16  # more distinct labels are no classes, and are not counted
STEP = 8 << 20  # bytes that are checked before their pages are given back
TRAILER = struct.Struct("<QI")
FACTS = "n_rows n_columns index_base kind words counts weighted names skipped decided origin mark"
TYPES = {
    "starts": ("<i8",),
    "columns": ("<u4", "<i8"),
    "values": ("<f4", "<f8"),
    "labels": ("<u4", "<f8"),
    "weights": ("<f8",),
}


def write(
    source: Source,
    path: str,
    progress: Progress | None = None,
    origin: dict[str, Any] | None = None,
) -> None:
    """Write the rows of a source, and ``origin``, to a file: it is there whole or not at all."""
    with replacing(path) as file:
        writer = _Writer(file, progress)
        for part in filled(source.chunks(), SEGMENT):
            writer.add(part)
        writer.finish(source, origin or {})


class _Writer:
    """Writes rows, and counts them and their labels."""

    def __init__(self, file: BinaryIO, progress: Progress | None) -> None:
        self._file, self._progress = file, progress
        self.segments: list[dict[str, list[Any]]] = []
        self.n_rows = self.n_columns = 0
        self.weighted = False
        self.kind: str | None = None  # of the labels
        self.words: dict[str, int] = {}
        self.counts: Counter[Any] | None = Counter()

    def add(self, chunks: Sequence[Chunk]) -> None:
        """Write rows as a segment."""
        for one in chunks:
            self._check_kind(one.labels)
        chunk = joined(chunks)
        wide = chunk.columns.size and chunk.columns.max() > LARGEST
        arrays = {"starts": chunk.starts}
        arrays["columns"] = chunk.columns.astype(np.int64 if wide else np.uint32)
        arrays |= _narrow_values(chunk.values) | self._labels(chunk.labels)
        if chunk.weights is not None:
            arrays["weights"], self.weighted = chunk.weights.astype(np.float64), True
        self.write_segment(arrays)
        self.n_columns = max(self.n_columns, chunk.width)
        self.n_rows += len(chunk)
        if self._progress is not None:
            self._progress(self.n_rows)

    def write_segment(self, arrays: dict[str, np.ndarray]) -> None:
        """Write arrays, and add them to the index."""
        entries = {}
        for name, array in arrays.items():
            little = array.astype(array.dtype.newbyteorder("<"), copy=False)
            data = little.tobytes() + bytes(-little.nbytes % 8)
            entries[name] = [little.dtype.str, little.size, zlib.crc32(data)]
            self._file.write(data)
        self.segments.append(entries)

    def finish(self, source: Source, origin: dict[str, Any]) -> None:
        """Write the index, without which the file is none."""
        if not self.n_rows:
            raise DataError("There is not a single row in what was read.")
        facts = {
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "index_base": source.index_base or 0,
            "kind": self.kind or NONE,
            "words": list(self.words),
            "counts": None if self.counts is None else sorted(self.counts.items()),
            "weighted": self.weighted,
            "names": None if source.names is None else source.names.tree(),
        }
        about = {
            "mark": sha256(json.dumps([facts, self.segments]).encode()).hexdigest(),
            "skipped": {"count": source.skipped.count, "examples": source.skipped.examples},
            "decided": source.decided,
            "origin": origin,
        }
        index = json.dumps([{**facts, **about}, self.segments], allow_nan=False).encode()
        length = struct.pack("<Q", len(index))
        self._file.write(index + length + struct.pack("<I", zlib.crc32(index + length)))

    def _check_kind(self, labels: np.ndarray | None) -> None:
        kind = NONE if labels is None else NUMBERS if labels.dtype.kind == "f" else WORDS
        if kind != (self.kind or kind):
            raise DataError(
                f"Labels are {self.kind} in some rows and {kind} in others: all rows of a file "
                "must be labelled in one way."
            )
        self.kind = kind

    def _labels(self, labels: np.ndarray | None) -> dict[str, np.ndarray]:
        if labels is None:
            return {}
        if self.counts is not None:
            self.counts.update(labels.tolist())
            self.counts = self.counts if len(self.counts) <= MOST_CLASSES else None
        if self.kind == WORDS:
            codes = (self.words.setdefault(word, len(self.words)) for word in labels.tolist())
            return {"labels": np.fromiter(codes, np.uint32, labels.size)}
        return {"labels": labels}


def _narrow_values(values: np.ndarray) -> dict[str, np.ndarray]:
    if (values == 1.0).all():
        return {}
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    return {"values": short if np.array_equal(short, values) else values.astype(np.float64)}


class StoredRows:
    """The rows of one file, mapped into memory, each array checked when it is first read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._checked: set[tuple[int, str]] = set()
        self._last: tuple[int, Chunk] | None = None
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= TRAILER.size:
                self._refuse(f"it has {size} bytes, fewer than any file of rows")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self.facts, self._segments = self._index(size)
            self._words = np.array(self.facts["words"], object)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            if isinstance(error, DataError):
                raise
            self._refuse("its index cannot be read")

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self._segments)

    def names_from(self, tree: dict[str, Any]) -> Names:
        """Return the names in a tree."""
        try:
            return names_from_tree(tree)
        except (KeyError, ValueError, TypeError):
            self._refuse("its names cannot be read")

    def rows(self, segment: int) -> Chunk:
        """Return the rows of a segment as they lie there, uncopied and of any type."""
        if self._last is None or self._last[0] != segment:
            self._last = segment, self._rows(segment)
        return self._last[1]

    def forget(self) -> None:
        """Give back the memory of pages read so far; they are read again when needed."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def _index(self, size: int) -> tuple[dict[str, Any], list[dict[str, tuple[Any, ...]]]]:
        """Return facts, and the type, length, checksum, beginning and end of all arrays."""
        length, checksum = TRAILER.unpack(self._map[size - TRAILER.size :])
        end = size - TRAILER.size - length
        if end < 0 or zlib.crc32(self._map[end : size - 4]) != checksum:
            self._refuse("it does not end as a file of rows does")
        facts, segments = json.loads(self._map[end : size - TRAILER.size])
        placed: list[dict[str, tuple[Any, ...]]] = []
        at = 0
        for entries in segments:
            placed.append({})
            for name, (kind, count, crc) in entries.items():
                stop = at + -(-np.dtype(kind).itemsize * count // 8) * 8
                if kind not in TYPES[name] or stop < at:
                    self._refuse(f"its {name} are laid out in an unknown way")
                placed[-1][name] = (kind, count, crc, at, stop)
                at = stop
        if at != end or not segments or set(facts) != set(FACTS.split()):
            self._refuse("its index is not that of rows")
        return facts, placed

    def _rows(self, segment: int) -> Chunk:
        known, width = (segment, "columns") in self._checked, self.facts["n_columns"]
        starts = self._array(segment, "starts")
        sound = starts.size > 0 and starts[0] == 0
        self._expect(sound and (known or bool((np.diff(starts) >= 0).all())), "starts")
        n_rows, nonzeros = starts.size - 1, int(starts[-1])
        columns = self._array(segment, "columns", nonzeros)
        if not known and nonzeros:
            self._expect(int(columns.min()) >= 0 and int(columns.max()) < width, "columns")
        values, weights = (
            self._or_ones(segment, "values", nonzeros),
            self._or_ones(segment, "weights", n_rows),
        )
        labels = None if self.facts["kind"] == NONE else self._array(segment, "labels", n_rows)
        if labels is not None and self.facts["kind"] == WORDS:
            self._expect(int(labels.max(initial=0)) < self._words.size, "labels")
            labels = self._words[labels]
        return Chunk(starts, columns, values, width, labels, weights)

    def _or_ones(self, segment: int, name: str, size: int) -> np.ndarray:
        there = name in self._segments[segment]
        return self._array(segment, name, size) if there else np.broadcast_to(1.0, size)

    def _array(self, segment: int, name: str, size: int | None = None) -> np.ndarray:
        """Return an array as it lies in the file: read-only, and checked."""
        if name not in self._segments[segment]:
            self._refuse(f"it has no {name}")
        kind, count, checksum, first, last = self._segments[segment][name]
        if (segment, name) not in self._checked:
            if self._checksum(first, last) != checksum:
                self._refuse(f"its {name} do not match their checksum")
            self._checked.add((segment, name))
        self._expect(size in (None, count), name)
        return np.frombuffer(self._map, kind, count, first)

    def _checksum(self, first: int, last: int) -> int:
        checksum = 0
        with memoryview(self._map) as view:
            for at in range(first, last, STEP):
                checksum = zlib.crc32(view[at : min(at + STEP, last)], checksum)
                self.forget()
        return checksum

    def _expect(self, sound: bool, name: str) -> None:
        """Make sure of what compiled code relies on."""
        if not sound:
            self._refuse(f"its {name} contradict the rest of it")

    def _refuse(self, reason: str) -> NoReturn:
        """Raise the error of a file that is not as it was written; from now on nothing is sure."""
        self._checked.clear()
        message = f"is damaged: {reason}. Delete it, and convert its data again."
        raise DataError(message, file=self.path)
