"""Rows to measure on: the RCV1 sample if THRESHER_DATA has it, or generated documents."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.preprocessing import normalize

from benchmarks.timing import Setting
from experiments import data

N_ROWS, N_COLUMNS, WORDS = 20_000, 47_236, 78  # about as in the sample
SMALL_ROWS, SMALL_COLUMNS = 600, 1_000
MAIN = "rcv1-sample"


class Data(NamedTuple):
    """Rows and their labels, -1 and 1, under a name."""

    name: str
    X: sparse.csr_matrix
    y: np.ndarray

    def head(self, n: int) -> "Data":
        """Return the first rows."""
        return self._replace(X=self.X[:n], y=self.y[:n])

    def wide(self, n_columns: int) -> "Data":
        """Return the same rows in a wider matrix."""
        parts = (self.X.data, self.X.indices, self.X.indptr)
        return self._replace(X=sparse.csr_matrix(parts, (self.X.shape[0], n_columns)))


@cache
def text(n_rows: int, n_columns: int = N_COLUMNS) -> Data:
    """Return rows of unit length whose words follow Zipf's law, labelled by a noisy linear rule."""
    rng = np.random.default_rng(0)
    shares = 1.0 / np.arange(10, n_columns + 10)
    words = rng.choice(n_columns, n_rows * WORDS, p=shares / shares.sum()).astype(np.int32)
    starts = np.arange(0, words.size + 1, WORDS, dtype=np.int32)
    rows = sparse.csr_matrix((rng.random(words.size), words, starts), (n_rows, n_columns))
    rows.sum_duplicates()
    rows = normalize(rows)
    margins = rows @ (rng.normal(size=n_columns) * (rng.random(n_columns) < 0.04))
    noisy = margins + rng.normal(scale=margins.std() / 2, size=n_rows)
    return Data("generated", rows, np.where(noisy > np.median(margins), 1, -1))


def small_text() -> Data:
    """Return few rows in few columns."""
    return text(SMALL_ROWS, SMALL_COLUMNS)


@cache
def uniform(n_rows: int, n_columns: int, per_row: int = 75) -> Data:
    """Return rows whose columns are drawn uniformly, labelled by a coin."""
    rng = np.random.default_rng(0)
    columns = rng.integers(n_columns, size=n_rows * per_row, dtype=np.int32)
    starts = np.arange(0, columns.size + 1, per_row, dtype=np.int32)
    rows = sparse.csr_matrix((rng.random(columns.size), columns, starts), (n_rows, n_columns))
    rows.sum_duplicates()
    return Data("uniform", rows, np.where(rng.random(n_rows) < 0.5, 1, -1))


def main_rows(setting: Setting) -> Data:
    """Return the rows that most cases use."""
    if setting.small:
        return small_text()
    return _sample() if data.available(MAIN) else text(N_ROWS)


@cache
def _sample() -> Data:
    X, y = data.load_all(MAIN)
    kept = np.random.default_rng(0).permutation(y.size)[:N_ROWS]
    return Data(MAIN, X[kept], y[kept])


def write_svmlight(rows: Data, folder: Path) -> Path:
    """Write rows as svmlight text with indices from 1."""
    path = folder / "rows.svm"
    dump_svmlight_file(rows.X, rows.y, str(path), zero_based=False)
    return path


def write_csv(n_rows: int, folder: Path, n_columns: int = 50) -> Path:
    """Write a table of numbers, with a label in its first column."""
    numbers = np.random.default_rng(0).normal(size=(n_rows, n_columns)).round(6)
    path = folder / "rows.csv"
    header = ",".join(["label", *(f"c{k}" for k in range(n_columns))])
    labelled = np.column_stack([np.where(numbers[:, 0] > 0, 1, -1), numbers])
    np.savetxt(path, labelled, fmt=["%d", *["%.6f"] * n_columns], delimiter=",", header=header,
               comments="")  # fmt: skip
    return path
