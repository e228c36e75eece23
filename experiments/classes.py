"""Several classes: error and log loss at the same numbers of features, beside multinomial rivals.

    python -m experiments.classes

One model selects features for all classes at once, as recursive elimination with a multinomial
ridge does. The data are handwritten digits, and three generated sets: documents on five topics,
measured columns with six classes, and ids of categories with four.
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, normalize

from experiments import markdown, records
from experiments.records import Record
from experiments.rivals import STRENGTHS, TITLES, eliminated_columns, univariate_columns
from thresher import ThresherClassifier

SPLITS, TEST_SHARE = 2, 0.3
N_TOPICS, N_DOCUMENTS, N_WORDS, WORDS = 5, 3000, 4000, 30
SELECT = {"elimination": eliminated_columns, "univariate": univariate_columns}
METHODS = ("thresher", *SELECT)


class Case(NamedTuple):
    """Rows, classes, and the numbers of features that are compared."""

    X: sparse.csr_matrix
    y: np.ndarray
    sizes: tuple[int, ...]


def digits() -> Case:
    """Return images of 8 x 8 pixels, standardized."""
    X, y = load_digits(return_X_y=True)
    return Case(sparse.csr_matrix(StandardScaler().fit_transform(X)), y, (5, 10, 20, 40))


def topics() -> Case:
    """Return documents whose words follow Zipf's law, each topic with some words of its own."""
    rng = np.random.default_rng(0)
    usual = 1.0 / np.arange(10, N_WORDS + 10)
    y = rng.integers(N_TOPICS, size=N_DOCUMENTS)
    counts = np.zeros((N_DOCUMENTS, N_WORDS))
    for topic in range(N_TOPICS):
        shares = usual * np.exp(rng.normal(0, 2, N_WORDS) * (rng.random(N_WORDS) < 0.05))
        mine = np.flatnonzero(y == topic)
        counts[mine] = rng.multinomial(WORDS, shares / shares.sum(), mine.size)
    return Case(normalize(sparse.csr_matrix(np.log1p(counts))), y, (20, 50, 100, 200))


def measured() -> Case:
    """Return normal numbers, 20 of 500 columns of which are informative."""
    X, y = make_classification(
        n_samples=2000, n_features=500, n_informative=20, n_redundant=0, n_classes=6,
        n_clusters_per_class=1, class_sep=1.5, random_state=0,
    )  # fmt: skip
    return Case(sparse.csr_matrix(X), y, (10, 20, 50, 100))


def categories() -> Case:
    """Return marks of 40 questions with 25 answers each, some of which tell the class."""
    rng = np.random.default_rng(1)
    codes = np.minimum(rng.geometric(0.15, (4000, 40)) - 1, 24) + 25 * np.arange(40)
    X = sparse.csr_matrix(
        (np.ones(codes.size), codes.ravel(), np.arange(0, codes.size + 1, 40)), (4000, 1000)
    )
    effects = rng.normal(size=(1000, 4)) * (rng.random((1000, 1)) < 0.1)
    return Case(X, (X @ effects + rng.gumbel(size=(4000, 4))).argmax(axis=1), (20, 50, 100, 200))


CASES: dict[str, Callable[[], Case]] = {
    "digits": digits,
    "topics": topics,
    "measured": measured,
    "categories": categories,
}
_made = lru_cache(maxsize=1)(lambda name: CASES[name]())


def measure(task: Record) -> Record:
    """Return error and log loss of a method at every size, on one split."""
    X, y, sizes = _made(task["data"])
    train, test = train_test_split(
        np.arange(y.size), test_size=TEST_SHARE, random_state=task["split"], stratify=y
    )
    found: Record = defaultdict(list)
    for size in sizes:
        chances = _chances(task["method"], X[train], y[train], X[test], size, task["split"])
        found["sizes"].append(size)
        found["errors"].append(float(np.mean(chances.argmax(axis=1) != y[test])))
        found["losses"].append(float(log_loss(y[test], chances)))
    return found


def _chances(method: str, X: Any, y: np.ndarray, rows: Any, size: int, seed: int) -> np.ndarray:
    """Return the probabilities of the classes of some rows."""
    if method == "thresher":
        model = ThresherClassifier(n_features_to_select=size, random_state=seed).fit(X, y)
        return model.predict_proba(rows)
    columns = SELECT[method](X, y, size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecations and of convergence
        model = LogisticRegressionCV(
            Cs=list(STRENGTHS), cv=3, scoring="neg_log_loss", max_iter=300
        ).fit(X[:, columns], y)
    return model.predict_proba(rows[:, columns])


def table(found: Sequence[Record]) -> str:
    """Return errors in percent and log losses, means over splits."""
    cells = defaultdict(list)
    for one in found:
        for size, *scores in zip(one["sizes"], one["errors"], one["losses"], strict=True):
            cells[one["data"], size, one["method"]].append(scores)
    rows = []
    for line in dict.fromkeys(cell[:2] for cell in cells):
        several = [cells.get((*line, method), [(np.nan, np.nan)]) for method in METHODS]
        means = [np.mean(one, axis=0) for one in several]
        rows.append([line[0], str(line[1]), *(f"{100 * e:.1f}, {loss:.3f}" for e, loss in means)])
    heads = [TITLES[method] for method in METHODS]
    return markdown.table(["error %, log loss", "features", *heads], rows)


TASKS: list[Record] = [
    {"data": name, "split": split, "method": method}
    for name, split, method in product(CASES, range(SPLITS), METHODS)
]

if __name__ == "__main__":
    out, tables = Path("results/classes.jsonl"), {"classes": table}
    raise SystemExit(records.study(__doc__, out, TASKS, measure, tables))
