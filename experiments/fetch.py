"""Bring a part of a data set from its public home into the cache, verified, whole or not at all."""

import bz2
import io
import itertools
import lzma
import os
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

from experiments.errors import StudyError
from experiments.formats import svmlight_lines
from experiments.reading import read_part, sha256_of
from experiments.registry import Home, Part

PATIENCE = 60  # seconds without a byte


def fetch(part: Part, columns: int, folder: Path) -> Path:
    """Download, convert and verify a part; return its file in ``folder``.

    The file takes its name only after it was verified, so a stopped download leaves nothing that
    could be mistaken for data. Its checksum is written beside it.
    """
    if part.home is None:
        raise StudyError(
            f"{part.file} has no public home: put it into a folder and name that folder in "
            "THRESHER_DATA"
        )
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / part.file
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        draft = Path(scratch) / part.file
        _convert(part.home, draft)
        read_part(draft, part, columns, known="content")
        sum_file = Path(scratch) / "sum"
        sum_file.write_text(f"{sha256_of(draft)}  {part.file}\n", encoding="ascii")
        os.replace(sum_file, folder / f"{part.file}.sha256")
        os.replace(draft, target)
    return target


def _convert(home: Home, draft: Path) -> None:
    texts = [_lines(_download(url), url, home.member) for url in home.urls]
    lines = itertools.islice(svmlight_lines(home.kind, *texts), *home.lines)
    with lzma.open(draft, "wt", encoding="ascii", preset=1) as sink:
        sink.writelines(f"{line}\n" for line in lines)


def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            body: bytes = answer.read()
    except (urllib.error.URLError, TimeoutError, OSError) as problem:
        raise StudyError(
            f"could not download {url} ({problem}); fetch it by hand where there is a network, or "
            "name a folder that has the data in THRESHER_DATA"
        ) from problem
    return body


def _lines(body: bytes, url: str, member: str | None) -> Iterator[str]:
    """Yield the text lines of a download, unpacked by the ending of its address."""
    try:
        text = _unpack(body, url, member)
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, StopIteration) as problem:
        raise StudyError(f"{url} cannot be unpacked: {problem!r}") from problem
    return io.StringIO(text.decode("ascii"))


def _unpack(body: bytes, url: str, member: str | None) -> bytes:
    if url.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return archive.read(next(n for n in archive.namelist() if n.endswith(str(member))))
    if ".tar." in url:
        with tarfile.open(fileobj=io.BytesIO(body)) as archive:
            found = next(m for m in archive.getmembers() if m.name.endswith(str(member)))
            stream = archive.extractfile(found)
            return stream.read() if stream else b""
    return bz2.decompress(body) if url.endswith(".bz2") else body
