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
from typing import Any, NamedTuple

from thresher.formats.errors import DataError

PIECE = 64 << 10  # bytes read at a time
MOST_OUT = 1 << 20  # bytes unpacked at a time
MOST_DICTIONARY = 256 << 20  # bytes that xz may need for its dictionary
LEAST_ZSTD, MOST_ZSTD = 16, 4096  # bytes fed at a time: they may become 128 MB


# What undoes one stream: what returns some of what is in a piece and in those before, or b"" to ask
# for more of it; and what returns the bytes behind the end, or None before it.
Stream = tuple[Callable[[bytes], bytes], Callable[[], bytes | None]]


def _gzip() -> Stream:
    """With gzip's header, and its checksum verified."""
    stream = zlib.decompressobj(31)
    return (
        lambda piece: stream.decompress(stream.unconsumed_tail + piece, MOST_OUT),
        lambda: stream.unused_data if stream.eof else None,
    )


def _buffered(stream: Any) -> Stream:
    """bz2 and xz keep what is not yet unpacked."""
    return (
        lambda piece: stream.decompress(piece, MOST_OUT),
        lambda: stream.unused_data if stream.eof else None,
    )


def _zstd() -> Stream:
    """zstd unpacks all of a piece at once: pieces are small where little makes much."""
    try:
        import zstandard
    except ImportError:
        raise ImportError(
            "Reading .zst files needs the package zstandard: pip install 'thresher[zstd]'"
        ) from None
    stream, rest, size = zstandard.ZstdDecompressor().decompressobj(), b"", MOST_ZSTD // 16

    def unpack(piece: bytes) -> bytes:
        nonlocal rest, size
        rest, out = rest + piece, b""
        while rest and not out and not stream.eof:
            piece, rest = rest[:size], rest[size:]
            out = stream.decompress(piece)
            larger = size // 2 if len(out) > MOST_OUT else 2 * size
            size = min(max(larger, LEAST_ZSTD), MOST_ZSTD)
        return out

    return unpack, lambda: stream.unused_data + rest if stream.eof else None


class Codec(NamedTuple):
    """A way of compressing: its name, what undoes one stream, how each begins, and a command."""

    name: str
    begin: Callable[[], Stream]
    magic: bytes
    command: str


CODECS = {
    ".gz": Codec("gzip", _gzip, b"\x1f\x8b", "gunzip -c"),
    ".bz2": Codec("bzip2", lambda: _buffered(bz2.BZ2Decompressor()), b"BZh91AY&SY", "bunzip2 -c"),
    ".xz": Codec(
        "xz",
        lambda: _buffered(lzma.LZMADecompressor(memlimit=MOST_DICTIONARY)),
        b"\xfd7zXZ\x00",
        "unxz -c",
    ),
    ".zst": Codec("zstd", _zstd, b"\x28\xb5\x2f\xfd", "unzstd -c"),
}


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
        (unpack, unused), n_streams = codec.begin(), n_streams + 1
        while unused() is None:
            with _explained(codec, name, n_streams):
                out = unpack(rest)
            if out:
                yield out
            if out or unused() is not None:
                rest = b""
            elif not (rest := file.read(PIECE)):
                raise DataError(
                    f"is cut off: the {codec.name} stream has no end. Copy or download the file "
                    "again.",
                    file=name,
                )
        rest = unused() or b""


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
