"""Planted features: how many of them a method finds if it selects as many as there are.

    python -m experiments.planted

In long documents 48 words decide the class, twelve of them in 12, in 60, in 240 and in 900 of
3,000 documents, with less effect the more often they occur. In scikit-learn's make_classification
(the data of the README) 10 of 500 columns do; there, selections on several splits are compared.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from experiments import markdown, records
from experiments.records import Record
from experiments.rivals import METHODS, TITLES
from thresher.demo import FAINT, make_documents

DRAWINGS, SPLITS = 3, 4
N_PLANTED = 10  # in make_classification


class Drawing(NamedTuple):
    """Rows to train on and to test on, and planted columns by group."""

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    planted: list[np.ndarray]


def documents(seed: int, _: int) -> Drawing:
    """Return generated documents."""
    made = make_documents(replace(FAINT, seed=seed))
    planted = [np.flatnonzero(made.band_of == band) for band in range(len(FAINT.bands))]
    X_train, X_test = (sparse.csr_matrix(X) for X in (made.X_train, made.X_test))
    return Drawing(X_train, made.y_train, X_test, made.y_test, planted)


def columns_of_numbers(seed: int, split: int) -> Drawing:
    """Return the data of the README, of which the first columns are informative."""
    X, y = make_classification(
        n_samples=600, n_features=500, n_informative=N_PLANTED, n_redundant=0, class_sep=2.0,
        shuffle=False, random_state=seed,
    )  # fmt: skip
    X_train, X_test, y_train, y_test = train_test_split(X, 2 * y - 1, random_state=split)
    return Drawing(X_train, y_train, X_test, y_test, [np.arange(N_PLANTED)])


DATA = {"documents": documents, "make_classification": columns_of_numbers}
_drawn = lru_cache(maxsize=1)(lambda name, seed, split: DATA[name](seed, split))


def measure(task: Record) -> Record:
    """Return what a method finds on one drawing."""
    data = _drawn(task["data"], task["seed"], task["split"])
    size = sum(group.size for group in data.planted)
    selected = METHODS[task["method"]](data.X_train, data.y_train, size, task["seed"])
    wrong = (selected.margins(data.X_test) > 0) != (data.y_test > 0)
    return {
        "found": [int(np.isin(group, selected.columns).sum()) for group in data.planted],
        "columns": selected.columns.tolist(),
        "error": float(wrong.mean()),
    }


def table_of_documents(found: Sequence[Record]) -> str:
    """Return how many words of each band are found, and the error."""
    header = ["method", *(f"in {band.rows} documents" for band in FAINT.bands), "error %"]
    rows = []
    for method in METHODS:
        mine = [one for one in found if (one["data"], one["method"]) == ("documents", method)]
        if mine:
            means = np.mean([one["found"] for one in mine], axis=0)
            error = 100 * np.mean([one["error"] for one in mine])
            rows.append([TITLES[method], *(f"{mean:.1f}" for mean in means), f"{error:.1f}"])
    return markdown.table(header, rows)


def table_of_numbers(found: Sequence[Record]) -> str:
    """Return how many columns are found, and how much selections on several splits agree."""
    rows = []
    for method in METHODS:
        mine = [one for one in found if (one["data"], one["method"]) == (list(DATA)[1], method)]
        if mine:
            cells = [np.mean([one["found"] for one in mine]), agreement(mine)]
            error = 100 * np.mean([one["error"] for one in mine])
            rows.append([TITLES[method], f"{cells[0]:.1f}", f"{cells[1]:.2f}", f"{error:.1f}"])
    return markdown.table(["method", f"found of {N_PLANTED}", "Jaccard", "error %"], rows)


def agreement(found: Sequence[Record]) -> float:
    """Return the mean Jaccard index of selections on splits of the same drawing."""
    pairs = [
        ({*one["columns"]}, {*other["columns"]})
        for one, other in combinations(found, 2)
        if one["seed"] == other["seed"]
    ]
    return float(np.mean([len(a & b) / len(a | b) for a, b in pairs]))


TASKS: list[Record] = [
    {"data": name, "seed": seed, "split": split, "method": method}
    for name, splits in zip(DATA, (1, SPLITS), strict=True)
    for seed in range(DRAWINGS)
    for split in range(splits)
    for method in METHODS
]
TABLES = {"planted words": table_of_documents, "planted columns": table_of_numbers}

if __name__ == "__main__":
    raise SystemExit(records.study(__doc__, Path("results/planted.jsonl"), TASKS, measure, TABLES))
