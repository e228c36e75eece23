"""A set of shards: a folder with the rows of a data set, and an index of what is in it.

    00000.rows 00001.rows ...   the rows (see ``thresher.files.shard``), in their order
    names                       the names of the columns, if they have any
    index.json                  how many rows, columns, labels; the checksum of every other file

The index is written last and has a checksum of its own: a folder without one is no set.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from thresher.data.errors import DataError
from thresher.files.damage import Damaged
from thresher.files.sealed import SEAL, digest_of, read_sealed, write_sealed
from thresher.files.shard import Shard, write_shard

FORMAT = "thresher shards"
VERSION = 1
INDEX = "index.json"
NAMES = "names"


@dataclass(frozen=True)
class ShardSet:
    """What the index says."""

    folder: Path
    n_rows: int
    n_columns: int
    nonzeros: int
    index_base: int
    labels: dict[str, Any]  # kind, classes, counts
    weighted: bool
    names: int | None  # the checksum of their file
    skipped: dict[str, Any]  # rows that were left out: count, examples
    shards: list[dict[str, int]]  # rows, nonzeros, bytes, checksum
    origin: dict[str, Any]  # what the rows were made from, and how they were read
    fingerprint: str

    def path(self, number: int) -> Path:
        """Return where a shard lies."""
        return self.folder / shard_name(number)

    def shard(self, number: int, checked: set[str]) -> Shard:
        """Open a shard, if it is the one that was written."""
        return Shard(self.path(number), checked, self.shards[number]["checksum"])

    def names_tree(self) -> dict[str, Any] | None:
        """Return what was kept of the columns' names."""
        if self.names is None:
            return None
        file = Shard(self.folder / NAMES, checksum=self.names)
        return {**file.facts, **{name: file.array(name).copy() for name in file}}


def shard_name(number: int) -> str:
    """Return the name of a shard's file."""
    return f"{number:05d}.rows"


def is_shards(path: str | Path) -> bool:
    """Return whether this is a folder of shards, damaged or not."""
    return (Path(path) / INDEX).is_file()


def read_set(folder: str | Path) -> ShardSet:
    """Return what a folder's index says, having made sure that all its shards are there."""
    folder = Path(folder)
    if not is_shards(folder):
        raise _no_set(folder)
    with in_words(folder):
        tree = read_sealed(folder / INDEX)
        try:
            found = _from_tree(folder, tree)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Damaged(folder / INDEX, "it says other things than an index does") from None
        for number, shard in enumerate(found.shards):
            _check_length(found.path(number), shard["bytes"])
    return found


def write_index(folder: Path, facts: dict[str, Any], origin: dict[str, Any]) -> None:
    """Declare a folder finished."""
    fingerprint = digest_of({key: facts[key] for key in facts if key != "skipped"})
    kind = {"format": FORMAT, "version": VERSION}
    write_sealed(folder / INDEX, {**kind, **facts, "origin": origin, "fingerprint": fingerprint})


def write_names(folder: Path, tree: dict[str, Any]) -> int:
    """Write names as they come from ``Names.tree``; return the checksum of their file."""
    arrays = {name: part for name, part in tree.items() if isinstance(part, np.ndarray)}
    others = {name: part for name, part in tree.items() if name not in arrays}
    return write_shard(folder / NAMES, arrays, others)


@contextmanager
def in_words(folder: Path) -> Iterator[None]:
    """Say what to do about shards that cannot be read."""
    again = (
        f"Delete the folder {folder} and convert its data again (thresher convert); one that is "
        "kept beside a text file is then made by itself."
    )
    try:
        yield
    except Damaged as error:
        raise DataError(f"is damaged: {error.reason}. {again}", file=error.path) from error
    except FileNotFoundError as error:
        raise DataError(f"is missing. {again}", file=error.filename) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}.", file=error.filename) from error


def _from_tree(folder: Path, tree: dict[str, Any]) -> ShardSet:
    tree.pop(SEAL)
    if tree.pop("format") != FORMAT:
        raise ValueError
    if (version := tree.pop("version")) != VERSION:
        raise Damaged(folder / INDEX, f"version {version} of the format is not known here")
    found = ShardSet(folder=folder, **tree)
    for key, total in {"rows": found.n_rows, "nonzeros": found.nonzeros}.items():
        if sum(shard[key] for shard in found.shards) != total:
            raise ValueError
    return found


def _check_length(path: Path, expected: int) -> None:
    if (size := path.stat().st_size) != expected:
        raise Damaged(path, f"it is {size:,} bytes long and should be {expected:,}")


def _no_set(folder: Path) -> DataError:
    if not folder.exists():
        return DataError("No such file or folder.", file=folder)
    if not folder.is_dir():
        return DataError("is not a folder, so it holds no shards.", file=folder)
    if any(folder.glob("*.rows")):
        message = "its shards have no index: convert the data again (thresher convert)."
        return DataError(message, file=folder)
    message = "is a directory without shards: name the files in it, or convert them into one."
    return DataError(message, file=folder)
