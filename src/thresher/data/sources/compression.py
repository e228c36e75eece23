"""Compressed files as streams of bytes, with nothing lost silently.

The name's ending decides: .gz, .bz2, .xz, .zst. A file may hold several compressed streams one
after the other. One that is cut off, damaged, or followed by anything but zeros is an error:
Python's own readers of .bz2 and .xz ignore what follows, and that of .zst takes half a stream for a
whole one.
"""

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple

from thresher.data.errors import DataError

PIECE = 4096  # compressed bytes at a time: what comes out stays small even at a ratio of 10,000


class Codec(NamedTuple):
    """A way of compressing: its name, what undoes one stream, and how each stream begins.

    ``unpack`` is the command that undoes it in a shell.
    """

    name: str
    begin: Callable[[], Any]
    magic: bytes
    unpack: str


def _begin_gzip() -> Any:
    return zlib.decompressobj(31)  # with gzip's header, and its checksum verified


def _begin_zstd() -> Any:
    try:
        import zstandard
    except ImportError:
        raise ImportError(
            "Reading .zst files needs the package zstandard: pip install 'thresher[zstd]'"
        ) from None
    return zstandard.ZstdDecompressor().decompressobj()


CODECS = {
    ".gz": Codec("gzip", _begin_gzip, b"\x1f\x8b", "gunzip -c"),
    ".bz2": Codec("bzip2", bz2.BZ2Decompressor, b"BZh91AY&SY", "bunzip2 -c"),
    ".xz": Codec("xz", lzma.LZMADecompressor, b"\xfd7zXZ\x00", "unxz -c"),
    ".zst": Codec("zstd", _begin_zstd, b"\x28\xb5\x2f\xfd", "unzstd -c"),
}


def codec_of(path: str) -> Codec | None:
    """Return how a file is compressed by its name; None if it is not."""
    return CODECS.get(PurePath(path).suffix.lower())


def looks_compressed(head: bytes) -> str | None:
    """Return the ending of names of files that begin so; None if this is no compressed file."""
    return next((end for end, codec in CODECS.items() if head.startswith(codec.magic)), None)


class Decompressed(io.RawIOBase):
    """What a compressed file holds."""

    def __init__(self, file: BinaryIO, codec: Codec, name: str) -> None:
        self._file, self._codec, self._name = file, codec, name
        self._current: Any = None  # what undoes the stream we are in; None between streams
        self._streams = 0
        self._rest = b""  # compressed bytes not yet looked at
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, room: Any) -> int:
        """Fill as much of the room as is at hand; 0 is the end."""
        while not self._ready:
            piece = self._rest or self._file.read(PIECE)
            if not piece:
                return self._end()
            self._rest = b""
            self._ready = memoryview(self._expand(piece))
        view = memoryview(room).cast("B")
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _expand(self, piece: bytes) -> bytes:
        if self._current is None:
            piece = piece.lstrip(b"\0") if self._streams else piece
            if not piece:
                return b""
            self._current, self._streams = self._codec.begin(), self._streams + 1
        out = self._undo(piece)
        if self._current.eof:
            self._rest, self._current = self._current.unused_data, None
        return out

    def _undo(self, piece: bytes) -> bytes:
        try:
            return bytes(self._current.decompress(piece))
        except MemoryError:
            raise
        except Exception as error:  # each codec has its own kind
            place = "is damaged" if self._streams == 1 else "is damaged after its first stream"
            raise DataError(
                f"{place}, or not {self._codec.name} data as its name says: {error}",
                file=self._name,
            ) from None

    def _end(self) -> int:
        if self._current is not None:
            raise DataError(
                f"is cut off: the {self._codec.name} stream has no end. Copy or download the file "
                "again.",
                file=self._name,
            )
        return 0
