"""Made-up data of which a few columns say all there is to say, and real ones with wrong labels.

Of made-up data the truth is known: which columns tell the class. Of real ones most columns say a
little, and hardly anything is left of that when nearly half of the labels are turned round.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from experiments.datasets import split
from experiments.fitting import training_rows
from experiments.made_up import drawn
from experiments.scaling import scaled
from thresher.demo.data import FAINT, Band, Recipe, make_documents

MOST_ROWS = 6000  # of a real set


class Told(NamedTuple):
    """Rows to learn and rows to test on; which columns tell the class, where that is known."""

    X: sparse.csr_array
    y: np.ndarray
    X_test: sparse.csr_array
    y_test: np.ndarray
    telling: np.ndarray | None
    size: int  # a number of features to ask for


def documents(recipe: Recipe, seed: int) -> Told:
    """Return documents in which some words are planted."""
    made = make_documents(replace(recipe, seed=seed))
    both = made.X_train, made.y_train, made.X_test, made.y_test
    return Told(*both, made.band_of >= 0, recipe.n_planted)


def _parted(X: np.ndarray, y: np.ndarray, n: int, telling: np.ndarray) -> Told:
    """Return the first n rows to learn, and the others to test on."""
    mask = np.isin(np.arange(X.shape[1]), telling)
    rows = sparse.csr_array(X)
    return Told(rows[:n], y[:n], rows[n:], y[n:], mask, telling.size)


def normals(n: int, n_columns: int, n_telling: int, odds: float, alike: float, seed: int) -> Told:
    """Return normal numbers, each more or less like the one before; some columns tell."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 3000, n_columns))
    for j in range(1, n_columns if alike else 1):
        X[:, j] = alike * X[:, j - 1] + np.sqrt(1 - alike**2) * X[:, j]
    telling = rng.choice(n_columns, n_telling, replace=False)
    weights = odds * rng.choice([-1, 1], n_telling) * rng.uniform(0.5, 1.5, n_telling)
    return _parted(X, drawn(rng, X[:, telling] @ weights), n, telling)


def blocks(n: int, n_telling: int, odds: float, seed: int) -> Told:
    """Return marks in blocks of ten that are much alike, as of genes; in some blocks one tells."""
    rng, n_rows, width = np.random.default_rng(seed), n + 3000, 10
    shares = rng.uniform(0.02, 0.4, 300)
    common = np.repeat(rng.random((n_rows, shares.size)) < shares, width, axis=1)
    own = rng.random(common.shape) < np.repeat(shares, width)
    X = np.where(rng.random(common.shape) < 0.15, own, common).astype(float)
    telling = width * rng.choice(shares.size, n_telling, replace=False)
    telling += rng.integers(0, width, n_telling)
    margins = odds * X[:, telling] @ rng.choice([-1, 1], n_telling)
    return _parted(X, drawn(rng, margins - np.median(margins)), n, telling)


def mislabelled(name: str, share: float, seed: int) -> Told:
    """Return a set of which a share of the labels to learn from is wrong."""
    rng = np.random.default_rng(seed)
    X, y = training_rows(name)
    some = rng.permutation(len(y))[:MOST_ROWS]
    data = scaled(split(X[some], y[some], seed), "row-l2")
    classes = np.unique(y)
    wrong = rng.random(data.y_train.size) < share
    labels = np.where(wrong, classes.sum() - data.y_train, data.y_train)
    return Told(data.X_train, labels, data.X_test, data.y_test, None, 50)


STRONG = Recipe(bands=tuple(replace(band, strength=4.0) for band in FAINT.bands))
FEW_ROWS = Recipe(
    bands=(Band("scarce", 40, 1.5), Band("common", 150, 1.2), Band("frequent", 400, 1.0)),
    planted_per_band=8,
    n_rows=1000,
    n_columns=3000,
)
MANY = replace(FAINT, planted_per_band=40, n_rows=6000, n_columns=10_000, probes_per_row=200)
SETS: dict[str, Callable[[int], Told]] = {
    "faint words": lambda seed: documents(FAINT, seed),
    "faint words among rare ones": lambda seed: documents(
        replace(FAINT, probes_per_row=80, n_columns=20_000), seed
    ),
    "160 faint words": lambda seed: documents(MANY, seed),
    "words": lambda seed: documents(Recipe(), seed),
    "strong words": lambda seed: documents(STRONG, seed),
    "words of 1,000 documents": lambda seed: documents(FEW_ROWS, seed),
    "blocks of marks": lambda seed: blocks(2000, 20, 1.2, seed),
    "blocks of marks, 500 rows": lambda seed: blocks(500, 8, 2.0, seed),
    "numbers": lambda seed: normals(400, 2000, 20, 0.7, 0.0, seed),
    "numbers, neighbours alike": lambda seed: normals(400, 2000, 20, 0.7, 0.7, seed),
    "numbers, little to say": lambda seed: normals(400, 2000, 20, 0.35, 0.0, seed),
    "rcv1-sample, 45 % mislabelled": lambda seed: mislabelled("rcv1-sample", 0.45, seed),
    "farm_ads, 45 % mislabelled": lambda seed: mislabelled("farm_ads", 0.45, seed),
    "rcv1-sample, 40 % mislabelled": lambda seed: mislabelled("rcv1-sample", 0.40, seed),
}
