"""Compressed files as streams of bytes, with nothing lost silently, in bounded memory.

The name's ending decides: .gz, .bz2, .xz, .zst. A file may hold several compressed streams one
after the other. One that is cut off, damaged, or followed by anything but zeros is an error:
Python's own readers of .bz2 and .xz ignore what follows, and that of .zst takes half a stream for a
whole one. A few bytes may hold gigabytes: what comes out is limited at each step.
"""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import PurePath
from typing import Any, NamedTuple, Protocol

from thresher.formats.errors import DataError

PIECE = 64 << 10  # bytes read at a time
MOST_OUT = 1 << 20  # bytes unpacked at a time
MOST_DICTIONARY = 256 << 20  # bytes that xz may need for its dictionary
LEAST_ZSTD, MOST_ZSTD = 16, 4096  # bytes fed at a time: they may become 128 MB


class Unpacker(Protocol):
    """What undoes one compressed stream."""

    eof: bool
    unused_data: bytes

    def unpack(self, piece: bytes) -> bytes:
        """Return some of what is in the piece and in those before; b"" asks for more of it."""
        ...


class _Gzip:
    """With gzip's header, and its checksum verified."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(31)

    eof = property(lambda self: self._stream.eof)
    unused_data = property(lambda self: self._stream.unused_data)

    def unpack(self, piece: bytes) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + piece, MOST_OUT)


class _Buffered:
    """bz2 and xz keep what is not yet unpacked."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    eof = property(lambda self: self._stream.eof)
    unused_data = property(lambda self: self._stream.unused_data)

    def unpack(self, piece: bytes) -> bytes:
        return bytes(self._stream.decompress(piece, MOST_OUT))


class _Zstd:
    """zstd unpacks all of a piece at once: pieces are small where little makes much."""

    def __init__(self) -> None:
        try:
            import zstandard
        except ImportError:
            raise ImportError(
                "Reading .zst files needs the package zstandard: pip install 'thresher[zstd]'"
            ) from None
        self._stream = zstandard.ZstdDecompressor().decompressobj()
        self._rest = b""
        self._size = MOST_ZSTD // 16

    eof = property(lambda self: self._stream.eof)
    unused_data = property(lambda self: self._stream.unused_data + self._rest)

    def unpack(self, piece: bytes) -> bytes:
        self._rest += piece
        out = b""
        while self._rest and not out and not self._stream.eof:
            piece, self._rest = self._rest[: self._size], self._rest[self._size :]
            out = bytes(self._stream.decompress(piece))
            size = self._size // 2 if len(out) > MOST_OUT else 2 * self._size
            self._size = min(max(size, LEAST_ZSTD), MOST_ZSTD)
        return out


class Codec(NamedTuple):
    """A way of compressing: its name, what undoes one stream, and how each stream begins.

    ``command`` undoes it in a shell.
    """

    name: str
    begin: Callable[[], Any]
    magic: bytes
    command: str


CODECS = {
    ".gz": Codec("gzip", _Gzip, b"\x1f\x8b", "gunzip -c"),
    ".bz2": Codec("bzip2", lambda: _Buffered(bz2.BZ2Decompressor()), b"BZh91AY&SY", "bunzip2 -c"),
    ".xz": Codec(
        "xz",
        lambda: _Buffered(lzma.LZMADecompressor(memlimit=MOST_DICTIONARY)),
        b"\xfd7zXZ\x00",
        "unxz -c",
    ),
    ".zst": Codec("zstd", _Zstd, b"\x28\xb5\x2f\xfd", "unzstd -c"),
}


def codec_of(path: str) -> Codec | None:
    """Return how a file is compressed by its name; None if it is not."""
    return CODECS.get(PurePath(path).suffix.lower())


def looks_compressed(head: bytes) -> str | None:
    """Return the ending of names of files that begin so; None if this is no compressed file."""
    return next((end for end, codec in CODECS.items() if head.startswith(codec.magic)), None)


class Decompressed:
    """What a compressed file holds, to be read as a file is."""

    def __init__(self, file: FileIO, codec: Codec, name: str) -> None:
        self._pieces = _unpacked(file, codec, name)
        self._ready = memoryview(b"")

    def readinto(self, room: memoryview) -> int:
        """Fill as much of the room as is at hand; 0 is the end."""
        self._ready = self._ready or memoryview(next(self._pieces, b""))
        count = min(len(room), len(self._ready))
        room[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


def _unpacked(file: FileIO, codec: Codec, name: str) -> Iterator[bytes]:
    """Yield what a compressed file holds."""
    rest, n_streams = b"", 0
    while rest := rest or file.read(PIECE):
        rest = rest.lstrip(b"\0") if n_streams else rest
        if not rest:
            continue
        stream, n_streams = codec.begin(), n_streams + 1
        while not stream.eof:
            with _explained(codec, name, n_streams):
                out = stream.unpack(rest)
            if out:
                yield out
            rest = b"" if out or stream.eof else file.read(PIECE)
            if not (out or rest or stream.eof):
                raise DataError(
                    f"is cut off: the {codec.name} stream has no end. Copy or download the file "
                    "again.",
                    file=name,
                )
        rest = stream.unused_data


@contextmanager
def _explained(codec: Codec, name: str, n_streams: int) -> Iterator[None]:
    """Turn the errors of any codec into what can be done about them."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # each codec has its own kind
        place = "is damaged" if n_streams == 1 else "is damaged after its first stream"
        message = f"{place}, or not {codec.name} data as its name suggests: {error}"
        if "limit" in str(error):
            message = f"cannot be unpacked: {error}"
        raise DataError(message, file=name) from None
