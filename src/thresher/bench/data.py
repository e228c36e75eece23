"""What is measured on: generated documents, files, and the sets of a folder."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from thresher.data.sources.opening import open_source
from thresher.estimators.refitting import gather

N_COLUMNS, N_INFORMATIVE = 47_236, 2_000
WORDS = 78  # drawn for a row: 75 of them differ, as in the RCV1 sample
GENERATED = "generated text"
# the sets that are measured where the folder THRESHER_DATA has them
NAMED = {
    "rcv1-sample": "rcv1_all.svm.xz",
    "dorothea": "dorothea_train.svm.xz",
    "arcene": "arcene_train.svm.xz",
    "gisette-mini": "gisette_valid.svm.xz",
    "farm_ads": "farm_ads_train.svm.xz",
    "a9a": "a9a_train.svm.xz",
    "reuters_moneyfx": "reuters_moneyfx_train.svm.xz",
}


class Data(NamedTuple):
    """Rows and their labels, -1 and +1, under a name."""

    name: str
    X: sparse.csr_matrix
    y: np.ndarray


def make_text(n_rows: int, seed: int = 0) -> Data:
    """Return unit rows whose words follow Zipf's law, labelled by a noisy linear rule."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(10, N_COLUMNS + 10)  # without stop words
    words = rng.choice(N_COLUMNS, n_rows * WORDS, p=shares / shares.sum()).astype(np.int32)
    starts = np.arange(0, words.size + 1, WORDS, dtype=np.int32)
    rows = sparse.csr_matrix((rng.random(words.size), words, starts), (n_rows, N_COLUMNS))
    rows.sum_duplicates()
    rows = normalize(rows)
    effects = np.zeros(N_COLUMNS)
    effects[rng.permutation(N_COLUMNS)[:N_INFORMATIVE]] = rng.normal(size=N_INFORMATIVE)
    margins = rows @ effects
    noise = rng.normal(scale=margins.std() / 2, size=n_rows)
    return Data(GENERATED, rows, np.where(margins + noise > np.median(margins), 1, -1))


def make_uniform(n_rows: int, n_columns: int, per_row: int = 75, seed: int = 0) -> Data:
    """Return rows whose columns are drawn uniformly, labelled by a coin."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(n_columns, size=n_rows * per_row, dtype=np.int32)
    starts = np.arange(0, columns.size + 1, per_row, dtype=np.int32)
    rows = sparse.csr_matrix((rng.random(columns.size), columns, starts), (n_rows, n_columns))
    rows.sum_duplicates()
    return Data("uniform columns", rows, np.where(rng.random(n_rows) < 0.5, 1, -1))


def declared(data: Data, n_columns: int) -> Data:
    """Return the same rows in a wider matrix."""
    parts = (data.X.data, data.X.indices, data.X.indptr)
    return data._replace(X=sparse.csr_matrix(parts, (data.X.shape[0], n_columns)))


def read_file(path: str | Path, name: str | None = None, **reading: Any) -> Data:
    """Return the rows of a file, its most frequent class against the rest."""
    found = gather(open_source(path, **reading))
    classes, counts = np.unique(found.labels, return_counts=True)
    positive = classes[-1] if classes.size == 2 else classes[counts.argmax()]
    # scikit-learn's SGD takes no wider indices than these
    parts = found.rows.data, found.rows.indices.astype(np.int32), found.rows.indptr.astype(np.int32)
    rows = sparse.csr_matrix(parts, found.rows.shape)
    return Data(name or plain_name(path), rows, np.where(found.labels == positive, 1, -1))


def plain_name(path: str | Path) -> str:
    """Return a file's name without its folder and endings."""
    return Path(path).name.partition(".")[0]


def named_sets() -> dict[str, Callable[[], Data]]:
    """Return how to read every set that the folder THRESHER_DATA has."""
    folder = os.environ.get("THRESHER_DATA")
    if not folder:
        return {}
    places = {name: Path(folder, file) for name, file in NAMED.items()}

    def reader(name: str) -> Callable[[], Data]:
        return lambda: read_file(places[name], name, index_base=1)

    return {name: reader(name) for name, path in places.items() if path.exists()}
