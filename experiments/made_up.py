"""Generated data of many kinds: what users bring that is no text, in small."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.datasets import make_classification


class Kind(NamedTuple):
    """Rows, labels of two classes, and a size to compare methods at."""

    rows: Any
    labels: np.ndarray
    size: int


def drawn(rng: np.random.Generator, margins: np.ndarray) -> np.ndarray:
    """Return labels with the chances that margins stand for."""
    return (rng.random(margins.size) < expit(margins)).astype(int)


def dummies(codes: np.ndarray, levels: int) -> sparse.csr_array:
    """Return a mark for every level of every code."""
    n, m = codes.shape
    columns = (codes + levels * np.arange(m)).ravel().astype(np.int32)
    parts = np.ones(n * m), columns, m * np.arange(n + 1, dtype=np.int32)
    return sparse.csr_array(parts, shape=(n, m * levels))


def gene_counts() -> Kind:
    """Return counts whose means differ by orders of magnitude."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 200)
    logs = rng.normal(3, 2, 3000) + rng.normal(size=(200, 10)) @ rng.normal(0, 0.3, (10, 3000))
    logs[:, :50] += (2 * labels - 1)[:, None] * rng.normal(0, 0.5, 50)
    means = np.exp(np.minimum(logs, 12)) * rng.gamma(5, 0.2, logs.shape)
    return Kind(rng.poisson(means).astype(float), labels, 50)


def clicks() -> Kind:
    """Return frequent and rare ids beside counters, and few positive rows."""
    rng = np.random.default_rng(6)
    codes = np.minimum(rng.pareto(0.7, (20_000, 10)).astype(int), 4_999)
    counters = rng.poisson(rng.gamma(0.5, 40, (20_000, 5))).astype(float)
    ids = dummies(codes, 5_000)
    margins = ids @ rng.normal(0, 0.6, ids.shape[1])
    margins += np.log1p(counters) @ np.array([0.6, -0.4, 0.3, 0.0, 0.0])
    labels = drawn(rng, margins - np.quantile(margins, 0.985))
    return Kind(sparse.hstack([sparse.csr_array(counters), ids]).tocsr(), labels, 100)


def long_tails(n_rows: int) -> Kind:
    """Return ids of sixteen kinds, most of them rare, half of which say a little of few clicks."""
    rng = np.random.default_rng(7)
    fields, margins = [], np.zeros(n_rows)
    for levels in 2 * (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000):
        odds = np.arange(1.0, levels + 1) ** -1.1
        codes = rng.choice(levels, n_rows, p=odds / odds.sum())
        margins += (rng.normal(0, 0.35, levels) * (rng.random(levels) < 0.5))[codes]
        fields.append(dummies(codes[:, None], levels))
    rows = sparse.hstack(fields, format="csr")
    return Kind(rows, drawn(rng, margins - np.quantile(margins, 0.9999)), 500)


def forest() -> Kind:
    """Return a few measurements in several units beside marks."""
    rng = np.random.default_rng(11)
    n = 6000
    gammas = rng.gamma([4, 1, 2, 2], [3.5, 270, 1100, 900], (n, 4))
    normals = rng.normal([2959, 46, 212, 223, 142], [280, 58, 27, 20, 38], (n, 5))
    values = np.hstack([normals, gammas])
    marks = dummies(np.minimum(rng.geometric(0.12, (n, 1)) - 1, 39), 40).toarray()
    units = (values - values.mean(axis=0)) / values.std(axis=0)
    margins = 1.5 * units[:, 0] - 0.8 * units[:, 0] ** 2 + 0.5 * units[:, 7]
    margins += marks @ rng.normal(0, 1, 40) - 0.5 * units[:, 6] * units[:, 8]
    return Kind(np.hstack([values, marks]), drawn(rng, margins), 15)


def amounts() -> Kind:
    """Return positive measurements that say more the larger they are."""
    rng = np.random.default_rng(23)
    rows = rng.gamma(1, 1, (2000, 60))
    return Kind(rows, drawn(rng, 2 * (0.8 * rows[:, :6].sum(axis=1) - 4.5)), 6)


def handful() -> Kind:
    """Return six measurements far from zero."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(400, 6))
    return Kind(rows + 50, drawn(rng, 2 * rows @ rng.normal(size=6)), 3)


def fingerprints() -> Kind:
    """Return molecules as bits that occur together, few of them active."""
    rng = np.random.default_rng(9)
    groups = (rng.random((2000, 60)) < rng.beta(0.5, 3, 60)).astype(float)
    near = groups @ (rng.random((60, 3000)) < 0.06) * rng.random(3000)
    bits = rng.random(near.shape) < 1 - 0.995 * np.exp(-1.2 * near)
    margins = groups[:, :10] @ rng.normal(1, 1, 10) + bits[:, :40] @ rng.normal(0, 0.8, 40)
    labels = drawn(rng, 2 * (margins - np.quantile(margins, 0.95)))
    return Kind(sparse.csr_array(bits.astype(float)), labels, 50)


def answers() -> Kind:
    """Return questions with three answers, all of them marks that sum to one."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (4000, 42))
    rows = dummies(codes, 3)
    margins = rows @ rng.normal(0, 0.35, 126)
    margins += 2.4 * ((codes[:, 0] == 1) & (codes[:, 1] == 1)) - margins.mean()
    return Kind(rows, drawn(rng, margins), 30)


def rare_class() -> Kind:
    """Return measurements around zero, and three positive rows of a hundred."""
    sizes = {"n_samples": 6000, "n_features": 100, "n_informative": 15, "n_redundant": 0}
    odds = {"weights": [0.97], "flip_y": 0, "n_clusters_per_class": 1, "class_sep": 0.8}
    return Kind(*make_classification(random_state=3, **sizes, **odds), 15)


def _words(rng: np.random.Generator, chances: np.ndarray, count: int) -> np.ndarray:
    """Return numbers of words drawn with the given chances."""
    return np.minimum(np.searchsorted(np.cumsum(chances), rng.random(count)), chances.size - 1)


def topics(share: float, own: float, seed: int = 9) -> Kind:
    """Return documents about two topics: a ``share`` about one, an ``own`` share of words its own.

    Words follow Zipf's law and count by their logarithm, and all the more the fewer rows have them.
    """
    rng, n_rows, n_words = np.random.default_rng(seed), 8000, 20_000
    usual = 1 / np.arange(1, n_words + 1) ** 1.05
    labels = (rng.random(n_rows) < share).astype(int)
    row = np.repeat(np.arange(n_rows), np.maximum(rng.poisson(60, n_rows), 5))
    words = _words(rng, usual / usual.sum(), row.size)
    for topic in (0, 1):
        about = usual * np.exp(rng.normal(0, 1.5, n_words))
        mine = np.flatnonzero((labels[row] == topic) & (rng.random(row.size) < own))
        words[mine] = _words(rng, about / about.sum(), mine.size)
    counts = sparse.csr_array((np.ones(row.size), (row, words)), (n_rows, n_words))
    rows = np.bincount(counts.indices, minlength=n_words)
    counts.data = np.log1p(counts.data) * np.log(n_rows / rows[counts.indices])
    return Kind(counts, labels, 100)


KINDS: dict[str, Callable[[], Kind]] = {
    "counts of genes": gene_counts,
    "clicks": clicks,
    "forest": forest,
    "amounts": amounts,
    "a handful": handful,
    "fingerprints": fingerprints,
    "answers": answers,
    "a rare class": rare_class,
}
