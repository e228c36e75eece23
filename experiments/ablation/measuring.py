"""One variant on one set: error on re-splits of training rows, stability over seeds and halves."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from experiments.ablation.variants import VARIANTS, Variant
from experiments.claim.judging import missed, support
from experiments.claim.matching import halves_of
from experiments.claim.sizes import share_of, shares
from experiments.datasets import Split, split
from experiments.fitting import training_rows
from experiments.overlaps import overlaps_of, triangle
from experiments.registry import named
from experiments.scaling import scaled
from experiments.store import fingerprint
from thresher.demo.data import FAINT, make_documents

PROTOCOL = 1  # raise it when the meaning of a cell changes
PLANTED = "planted"
SETS = (
    "dexter",
    "reuters_moneyfx",
    "gisette-mini",
    "arcene",
    "farm_ads",
    "dorothea",
    "rcv1-sample",
    PLANTED,
)
RESPLITS, SEEDS, HALVES, DRAWINGS = 2, 2, 4, 3
MOST_ROWS = 6000  # of a set's training rows: enough to tell, few enough to wait for


def recipe(dataset: str, name: str) -> str:
    """Return what decides a cell, as far as it can be known without fitting."""
    variant = VARIANTS[name]
    extent = [RESPLITS, SEEDS, HALVES, DRAWINGS, MOST_ROWS]
    return fingerprint([PROTOCOL, dataset, name, dict(variant.params), variant.scaling, extent])


def measure(dataset: str, name: str) -> dict[str, Any]:
    """Return all that a variant is asked on a set."""
    variant = VARIANTS[name]
    if dataset == PLANTED:
        return {"found": [_found(variant, seed) for seed in range(DRAWINGS)]}
    X, y = _some_rows(dataset)
    points = [
        _resplit(variant, split(X, y, seed), size)
        for size in shares(dataset)
        for seed in range(RESPLITS)
    ]
    return {"points": points, "halves": _halves(variant, X, y, dataset)}


def _some_rows(dataset: str) -> tuple[csr_matrix, np.ndarray]:
    X, y = training_rows(dataset)
    some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return X[some], y[some]


def _resplit(variant: Variant, rows: Split, size: int) -> dict[str, Any]:
    data = scaled(rows, variant.scaling)
    models = [_fit(variant, size, data, seed) for seed in range(SEEDS)]
    return {
        "size": size,
        "rows": len(data.y_test),
        "missed": [int(missed(model, data).sum()) for model in models],
        "overlaps": triangle(overlaps_of([support(model, data) for model in models])),
    }


def _halves(variant: Variant, X: csr_matrix, y: np.ndarray, dataset: str) -> list[int]:
    """Return the overlaps of selections on halves of different halvings, at 1 % of the columns."""
    size, selected = share_of(named(dataset).columns, 0.01), []
    for rows in itertools.islice(halves_of(y)[::2], HALVES):
        half = scaled(Split(X[rows], y[rows], X[rows], y[rows]), variant.scaling)
        selected.append(support(_fit(variant, size, half, 0), half))
    return triangle(overlaps_of(selected))


def _found(variant: Variant, seed: int) -> dict[str, Any]:
    documents = make_documents(replace(FAINT, seed=seed))
    rows = Split(
        csr_matrix(documents.X_train),
        documents.y_train,
        csr_matrix(documents.X_test),
        documents.y_test,
    )
    data = scaled(rows, variant.scaling)
    model = _fit(variant, FAINT.n_planted, data, seed)
    bands = documents.band_of[support(model, data)]
    counts = [int(np.sum(bands == band)) for band in range(len(FAINT.bands))]
    return {"bands": counts, "error": 100 * float(missed(model, data).mean())}


def _fit(variant: Variant, size: int, data: Split, seed: int) -> Any:
    """Fit on a permutation of the rows; None when the numbers overflow."""
    order = np.random.default_rng(seed).permutation(len(data.y_train))
    try:
        return variant.build(size, seed).fit(data.X_train[order], data.y_train[order])
    except ValueError as problem:
        if "overflow" not in str(problem):
            raise
        return None
