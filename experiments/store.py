"""Finished cells on disk: one small JSON file each, whole or absent.

A cell's key is its path (protocol, data set, scaling, method, loss). Beside its result
stand the recipe it was made by and a checksum. A cell made by another recipe is out of date; a cell
that cannot be read is set aside; both are computed again.
"""

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.errors import StudyError

Key = tuple[str, ...]
FORMAT = 1


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def fingerprint(value: Any) -> str:
    """Return a short name for any JSON value: equal values, equal names."""
    return hashlib.sha256(_text(value).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Store:
    """A folder of cells."""

    folder: Path

    def path(self, key: Key) -> Path:
        """Return the file of a cell."""
        return self.folder.joinpath(*key).with_suffix(".json")

    def read(self, key: Key, recipe: str | None = None) -> dict[str, Any] | None:
        """Return a cell's result; None when it is absent, damaged or made by another recipe."""
        path = self.path(key)
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        cell = _checked(text)
        if cell is None:
            # Kept for whoever wants to know what happened, out of the way of the new cell.
            os.replace(path, path.with_suffix(".damaged"))
            return None
        return cell["result"] if recipe in (None, cell["recipe"]) else None

    def write(self, key: Key, recipe: str, result: dict[str, Any]) -> None:
        """Write a cell: it appears complete, or not at all."""
        body = {"format": FORMAT, "key": list(key), "recipe": recipe, "result": result}
        body = json.loads(_text(body))  # as it will be read: there, all keys are text
        whole = _text({"sum": fingerprint(body), **body})
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, whole)
        except OSError as problem:
            raise StudyError(f"cannot write the result {path}: {problem.strerror}") from problem


def _replace(path: Path, text: str) -> None:
    """Write beside the target, flush to disk, then rename over it."""
    handle, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as sink:
            sink.write(text)
            sink.flush()
            os.fsync(sink.fileno())
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _checked(text: bytes) -> dict[str, Any] | None:
    try:
        cell = json.loads(text)
        expected = cell.pop("sum")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    sound = cell.get("format") == FORMAT and fingerprint(cell) == expected
    return cell if sound else None
