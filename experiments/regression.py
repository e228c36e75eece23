"""R2 on new rows at the same number of features: the regressor beside the Lasso.

    python -m experiments.regression

Documents: 60 planted words, 20 each in 1, 4 and 15 % of 2,000 rows, and others by Zipf's law; 40 %
of the targets' variance is noise. Numbers: ten of 500 or 1,000 columns make up the targets of few
rows; the noise is its deviation over that of the signal. The Lasso has the penalty that gives the
wanted size; its features are also refitted by a ridge with a cross-validated penalty.
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, RidgeCV
from sklearn.metrics import r2_score
from sklearn.preprocessing import normalize

from experiments import markdown, records
from experiments.records import Record
from thresher import ThresherRegressor

DRAWINGS = 2
SHARES = np.repeat((0.01, 0.04, 0.15), 20)  # of the rows that planted words occur in
N_WORDS, WORDS_PER_ROW, N_INFORMATIVE, NEW_ROWS = 5000, 60.0, 10, 1000
SHAPES = ((80, 500, 0.1), (80, 500, 0.5), (200, 1000, 0.5), (600, 1000, 1.0))


class Drawing(NamedTuple):
    """Rows and targets to train on, then those to test on, and the planted columns."""

    X: Any
    y: np.ndarray
    X_new: Any
    y_new: np.ndarray
    planted: np.ndarray


def documents(seed: int, unit: bool = False, noise: float = 0.4) -> Drawing:
    """Return documents, of unit length or not, with a share of noise in the targets' variance."""
    rng, n = np.random.default_rng(seed), 4000
    shares = 1.0 / np.arange(2, N_WORDS - SHARES.size + 2)
    shares = np.concatenate([SHARES, np.minimum(shares * WORDS_PER_ROW / shares.sum(), 0.9)])
    X = sparse.csr_matrix(np.log1p(rng.poisson(-np.log1p(-shares), (n, N_WORDS))))
    X = normalize(X) if unit else X
    signs = rng.choice([-1.0, 1.0], SHARES.size)
    signal = X[:, : SHARES.size] @ (signs * rng.uniform(0.5, 1.5, SHARES.size))
    y = signal + rng.normal(size=n) * signal.std() * np.sqrt(noise / (1 - noise))
    return Drawing(X[:2000], y[:2000], X[2000:], y[2000:], np.arange(SHARES.size))


def numbers(seed: int, kind: str, shape: tuple[int, int, float]) -> Drawing:
    """Return columns of normal numbers, correlated ones, or counts."""
    (n, p, noise), rng = shape, np.random.default_rng(seed)
    X = rng.normal(size=(n + NEW_ROWS, p))
    if kind == "correlated":
        X += 0.2 * rng.normal(size=(n + NEW_ROWS, 20)) @ rng.normal(size=(20, p))
    if kind == "counts":
        X = rng.poisson(rng.gamma(0.5, 0.2, p), X.shape).astype(float)
    effects = rng.normal(size=N_INFORMATIVE)
    planted = rng.choice(p, N_INFORMATIVE, replace=False)
    signal = X[:, planted] @ (effects + np.sign(effects))
    y = signal / signal.std() + noise * rng.normal(size=signal.size)
    return Drawing(X[:n], y[:n], X[n:], y[n:], planted)


DATA: dict[str, Callable[[int], Drawing]] = {
    "documents": documents,
    "documents of unit length": partial(documents, unit=True),
    "documents without noise": partial(documents, noise=0.0),
    **{
        "{}, {} x {}, noise {}".format(kind, *shape): partial(numbers, kind=kind, shape=shape)
        for kind, shape in product(("normal", "correlated", "counts"), SHAPES)
    },
}


def sizes_of(name: str) -> tuple[int, ...]:
    """Return the numbers of features that are compared."""
    return (30, 60, 120) if name.startswith("documents") else (10, 20, 40, 80)


def lasso(data: Drawing, size: int) -> Lasso:
    """Return the Lasso with the penalty that gives about so many features."""
    X = sparse.csc_matrix(data.X) if sparse.issparse(data.X) else data.X
    strongest = np.abs(X.T @ (data.y - data.y.mean())).max() / data.y.size
    low, high = -9.0, 0.0
    for _ in range(12):
        middle = (low + high) / 2
        model = Lasso(strongest * np.exp(middle), max_iter=3000).fit(X, data.y)
        fewer = np.count_nonzero(model.coef_) < size
        low, high = (low, middle) if fewer else (middle, high)
    return model


def predicted(method: str, data: Drawing, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictions of a method for the new rows, and its columns."""
    if method == "ThresherRegressor":
        model = ThresherRegressor(n_features_to_select=size, random_state=seed)
        return model.fit(data.X, data.y).predict(data.X_new), model.get_support(indices=True)
    model = lasso(data, size)
    columns = np.flatnonzero(model.coef_)
    if method == "Lasso":
        return model.predict(data.X_new), columns
    mine, new = (sparse.csr_matrix(X)[:, columns].toarray() for X in (data.X, data.X_new))
    return RidgeCV(np.logspace(-2, 4, 20)).fit(mine, data.y).predict(new), columns


METHODS = ("ThresherRegressor", "Lasso", "Lasso, ridge")
_drawn = lru_cache(maxsize=1)(lambda name, seed: DATA[name](seed))


def measure(task: Record) -> Record:
    """Return R2 on new rows, and how many planted columns are found."""
    data = _drawn(task["data"], task["seed"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the Lasso
        scores, columns = predicted(task["method"], data, task["size"], task["seed"])
    found = int(np.isin(data.planted, columns).sum())
    return {"r2": r2_score(data.y_new, scores), "found": found}


def table(found: Sequence[Record]) -> str:
    """Return R2 by data and size, with planted columns found in brackets."""
    cells = defaultdict(list)
    for one in found:
        cells[one["data"], one["size"], one["method"]].append((one["r2"], one["found"]))
    means = {cell: np.mean(several, axis=0) for cell, several in cells.items()}
    rows = []
    for line in dict.fromkeys(cell[:2] for cell in cells):
        shown = [means.get((*line, method), (np.nan, 0)) for method in METHODS]
        rows.append([line[0], str(line[1]), *(f"{r2:.2f} ({n:.0f})" for r2, n in shown)])
    return markdown.table(["R2 (planted columns found)", "features", *METHODS], rows)


TASKS: list[Record] = [
    {"data": name, "seed": seed, "size": size, "method": method}
    for name, seed in product(DATA, range(DRAWINGS))
    for size, method in product(sizes_of(name), METHODS)
]

if __name__ == "__main__":
    out, tables = Path("results/regression.jsonl"), {"regression": table}
    raise SystemExit(records.study(__doc__, out, TASKS, measure, tables))
