"""Rows in binary: what text that is read more than once is kept as, and ``convert`` writes.

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

With the names of a model that is to predict, columns are numbered as these names are; else as in
the first of several files. How the rows were read (``index_base``, ``label``, ...) was decided when
the file was written.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import pairwise
from json import dumps
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thresher.files.atomic import replacing
from thresher.files.segments import Damaged, Segments, SegmentWriter
from thresher.files.words import joined as text_of
from thresher.files.words import parted
from thresher.formats.chunk import CHUNK, Chunk, Limits, filled, joined, row_cuts
from thresher.formats.errors import DataError
from thresher.formats.labels import NONE, REGRESSOR, WORDS, kind_of_labels, labels_to_keep
from thresher.formats.named import FileSource
from thresher.formats.names import KnownNames, Names, names_from_tree
from thresher.formats.protocol import Format, Progress, Reading, Skipped, Source

SEGMENT = Limits(100_000, 1 << 21)  # 8 to 24 MB of nonzeros
LARGEST = np.iinfo(np.uint32).max
MOST_CLASSES = 1 << 16  # more distinct labels are no classes, and are not counted

Room = tuple[np.ndarray, np.ndarray]  # for columns and values
Run = tuple[int, int, int]  # the number of a segment, its first row, and the one after the last


def write(
    source: Source,
    path: str,
    progress: Progress | None = None,
    origin: dict[str, Any] | None = None,
) -> None:
    """Write the rows of a source to a file, which is there whole or not at all.

    ``origin`` is kept with them.
    """
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
        text, lengths = text_of(self.words)
        arrays = {"words": text, "words_lengths": lengths.astype(np.uint32)}
        names = None if source.names is None else _names_tree(source.names)
        for name, part in dict(names or {}).items():
            if names is not None and isinstance(part, np.ndarray):
                arrays[f"names_{name}"] = names.pop(name)
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


class BinarySource(FileSource):
    """The rows of one or more binary files, one after the other."""

    def __init__(self, paths: Sequence[str], reading: Reading, names: Names | None = None) -> None:
        super().__init__(paths, reading)
        if not self.rewinds:
            raise DataError("Binary rows cannot be read from a pipe: name a file.")
        self._stored = [StoredRows(path) for path in self.files.paths]
        _check_alike(self._stored, reading)
        facts = [stored.facts for stored in self._stored]
        self.kind = facts[0]["kind"]
        self.index_base = facts[0]["index_base"]
        self.origin: dict[str, Any] = facts[0]["origin"]
        self.weighted = any(one["weighted"] for one in facts)
        self.n_rows = sum(one["n_rows"] for one in facts)
        self.decided = [note for one in facts for note in one["decided"]]
        self._begin()
        self.names, self._numbers = _common_names(self._stored, names)
        new = [int(numbers.max(initial=-1)) + 1 for numbers in self._numbers or []]
        known = [] if self.names is None else [len(self.names)]
        self.width = max([one["n_columns"] for one in facts if not new] + new + known)
        self._segments = [(stored, k) for stored in self._stored for k in range(stored.n_segments)]

    @property
    def n_segments(self) -> int:
        """Return the number of segments of all files; this is how they are numbered."""
        return len(self._segments)

    @property
    def classes(self) -> np.ndarray:
        """Return the distinct labels, in order."""
        found: set[Any] = set()
        for stored in self._stored:
            if stored.facts["counts"] is None:
                raise DataError(
                    f"has more than {MOST_CLASSES:,} different labels: these are no classes. "
                    f"{REGRESSOR}",
                    file=stored.path,
                )
            found |= {label for label, _ in stored.facts["counts"]}
        if self.kind == NONE:
            raise DataError("has no labels.", file=self._stored[0].path)
        return np.array(sorted(found), object if self.kind == WORDS else np.float64)

    def fingerprint(self) -> str:
        """Return what distinguishes these rows from others, whatever file they were made from."""
        marks = [stored.facts["fingerprint"] for stored in self._stored]
        return marks[0] if len(marks) == 1 else sha256("".join(marks).encode()).hexdigest()

    def modified(self) -> list[int]:
        """Return nothing: the fingerprint covers every row."""
        return []

    def _begin(self) -> None:
        facts = [stored.facts["skipped"] for stored in self._stored]
        examples = [example for one in facts for example in one["examples"]]
        self.skipped = Skipped(sum(one["count"] for one in facts), examples)

    def _read(self) -> Iterator[Chunk]:
        for segment in range(self.n_segments):
            starts = self.starts(segment)
            for first, last in pairwise(row_cuts(starts, CHUNK).tolist()):
                yield self.gathered([(segment, first, last)])

    def starts(self, segment: int) -> np.ndarray:
        """Return a copy of where the nonzeros of a segment's rows begin, to plan by."""
        stored, number = self._segments[segment]
        with _advice(stored.path):
            return stored.starts(number).copy()

    def gathered(self, runs: Sequence[Run], room: Room | None = None) -> Chunk:
        """Read runs of rows, one after the other.

        Into the same room each time, if there is one (that saves page faults): then a chunk lasts
        only until the next call.
        """
        parts = [self._part(*run) for run in runs]
        lengths = [np.diff(part.starts) for part in parts]
        size = sum(part.columns.size for part in parts)
        columns, values = self.room(size) if room is None else room
        labels = [part.labels for part in parts if part.labels is not None]
        weights = [part.weights for part in parts] if self.weighted else []
        chunk = Chunk(
            np.concatenate([[0], *lengths]).cumsum(dtype=np.int64),
            np.concatenate([part.columns for part in parts], out=columns[:size]),
            np.concatenate([part.values for part in parts], out=values[:size]),
            self.width,
            np.concatenate(labels) if labels else None,
            np.concatenate(weights) if weights else None,
        )
        for stored in self._stored:
            stored.file.forget()
        if self._numbers is None:
            return chunk
        rows = chunk.rows
        rows.has_canonical_format = False  # columns may have changed places
        return Chunk.of(rows, chunk.labels, chunk.weights)

    def room(self, size: int) -> Room:
        """Return memory for so many nonzeros."""
        return np.empty(size, np.int64), np.empty(size)

    def _part(self, segment: int, first: int, last: int) -> "_Part":
        stored, number = self._segments[segment]
        with _advice(stored.path):
            part = stored.part(number, first, last)
        if self._numbers is None:
            return part
        return part._replace(columns=self._numbers[self._stored.index(stored)][part.columns])


class _Part(NamedTuple):
    """Some rows as they lie in a file."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    labels: np.ndarray | None
    weights: np.ndarray


def _check_alike(stored: Sequence["StoredRows"], reading: Reading) -> None:
    """Refuse files that were not made alike, or not as they are to be read."""
    first = stored[0]
    for other in stored[1:]:
        for key in ("kind", "index_base"):
            if first.facts[key] != other.facts[key]:
                raise DataError(
                    f"{first.path} and {other.path} differ in their {key.replace('_', ' ')}, "
                    f"{first.facts[key]} and {other.facts[key]}: convert both in one way."
                )
        if (first.facts["names"] is None) != (other.facts["names"] is None):
            raise DataError(
                f"Only one of {first.path} and {other.path} has names for its columns: convert "
                "both in one way."
            )
    if reading.labelled and first.facts["kind"] == NONE:
        raise DataError("has no labels, and training needs them.", file=first.path)


def _common_names(
    stored: Sequence["StoredRows"], names: Names | None
) -> tuple[Names | None, list[np.ndarray] | None]:
    """Return the names of all columns, and the new numbers of each file's columns.

    There are no new numbers where the columns of all files have the right ones already.
    """
    trees = [one.names_tree() for one in stored]
    if trees[0] is None:
        if names is not None:
            raise DataError(
                "has columns that are just numbers, but names are needed: convert data whose "
                "features have names.",
                file=stored[0].path,
            )
        return None, None
    names = stored[0].names_from(trees[0]) if names is None else names
    numbers = [_numbers(one, tree, names) for one, tree in zip(stored, trees, strict=True) if tree]
    same = all(np.array_equal(new, np.arange(new.size)) for new in numbers)
    return names, None if same else numbers


def _numbers(stored: "StoredRows", tree: dict[str, Any], names: Names) -> np.ndarray:
    """Return the numbers that a file's columns have among the names; none if they are hashes."""
    hashed = tree["kind"] == "hashed"
    if hashed and getattr(names, "n_bits", None) != tree["n_bits"]:
        raise DataError(
            f"has features that were hashed to {tree['n_bits']} bits, and other names are not. "
            "Convert the data again, with the same hash_bits for all.",
            file=stored.path,
        )
    own = stored.names_from({**tree, "kind": "growing"})  # all names there are, hashed or not
    names.categorical.update({**own.categorical, **names.categorical})
    numbers = names.number([own.name(column) for column in range(len(own))])
    return np.zeros(0, np.int64) if hashed else numbers


@contextmanager
def _advice(path: str) -> Iterator[None]:
    """Tell what to do about a file that is damaged."""
    try:
        yield
    except Damaged as error:
        raise DataError(
            f"is damaged: {error.reason}. Delete it; convert its data again (thresher convert), or "
            "if it is in the cache, it is made again by itself.",
            file=path,
        ) from error


class StoredRows:
    """The rows of one file: arrays to be read only, each checked when it is first read."""

    def __init__(self, path: str) -> None:
        self.path = path
        with _advice(path):
            self.file = Segments(Path(path))
            self.facts = self.file.facts
            self.n_segments = len(self.file) - 1
            known = {"n_rows", "n_columns", "index_base", "kind", "counts", "weighted", "names"}
            known |= {"skipped", "decided", "origin", "fingerprint"}
            if set(self.facts) != known or self.n_segments < 1:
                self.file.refuse("its index is not that of rows")
            words, lengths = (self._of_all(name) for name in ("words", "words_lengths"))
            self._words = np.array(parted(words, lengths), object)

    def names_tree(self) -> dict[str, Any] | None:
        """Return what was kept of the columns' names."""
        if self.facts["names"] is None:
            return None
        with _advice(self.path):
            arrays = {
                name: self._of_all(f"names_{name}").copy()
                for name in ("text", "lengths", "columns")
                if self.file.has(self.n_segments, f"names_{name}")
            }
        return {**self.facts["names"], **arrays}

    def names_from(self, tree: dict[str, Any]) -> Names:
        """Return the names in a tree."""
        with _advice(self.path):
            try:
                return names_from_tree(tree)
            except (KeyError, ValueError, TypeError):
                self.file.refuse("its names cannot be read")

    def starts(self, segment: int) -> np.ndarray:
        """Return where the nonzeros of each row begin."""
        known = self.file.checked(segment, "starts")
        starts = self.file.array(segment, "starts")
        if not known:
            sound = starts.size > 0 and starts[0] == 0 and bool((np.diff(starts) >= 0).all())
            self._expect(sound, "starts")
        return starts

    def part(self, segment: int, first: int, last: int) -> _Part:
        """Return a run of rows of a segment, without copying them."""
        starts = self.starts(segment)
        n_rows, nonzeros = starts.size - 1, int(starts[-1])
        rows, cells = slice(first, last), slice(starts[first], starts[last])
        return _Part(
            starts[first : last + 1],
            self._columns(segment, nonzeros)[cells],
            self._or_ones(segment, "values", nonzeros)[cells],
            self._labels(segment, n_rows, rows),
            self._or_ones(segment, "weights", n_rows)[rows],
        )

    def _columns(self, segment: int, size: int) -> np.ndarray:
        known = self.file.checked(segment, "columns")
        columns = self._array(segment, "columns", size)
        if not known and columns.size:
            within = int(columns.min()) >= 0 and int(columns.max()) < self.facts["n_columns"]
            self._expect(within, "columns")
        return columns

    def _or_ones(self, segment: int, name: str, size: int) -> np.ndarray:
        there = self.file.has(segment, name)
        return self._array(segment, name, size) if there else np.broadcast_to(1.0, size)

    def _labels(self, segment: int, size: int, rows: slice) -> np.ndarray | None:
        if self.facts["kind"] == NONE:
            return None
        labels = self._array(segment, "labels", size)[rows]
        if self.facts["kind"] != WORDS:
            return labels
        self._expect(int(labels.max(initial=0)) < self._words.size, "labels")
        return self._words[labels]

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


FORMAT = Format(BinarySource, write=write)
