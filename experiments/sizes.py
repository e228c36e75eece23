"""The size that the flagship chooses by itself: its error over that of the best size on its path.

    python -m experiments.sizes

The best size is the one with the lowest error on the test rows: nobody could choose it without
knowing them. A dense ridge with the best of three penalties, chosen alike, is shown beside it. Of
planted words some of those selected are false.
"""

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from experiments import data, judge, markdown, records
from experiments.data import Split
from experiments.records import Record
from thresher import ThresherClassifier
from thresher.demo import NOISE, Recipe, make_documents

SIZES = (10, 20, 50, 100, 200, 500, 1000)
EFFECTS = (0.5, 1.0, 2.0, 4.0)  # of planted words, on the log odds
PENALTIES = (1.0, 10.0, 100.0)  # of the dense ridge, as scikit-learn's C
PLANTED = {f"planted {effect:g}": effect for effect in EFFECTS}
SPLITS = 2


def rows_of(name: str, split: int) -> tuple[Split, np.ndarray]:
    """Return the rows of a set, and which columns have no effect if anybody knows."""
    if name not in PLANTED:
        return judge.prepare(name, split), np.zeros(0, np.int64)
    bands = tuple(band._replace(effect=PLANTED[name]) for band in Recipe.bands)
    made = make_documents(replace(Recipe(), bands=bands, seed=split))
    X_train, X_test = (sparse.csr_matrix(X) for X in (made.X_train, made.X_test))
    rows = Split(X_train, made.y_train, X_test, made.y_test)
    return rows, np.flatnonzero(made.band_of == NOISE)


def measure(task: Record) -> Record:
    """Return the size chosen, errors of this and other sizes, and what the choice costs."""
    (X, y, X_test, y_test), noise = rows_of(task["set"], task["split"])
    started = time.process_time()
    model = ThresherClassifier(random_state=task["split"]).fit(X, y)
    seconds = time.process_time() - started
    size = model.n_features_selected_
    sizes = [one for one in SIZES if one <= model.path_.sizes[-1]]
    started = time.process_time()
    ThresherClassifier(n_features_to_select=size, random_state=task["split"]).fit(X, y)
    alone = time.process_time() - started
    false = np.isin(model.get_support(indices=True), noise).mean() if noise.size else None
    return {
        "columns": X.shape[1],
        "size": int(size),
        "error": 1.0 - model.score(X_test, y_test),
        "sizes": sizes,
        "errors": [1.0 - model.at_size(one).score(X_test, y_test) for one in sizes],
        "dense": _dense_error(X, y, X_test, y_test),
        "tested": y_test.size,
        "cost": seconds / max(alone, 1e-3),
        "false": None if false is None else float(false),
    }


def _dense_error(
    X: sparse.csr_matrix, y: np.ndarray, X_test: sparse.csr_matrix, y_test: np.ndarray
) -> float:
    """Return the lowest error of a ridge on all columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence
        models = [LogisticRegression(C=C, max_iter=300).fit(X, y) for C in PENALTIES]
    return 1.0 - max(model.score(X_test, y_test) for model in models)


def table(found: Sequence[Record]) -> str:
    """Return sizes, errors in percent, their ratio, and the cost in fits of the chosen size."""
    header = ["set", "chosen", "error %", "best size: error %", "chosen / best", "dense ridge"]
    rows, ratios = [], []
    for name in dict.fromkeys(one["set"] for one in found):
        mine = [one for one in found if one["set"] == name]
        best = [min([one["error"], *one["errors"]]) for one in mine]
        pairs = zip(mine, best, strict=True)
        logs = [
            math.log((m["error"] * m["tested"] + 0.5) / (b * m["tested"] + 0.5)) for m, b in pairs
        ]
        ratios.append(np.mean(logs))
        errors = (np.mean(one) for one in ([m["error"] for m in mine], best))
        false = [one["false"] for one in mine if one["false"] is not None]
        rows.append(
            [
                name,
                "/".join(str(one["size"]) for one in mine),
                *(f"{100 * error:.2f}" for error in errors),
                f"{math.exp(ratios[-1]):.2f}",
                f"{100 * np.mean([one['dense'] for one in mine]):.2f}",
                f"{np.mean([one['cost'] for one in mine]):.1f}",
                f"{100 * np.mean(false):.0f}" if false else "",
            ]
        )
    rows.append(["geometric mean", "", "", "", f"{math.exp(np.mean(ratios)):.3f}", "", "", ""])
    return markdown.table([*header, "cost in fits", "false %"], rows)


TASKS: list[Record] = [
    {"set": name, "split": split}
    for name, split in product(
        [*data.of_role("new", "paper", "extension"), *PLANTED], range(SPLITS)
    )
]

if __name__ == "__main__":
    out, tables = Path("results/sizes.jsonl"), {"sizes": table}
    raise SystemExit(records.study(__doc__, out, TASKS, measure, tables))
