"""Data sets by name: from the folder in THRESHER_DATA, from a cache, or from their public homes.

What is known of them is in ``datasets.toml``. Files are svmlight text, compressed by xz, with
indices from 1 and labels -1 and 1; each is checked against its published size and checksum.
"""

import bz2
import hashlib
import io
import itertools
import lzma
import os
import tarfile
import tempfile
import tomllib
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

TRAIN_SHARE = 0.7  # of a set that comes as one part
TIMEOUT = 60  # seconds without a byte

Rows = tuple[sparse.csr_matrix, np.ndarray]


class StudyError(Exception):
    """Something outside the code is wrong; the message says what to do."""


class Split(NamedTuple):
    """Training and test rows; labels are -1 and 1."""

    X_train: sparse.csr_matrix
    y_train: np.ndarray
    X_test: sparse.csr_matrix
    y_test: np.ndarray


@dataclass(frozen=True)
class Part:
    """One file of rows: its size, its checksums, and where it can be downloaded.

    ``kind`` is how the download is written: ``svmlight``, or two files, the second of which has the
    labels: ``pairs`` of index and value, ``indices`` of ones, or ``dense`` values.
    """

    name: str
    rows: int
    positives: int | None = None
    sha256: str | None = None
    content: str | None = None
    kind: str = "svmlight"
    urls: tuple[str, ...] = ()
    member: str = ""  # of an archive
    lines: tuple[int | None, ...] = (0, None)

    @property
    def file(self) -> str:
        """Return the name of the file."""
        return f"{self.name}.svm.xz"


@dataclass(frozen=True)
class DataSet:
    """A training and a test part, or one part to be split."""

    name: str
    title: str
    domain: str
    role: str
    columns: int
    parts: tuple[Part, ...]
    licence: str
    note: str = ""
    counts: bool = False  # of words: to be turned into tf-idf

    @property
    def train_rows(self) -> int:
        """Return the number of training rows."""
        rows = self.parts[0].rows
        return rows if len(self.parts) == 2 else int(TRAIN_SHARE * rows)


def _part(name: str, facts: dict[str, Any]) -> Part:
    known: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in facts.items()}
    return Part(name, **known)


def _read_table() -> dict[str, DataSet]:
    text = (Path(__file__).parent / "datasets.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    parts = {name: _part(name, facts) for name, facts in table["parts"].items()}
    return {
        name: DataSet(name, parts=tuple(parts[one] for one in facts.pop("parts")), **facts)
        for name, facts in table["sets"].items()
    }


SETS = _read_table()


def named(name: str) -> DataSet:
    """Return the set of that name."""
    if name not in SETS:
        raise StudyError(f"There is no data set {name!r}: choose among {', '.join(SETS)}.")
    return SETS[name]


def of_role(*roles: str) -> list[str]:
    """Return the names of the sets with one of these roles, in the order of the table."""
    return [name for name, facts in SETS.items() if facts.role in roles]


def load(name: str) -> Split:
    """Return a set with its published split, or split 70/30 if it comes as one part."""
    facts = named(name)
    parts = [read_part(part, facts.columns) for part in facts.parts]
    return Split(*parts[0], *parts[1]) if len(parts) == 2 else split(*parts[0], seed=0)


def load_all(name: str) -> Rows:
    """Return all rows of a set, whatever part they are in."""
    facts = named(name)
    parts = [read_part(part, facts.columns) for part in facts.parts]
    rows = sparse.csr_matrix(sparse.vstack([X for X, _ in parts]))
    return rows, np.concatenate([y for _, y in parts])


def split(X: sparse.csr_matrix, y: np.ndarray, seed: int) -> Split:
    """Split rows 70/30 at random, the training size rounded down as in the paper's Table 1."""
    order = np.random.default_rng(seed).permutation(y.size)
    train, test = np.split(order, [int(TRAIN_SHARE * y.size)])
    return Split(X[train], y[train], X[test], y[test])


def available(name: str) -> bool:
    """Return whether a set can be read without a network."""
    folders = [Path(os.environ.get("THRESHER_DATA", os.devnull)), cache_folder()]
    return all(any((one / part.file).exists() for one in folders) for part in named(name).parts)


def cache_folder() -> Path:
    """Return where downloads are kept: THRESHER_CACHE, or the user's cache folder."""
    if own := os.environ.get("THRESHER_CACHE"):
        return Path(own)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "thresher" / "data"


# ------------------------------------------------------------------------------ files, checked


def read_part(part: Part, columns: int) -> Rows:
    """Return the rows and labels of a part, downloaded if it is nowhere else."""
    if folder := os.environ.get("THRESHER_DATA"):
        if not Path(folder).is_dir():
            raise StudyError(f"THRESHER_DATA is {folder}, which is not a folder.")
        path = Path(folder) / part.file
        if path.exists():
            return _checked(path, part, columns, part.sha256)
    path = cache_folder() / part.file
    if not path.exists():
        download(part, columns, cache_folder())
    beside = Path(f"{path}.sha256")
    if not beside.exists():
        raise StudyError(f"{beside} is missing: remove {path} too, to download it again.")
    return _checked(path, part, columns, beside.read_text(encoding="ascii").split()[0])


def _checked(path: Path, part: Part, columns: int, expected: str | None) -> Rows:
    if expected is not None and _sha256(path) != expected:
        raise StudyError(f"{path} is not the published file (its SHA-256 differs): remove it.")
    try:
        with lzma.open(path) as stream:
            X, y = load_svmlight_file(stream, n_features=columns, zero_based=False)
    except (ValueError, lzma.LZMAError, EOFError) as error:
        raise StudyError(f"{path} cannot be read as svmlight text: {error}") from error
    positives = int(np.sum(y > 0))
    if y.size != part.rows or part.positives not in (None, positives):
        raise StudyError(
            f"{path} has {y.size} rows, {positives} of them positive; there should be {part.rows} "
            f"and {'any number' if part.positives is None else part.positives}."
        )
    return sparse.csr_matrix(X), np.where(y > 0, 1, -1)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest(X: sparse.csr_matrix, y: np.ndarray) -> str:
    """Return the SHA-256 of labels, row bounds, column numbers and values."""
    total = hashlib.sha256(repr(X.shape).encode())
    for values, kind in ((y, "<i8"), (X.indptr, "<i8"), (X.indices, "<i8"), (X.data, "<f8")):
        total.update(np.ascontiguousarray(values, dtype=kind).tobytes())
    return total.hexdigest()


# ----------------------------------------------------------------------------------- downloads


def download(part: Part, columns: int, folder: Path) -> Path:
    """Download, convert and check a part; return its file in ``folder``.

    The file gets its name only after it was checked, so a stopped download leaves nothing that
    could be mistaken for data. Its checksum is written beside it.
    """
    if not part.urls:
        raise StudyError(
            f"{part.file} has no public home: put it into a folder, and name that folder in "
            "THRESHER_DATA."
        )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        draft, beside = Path(scratch) / part.file, Path(scratch) / "sum"
        _convert(part, draft)
        rows = _checked(draft, part, columns, None)
        if part.content is not None and digest(*rows) != part.content:
            raise StudyError(f"{part.file}: the numbers are not the published ones.")
        beside.write_text(f"{_sha256(draft)}  {part.file}\n", encoding="ascii")
        os.replace(beside, folder / f"{part.file}.sha256")
        os.replace(draft, folder / part.file)
    return folder / part.file


def _convert(part: Part, draft: Path) -> None:
    texts = [_unpacked(_body(url), url, part.member) for url in part.urls]
    lines = itertools.islice(svmlight_lines(part.kind, *texts), *part.lines)
    with lzma.open(draft, "wt", encoding="ascii", preset=1) as sink:
        sink.writelines(f"{line}\n" for line in lines)


def _body(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            body: bytes = answer.read()
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise StudyError(
            f"{url} cannot be downloaded ({error}): download it by hand, or name a folder that has "
            "the data in THRESHER_DATA."
        ) from error
    return body


def _unpacked(body: bytes, url: str, member: str) -> Iterator[str]:
    """Return the lines of a download, unpacked as the end of its address says."""
    try:
        if url.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(body)) as archive:
                body = archive.read(next(n for n in archive.namelist() if n.endswith(member)))
        elif ".tar." in url:
            with tarfile.open(fileobj=io.BytesIO(body)) as archive:
                found = next(m for m in archive.getmembers() if m.name.endswith(member))
                stream = archive.extractfile(found)
                body = stream.read() if stream else b""
        elif url.endswith(".bz2"):
            body = bz2.decompress(body)
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, StopIteration) as error:
        raise StudyError(f"{url} cannot be unpacked: {error!r}") from error
    return io.StringIO(body.decode("ascii"))


def svmlight_lines(kind: str, rows: Iterable[str], labels: Iterable[str] = ()) -> Iterator[str]:
    """Yield a svmlight line for each row, with indices from 1 and labels -1 or 1."""
    if kind == "svmlight":
        for row in rows:
            label, *pairs = row.split("#")[0].split()
            yield " ".join([_sign(label), *_ascending(pairs)])
        return
    for row, label in zip(rows, labels, strict=True):
        yield " ".join([_sign(label), *_pairs(kind, row.split())])


def _pairs(kind: str, words: list[str]) -> list[str]:
    if kind == "dense":
        return [f"{place}:{word}" for place, word in enumerate(words, 1) if float(word) != 0]
    return _ascending([f"{word}:1" for word in words] if kind == "indices" else words)


def _ascending(pairs: list[str]) -> list[str]:
    """Sort pairs by index. Some public files repeat one in a line; it counts once."""
    kept = {int(pair.split(":")[0]): pair for pair in pairs}
    return [kept[index] for index in sorted(kept)]


def _sign(label: str) -> str:
    return "1" if float(label) > 0 else "-1"


def facts_of(name: str) -> dict[str, Any]:
    """Return what Table 1 has on a set, counted in the data itself."""
    data = load(name)
    rows, columns = data.X_train.shape
    return {
        "columns": columns,
        "density": 100 * data.X_train.nnz / (rows * columns),
        "train": rows,
        "test": data.y_test.size,
    }
