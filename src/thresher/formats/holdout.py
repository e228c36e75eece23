"""Rows held out: a random share of a source's rows, or all the others."""

from collections.abc import Iterator

import numpy as np

from thresher.draws import uniforms
from thresher.formats.chunk import Chunk
from thresher.formats.protocol import Around, Source

APART = 1 << 40  # what the seed of these draws is apart from that of all others


class HeldOut(Around):
    """The rows of a source that are held out, or those that are not.

    Whether a row is held out depends on its number and the seed alone, so two sources of the same
    files agree on it.
    """

    def __init__(self, source: Source, share: float, seed: int, held: bool) -> None:
        super().__init__(source)
        self.share, self.seed, self.held = share, seed, held
        self.n_rows = None if source.n_rows is None else int(self._mine(0, source.n_rows).size)

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

    def _mine(self, first: int, n_rows: int) -> np.ndarray:
        """Return the places, after the first, of the rows among so many."""
        drawn = uniforms(self.seed + APART, np.arange(first, first + n_rows)) < self.share
        return np.flatnonzero(drawn == self.held)
