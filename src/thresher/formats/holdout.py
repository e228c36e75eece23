"""Rows held out: a random share of a source's rows, or all the others."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from thresher.draws import uniforms
from thresher.formats.chunk import Chunk
from thresher.formats.names import Names
from thresher.formats.protocol import Skipped, Source

APART = 1 << 40  # what the seed of these draws is apart from that of all others


class HeldOut:
    """The rows of a source that are held out, or those that are not.

    Whether a row is held out depends on its number and the seed alone, so two sources of the same
    files agree on it.
    """

    def __init__(self, source: Source, share: float, seed: int, held: bool) -> None:
        self.source, self.share, self.seed, self.held = source, share, seed, held
        self.rewinds, n_rows = source.rewinds, source.n_rows
        self.n_rows = None if n_rows is None else int(self._mine(0, n_rows).size)
        known: Any = getattr(source, "classes", None)
        if known is not None:
            self.classes = known

    skipped: Skipped = property(lambda self: self.source.skipped)  # type: ignore[assignment]
    decided: list[str] = property(lambda self: self.source.decided)  # type: ignore[assignment]

    @property
    def names(self) -> Names | None:
        """Return what columns are called."""
        return self.source.names

    @property
    def index_base(self) -> int | None:
        """Return what a file of numbered columns calls the first."""
        return self.source.index_base

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows from the first on."""
        first = 0
        for chunk in self.source.chunks():
            mine = self._mine(first, len(chunk))
            first += len(chunk)
            if mine.size:
                yield chunk.at(mine)

    def fingerprint(self) -> str:
        """Return what distinguishes this data from other data."""
        return f"{self.source.fingerprint()} {self.share!r} {self.seed} {self.held}"

    def modified(self) -> list[int]:
        """Return when its files were changed."""
        return self.source.modified()

    def _mine(self, first: int, n_rows: int) -> np.ndarray:
        """Return the places, after the first, of the rows among so many."""
        drawn = uniforms(self.seed + APART, np.arange(first, first + n_rows)) < self.share
        return np.flatnonzero(drawn == self.held)
