"""One pass over a stream: does the selection depend on the order of the rows, and what does it err?

    python -m experiments.streams

Each set's training rows are learned once by ``partial_fit``, in chunks, in two orders. Shown are
Cohen's kappa between the two selections and the error on the test rows, beside that of ``fit`` with
as many features, and of FTRL, whose penalty gives about as many.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from experiments import data, judge, markdown, records
from experiments.records import Record
from thresher import FTRLClassifier, ThresherClassifier
from thresher.stability import cohen_kappa

SIZES = (20, 100)
ORDERS, CHUNK, HALVINGS = 2, 500, 12
METHODS = ("stream", "fit", "ftrl")
TITLES = {"stream": "partial_fit", "fit": "fit", "ftrl": "FTRL"}
_prepared = lru_cache(maxsize=1)(judge.prepare)


def in_one_pass(model: Any, X: Any, y: np.ndarray, seed: int) -> Any:
    """Return a model that has learned the rows once, in an order of its own."""
    order = np.random.default_rng(seed).permutation(y.size)
    for first in range(0, y.size, CHUNK):
        places = order[first : first + CHUNK]
        model.partial_fit(X[places], y[places], classes=[-1, 1])
    return model


def ftrl_of(size: int, X: Any, y: np.ndarray) -> float:
    """Return the L1 penalty under which one pass of FTRL leaves about so many features."""
    low, high = -9.0, 5.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        n = np.count_nonzero(in_one_pass(FTRLClassifier(l1=math.exp(middle)), X, y, 0).coef_)
        low, high = (low, middle) if n < size else (middle, high)
    return math.exp(high)


def models(method: str, size: int, X: Any, y: np.ndarray) -> list[Any]:
    """Return a model for each order of the rows; ``fit`` knows no order."""
    if method == "fit":
        return [ThresherClassifier(n_features_to_select=size, random_state=0).fit(X, y)]
    if method == "stream":
        made = [ThresherClassifier(n_features_to_select=size) for _ in range(ORDERS)]
    else:
        l1 = ftrl_of(size, X, y)
        made = [FTRLClassifier(l1=l1) for _ in range(ORDERS)]
    return [in_one_pass(model, X, y, seed) for seed, model in enumerate(made)]


def measure(task: Record) -> Record:
    """Return the errors, and the kappa of the two selections."""
    X, y, X_test, y_test = _prepared(task["set"], 0)
    fitted = models(task["method"], task["size"], X, y)
    supports = [model.coef_.ravel() != 0 for model in fitted]
    return {
        "error": float(np.mean([1.0 - model.score(X_test, y_test) for model in fitted])),
        "features": float(np.mean([support.sum() for support in supports])),
        "kappa": float(cohen_kappa(*supports)) if len(supports) == ORDERS else None,
        "tested": y_test.size,
    }


def table(found: Sequence[Record]) -> str:
    """Return errors in percent and kappas by set and size; below, geometric and plain means."""
    cells = {(one["set"], one["size"], one["method"]): one for one in found}
    lines = [cell[:2] for cell in cells if all((*cell[:2], m) in cells for m in METHODS)]
    rows, ratios, kappas = [], [], []
    for line in dict.fromkeys(lines):
        stream, fit, ftrl = (cells[(*line, method)] for method in METHODS)
        n = stream["tested"]
        ratios.append([(stream["error"] * n + 0.5) / (o["error"] * n + 0.5) for o in (fit, ftrl)])
        kappas.append([stream["kappa"], ftrl["kappa"]])
        errors = (f"{100 * one['error']:.2f}" for one in (stream, fit, ftrl))
        rows.append([line[0], str(line[1]), *errors, *(f"{k:.2f}" for k in kappas[-1])])
    if rows:
        to_fit, to_ftrl = np.exp(np.log(ratios).mean(axis=0))
        means = (f"{kappa:.3f}" for kappa in np.nanmean(kappas, axis=0))
        rows.append(["all", "", "", f"partial_fit / it {to_fit:.3f}", f"{to_ftrl:.3f}", *means])
    errors = (f"{TITLES[method]}: error %" for method in METHODS)
    return markdown.table(["set", "features", *errors, "partial_fit: kappa", "FTRL: kappa"], rows)


TASKS: list[Record] = [
    {"set": name, "size": size, "method": method}
    for name, size, method in product(data.of_role("new", "paper", "extension"), SIZES, METHODS)
]

if __name__ == "__main__":
    out, tables = Path("results/streams.jsonl"), {"streams": table}
    raise SystemExit(records.study(__doc__, out, TASKS, measure, tables))
