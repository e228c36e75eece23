"""Read one file of rows and refuse it when it is not the published one."""

import hashlib
import lzma
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from experiments.errors import StudyError
from experiments.formats import digest
from experiments.registry import Part

Rows = tuple[csr_matrix, np.ndarray]


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_part(path: Path, part: Part, columns: int, known: str) -> Rows:
    """Read a part, checked against what is known of it.

    ``known`` names the check: ``"file"`` compares the file with the registry's sum, ``"cache"``
    with the sum written beside it when it was downloaded, ``"content"`` the numbers themselves.
    """
    expected = _expected_sum(path, part, known)
    if expected is not None and sha256_of(path) != expected:
        raise StudyError(f"{path} is not the file it should be (SHA-256 differs): remove it")
    X, y = _parse(path, columns)
    if known == "content" and part.content is not None and digest(X, y) != part.content:
        raise StudyError(f"{part.file}: the numbers are not the published ones (checksum differs)")
    _check_size(path, part, y)
    return X, y


def _expected_sum(path: Path, part: Part, known: str) -> str | None:
    if known == "cache":
        beside = path.with_name(f"{path.name}.sha256")
        if not beside.exists():
            raise StudyError(f"{beside} is missing: remove {path.name} too, to download it again")
        return beside.read_text(encoding="ascii").split()[0]
    return part.sha256 if known == "file" else None


def _parse(path: Path, columns: int) -> Rows:
    try:
        with lzma.open(path) as stream:
            X, y = load_svmlight_file(stream, n_features=columns, zero_based=False)
    except (ValueError, lzma.LZMAError, EOFError) as problem:
        raise StudyError(f"{path} cannot be read as svmlight text: {problem}") from problem
    return csr_matrix(X), np.where(y > 0, 1, -1)


def _check_size(path: Path, part: Part, y: np.ndarray) -> None:
    """Hold the rows and the labels against the published numbers."""
    positives = int(np.sum(y > 0))
    if len(y) != part.rows or part.positives not in (None, positives):
        raise StudyError(
            f"{path} has {len(y)} rows, {positives} of them positive; expected are {part.rows} "
            f"and {part.positives if part.positives is not None else 'any'}"
        )
