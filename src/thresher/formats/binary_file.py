"""How rows lie in a binary file, how they are written, and what is checked when they are read.

Nothing is lost, and little is stored: column numbers take four bytes where they fit, values that
are all 1 take none, and four bytes where that is exact. A file has segments (see
``thresher.files.segments``) of up to 100,000 rows, each with the arrays

    starts    int64, where the nonzeros of each row begin, and where the last one's end
    columns   uint32, or int64 if one exceeds that
    values    float32 if that is exact, else float64; none if every value is 1
    labels    float64, or uint32 numbers of words; none without labels
    weights   float64; none if every row counts the same

and a last segment with the words of labels and the names of columns. All of it has checksums: a
file that was changed or cut short is refused when the damage is met.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np

from thresher.files.atomic import replacing
from thresher.files.segments import Damaged, Segments, SegmentWriter
from thresher.files.words import joined as text_of
from thresher.files.words import parted
from thresher.formats.chunk import Chunk, Limits, filled, joined
from thresher.formats.errors import DataError
from thresher.formats.labels import NONE, WORDS, kind_of_labels, labels_to_keep
from thresher.formats.names import KnownNames, Names, names_from_tree
from thresher.formats.protocol import Progress, Source

SEGMENT = Limits(100_000, 1 << 21)  # 8 to 24 MB of nonzeros
LARGEST = np.iinfo(np.uint32).max
NAMES_ARRAYS = ("text", "lengths", "means")  # of the names of columns
MOST_CLASSES = 1 << 16  # more distinct labels are no classes, and are not counted


def write(
    source: Source,
    path: str,
    progress: Progress | None = None,
    origin: dict[str, Any] | None = None,
) -> None:
    """Write the rows of a source, and ``origin``, to a file: it is there whole or not at all."""
    with replacing(path) as file:
        writer = _Writer(SegmentWriter(file), progress)
        for part in filled(source.chunks(), SEGMENT):
            writer.add(part)
        writer.finish(source, origin or {})


class _Writer:
    """Writes rows, and counts them and their labels."""

    def __init__(self, file: SegmentWriter, progress: Progress | None) -> None:
        self._file, self._progress = file, progress
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
        self._file.add(arrays)
        self.n_columns = max(self.n_columns, chunk.width)
        self.n_rows += len(chunk)
        if self._progress is not None:
            self._progress(self.n_rows)

    def finish(self, source: Source, origin: dict[str, Any]) -> None:
        """Write the names and the facts."""
        if not self.n_rows:
            raise DataError("There is not a single row in what was read.")
        text, lengths = text_of(list(self.words))
        arrays = {"words": text, "words_lengths": lengths.astype(np.uint32)}
        names = None if source.names is None else _names_tree(source.names)
        if names is not None:
            found = [name for name in names if isinstance(names[name], np.ndarray)]
            arrays |= {f"names_{name}": names.pop(name) for name in found}
        self._file.add(arrays)
        counted = None if self.counts is None else sorted(self.counts.items())
        facts = {
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "index_base": source.index_base or 0,
            "kind": self.kind or NONE,
            "counts": counted,
            "weighted": self.weighted,
            "names": names,
        }
        mark = sha256(dumps([facts, self._file.segments]).encode()).hexdigest()
        skipped = {"count": source.skipped.count, "examples": source.skipped.examples}
        about = {"skipped": skipped, "decided": source.decided, "origin": origin}
        self._file.finish({**facts, **about, "fingerprint": mark})

    def _check_kind(self, labels: np.ndarray | None) -> None:
        kind = NONE if labels is None else kind_of_labels(labels)
        if kind != (self.kind or kind):
            raise DataError(
                f"Labels are {self.kind} in some rows and {kind} in others: all rows of a file "
                "must be labelled in one way."
            )
        self.kind = kind

    def _labels(self, labels: np.ndarray | None) -> dict[str, np.ndarray]:
        if labels is None:
            return {}
        kept = labels_to_keep(labels)
        if self.counts is not None:
            self.counts.update(kept.tolist())
            self.counts = self.counts if len(self.counts) <= MOST_CLASSES else None
        if self.kind == WORDS:
            codes = (self.words.setdefault(word, len(self.words)) for word in kept.tolist())
            kept = np.fromiter(codes, np.uint32, kept.size)
        return {"labels": kept}


def _names_tree(names: Names) -> dict[str, Any]:
    if isinstance(names, KnownNames):
        raise DataError(
            "Rows that were read with the names of a finished model cannot be kept: it does not "
            "know the names of all their features."
        )
    return names.tree()


def _narrow_values(values: np.ndarray) -> dict[str, np.ndarray]:
    if (values == 1.0).all():
        return {}
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    return {"values": short if np.array_equal(short, values) else values.astype(np.float64)}


@contextmanager
def advice(path: str) -> Iterator[None]:
    """Tell what to do about a file that is damaged."""
    try:
        yield
    except Damaged as error:
        raise DataError(
            f"is damaged: {error.reason}. Delete it, and convert its data again.",
            file=path,
        ) from error


class StoredRows:
    """The rows of one file: arrays to be read only, each checked when it is first read."""

    def __init__(self, path: str) -> None:
        self.path = path
        with advice(path):
            self.file = Segments(Path(path))
            self.facts = self.file.facts
            self.n_segments = len(self.file) - 1
            known = {"n_rows", "n_columns", "index_base", "kind", "counts", "weighted", "names"}
            known |= {"skipped", "decided", "origin", "fingerprint"}
            if set(self.facts) != known or self.n_segments < 1:
                self.file.refuse("its index is not that of rows")
            words, lengths = (self._of_all(name) for name in ("words", "words_lengths"))
            self._words = np.array(parted(words, lengths), object)
        self._last: tuple[int, Chunk] | None = None

    def described(self, what: str) -> str:
        """Return one of the facts as a message has it."""
        fact = self.facts[what]
        return {
            "kind": f"has {fact} for labels",
            "index_base": f"counts its columns from {fact}",
            "names": f"has {'no ' if fact is None else ''}names for its columns",
        }[what]

    def names_tree(self) -> dict[str, Any] | None:
        """Return what was kept of the columns' names."""
        if self.facts["names"] is None:
            return None
        with advice(self.path):
            found = {one: self._of_all(f"names_{one}").copy() for one in NAMES_ARRAYS}
        return {**self.facts["names"], **found}

    def names_from(self, tree: dict[str, Any]) -> Names:
        """Return the names in a tree."""
        with advice(self.path):
            try:
                return names_from_tree(tree)
            except (KeyError, ValueError, TypeError):
                self.file.refuse("its names cannot be read")

    def rows(self, segment: int) -> Chunk:
        """Return the rows of a segment as they lie there, uncopied and of any type."""
        if self._last is None or self._last[0] != segment:
            self._last = segment, self._rows(segment)
        return self._last[1]

    def _rows(self, segment: int) -> Chunk:
        known, width = self.file.checked(segment, "columns"), self.facts["n_columns"]
        starts = self.file.array(segment, "starts")
        sound = starts.size > 0 and starts[0] == 0
        self._expect(sound and (known or bool((np.diff(starts) >= 0).all())), "starts")
        n_rows, nonzeros = starts.size - 1, int(starts[-1])
        columns = self._array(segment, "columns", nonzeros)
        if not known and nonzeros:
            self._expect(int(columns.min()) >= 0 and int(columns.max()) < width, "columns")
        values = self._or_ones(segment, "values", nonzeros)
        labels, weights = self._labels(segment, n_rows), self._or_ones(segment, "weights", n_rows)
        return Chunk(starts, columns, values, width, labels, weights)

    def _labels(self, segment: int, size: int) -> np.ndarray | None:
        if self.facts["kind"] == NONE:
            return None
        labels = self._array(segment, "labels", size)
        if self.facts["kind"] != WORDS:
            return labels
        self._expect(int(labels.max(initial=0)) < self._words.size, "labels")
        return self._words[labels]

    def _or_ones(self, segment: int, name: str, size: int) -> np.ndarray:
        there = self.file.has(segment, name)
        return self._array(segment, name, size) if there else np.broadcast_to(1.0, size)

    def _array(self, segment: int, name: str, size: int) -> np.ndarray:
        array = self.file.array(segment, name)
        self._expect(array.size == size, name)
        return array

    def _of_all(self, name: str) -> np.ndarray:
        return self.file.array(self.n_segments, name)

    def _expect(self, sound: bool, name: str) -> None:
        """Make sure of what compiled code relies on."""
        if not sound:
            self.file.refuse(f"its {name} contradict the rest of it")
