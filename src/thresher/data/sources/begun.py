"""A source that has been looked into."""

from collections.abc import Iterator
from typing import Any

from thresher.data.chunk import Chunk
from thresher.data.sources.protocol import Source


class Begun:
    """A source that is read once, some of whose rows have been looked at already."""

    rewinds = False

    def __init__(self, source: Source, chunks: Iterator[Chunk]) -> None:
        self._source, self._chunks = source, chunks

    def chunks(self) -> Iterator[Chunk]:
        """Read the rows from the first on."""
        return self._chunks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)
