"""Rows in binary: what text that is read more than once is kept as, and ``convert`` writes.

With the names of a model that is to predict, columns are numbered as these names are; else as in
the first of several files. How rows are read was decided when the file was written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np

from thresher.formats.binary_file import MOST_CLASSES, StoredRows
from thresher.formats.chunk import CHUNK, Chunk, row_cuts
from thresher.formats.errors import DataError
from thresher.formats.labels import NONE, REGRESSOR, WORDS
from thresher.formats.named import FileSource
from thresher.formats.names import Names
from thresher.formats.protocol import Format, Reading, Skipped

Room = tuple[np.ndarray, np.ndarray]  # for columns and values
Run = tuple[int, int, int]  # the number of a segment, its first row, and the one after the last


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
        self.weighted = any(one["weighted"] for one in facts)
        self.n_rows = sum(one["n_rows"] for one in facts)
        self.decided = [note for one in facts for note in one["decided"]]
        self._begin()
        self.names, self._numbers = _common_names(self._stored, names)
        new = [int(numbers.max(initial=-1)) + 1 for numbers in self._numbers or []]
        known = [] if self.names is None else [len(self.names)]
        self.width = max([one["n_columns"] for one in facts if not new] + new + known)
        self._segments = [(stored, k) for stored in self._stored for k in range(len(stored))]

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
        marks = [stored.facts["mark"] for stored in self._stored]
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
                room = self.room(int(starts[last] - starts[first]))
                yield self.gathered([(segment, first, last)], room)

    def starts(self, segment: int) -> np.ndarray:
        """Return a copy of where the nonzeros of a segment's rows begin, to plan by."""
        stored, number = self._segments[segment]
        return stored.rows(number).starts.copy()

    def gathered(self, runs: Sequence[Run], room: Room) -> Chunk:
        """Read runs of rows into a room, which is used again in the next call.

        (New memory each time costs more in page faults than reading into it.)
        """
        columns, values = room
        lengths, labels, weights = [np.zeros(1, np.int64)], list[Any](), list[Any]()
        size, reading = 0, -1
        for segment, first, last in runs:
            if reading not in (-1, segment):
                self._segments[reading][0].forget()
            reading, part = segment, self._part(segment, first, last)
            here = slice(size, size + part.columns.size)
            columns[here], values[here], size = part.columns, part.values, here.stop
            lengths.append(np.diff(part.starts))
            labels.append(part.labels)
            weights.append(part.weights)
        chunk = Chunk(
            np.concatenate(lengths).cumsum(),
            columns[:size],
            values[:size],
            self.width,
            None if self.kind == NONE else np.concatenate(labels),
            np.concatenate(weights) if self.weighted else None,
        )
        self._segments[reading][0].forget()
        if self._numbers is None:
            return chunk
        rows = chunk.rows
        rows.has_canonical_format = False  # columns may have changed places
        return Chunk.of(rows, chunk.labels, chunk.weights)

    def room(self, size: int) -> Room:
        """Return memory for so many nonzeros."""
        return np.empty(size, np.int64), np.empty(size)

    def _part(self, segment: int, first: int, last: int) -> Chunk:
        stored, number = self._segments[segment]
        part = stored.rows(number)[first:last]
        if self._numbers is None:
            return part
        numbers = self._numbers[self._stored.index(stored)]
        return replace(part, columns=numbers[part.columns])


def _check_alike(stored: Sequence[StoredRows], reading: Reading) -> None:
    """Refuse files that were not made alike, or not as they are to be read."""
    first, *others = map(_described, stored)
    for other, words in zip(stored[1:], others, strict=True):
        for one, two in zip(first, words, strict=True):
            if one != two:
                raise DataError(
                    f"{stored[0].path} {one}, and {other.path} {two}: they cannot be read "
                    "together. Convert both in one way."
                )
    if reading.labelled and stored[0].facts["kind"] == NONE:
        raise DataError("has no labels, and training needs them.", file=stored[0].path)


def _described(stored: StoredRows) -> list[str]:
    """Return what must be the same in files that are read together."""
    facts = stored.facts
    names = "no names" if facts["names"] is None else "names"
    return [
        f"has {facts['kind']} for labels",
        f"counts its columns from {facts['index_base']}",
        f"has {names} for its columns",
    ]


def _common_names(
    stored: Sequence[StoredRows], names: Names | None
) -> tuple[Names | None, list[np.ndarray] | None]:
    """Return the names of all columns, and the new numbers of each file's columns.

    There are no new numbers where the columns of all files have the right ones already.
    """
    trees = [one.facts["names"] for one in stored]
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


def _numbers(stored: StoredRows, tree: dict[str, Any], names: Names) -> np.ndarray:
    """Return the numbers that a file's columns have among the names; none if they are hashes."""
    hashed = tree["kind"] == "hashed"
    if hashed and getattr(names, "n_bits", None) != tree["n_bits"]:
        raise DataError(
            f"has features that were hashed to {tree['n_bits']} bits, and other names are not. "
            "Convert the data again, with the same hash_bits for all.",
            file=stored.path,
        )
    own = stored.names_from({**tree, "kind": "growing"})  # all names there are, hashed or not
    names.kinds.update({**own.kinds, **names.kinds})
    numbers = names.number([own.name(column) for column in range(len(own))])
    return np.zeros(0, np.int64) if hashed else numbers


FORMAT = Format(BinarySource)
