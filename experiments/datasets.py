"""Load a data set by name: from the folder in THRESHER_DATA, else from the cache, else the net."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from experiments.errors import StudyError
from experiments.fetch import fetch
from experiments.reading import Rows, read_part
from experiments.registry import TRAIN_SHARE, DataSet, Part, named


class Split(NamedTuple):
    """Training and test rows; labels are -1 and 1."""

    X_train: csr_matrix
    y_train: np.ndarray
    X_test: csr_matrix
    y_test: np.ndarray


def load(name: str | DataSet) -> Split:
    """Load a set with its published split, or its 70/30 split when it comes as one part."""
    facts = named(name) if isinstance(name, str) else name
    parts = [_rows(part, facts.columns) for part in facts.parts]
    if len(parts) == 2:
        return Split(*parts[0], *parts[1])
    return split(*parts[0], seed=facts.split_seed)


def split(X: csr_matrix, y: np.ndarray, seed: int) -> Split:
    """Split rows 70/30 at random, the training size rounded down as in the paper's Table 1."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [int(TRAIN_SHARE * len(y))])
    return Split(X[train], y[train], X[test], y[test])


def cache_folder() -> Path:
    """Return where downloads are kept: THRESHER_CACHE, or the user's cache folder."""
    if own := os.environ.get("THRESHER_CACHE"):
        return Path(own)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "thresher" / "data"


def _rows(part: Part, columns: int) -> Rows:
    if folder := os.environ.get("THRESHER_DATA"):
        if not Path(folder).is_dir():
            raise StudyError(f"THRESHER_DATA names {folder}, which is not a folder")
        if (path := Path(folder) / part.file).exists():
            return read_part(path, part, columns, known="file")
    path = cache_folder() / part.file
    if not path.exists():
        fetch(part, columns, cache_folder())
    return read_part(path, part, columns, known="cache")
