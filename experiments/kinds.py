"""``python -m experiments.kinds``: the default beside cheap rivals, on many kinds of made-up data.

Error in % and area under the ROC curve, means over random splits of the rows, of models of the same
size: the default, l1 followed by a ridge refit, and the best single columns with the same refit;
then of the default with a size of its own choice, and of ridge on all columns. Rivals get columns
of unit variance; the default gets the rows as they are.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from experiments.made_up import KINDS, Kind
from thresher import ThresherClassifier

SPLITS, HELD = 5, 0.4
HALVINGS, WEAKEST, STRONGEST = 14, -4.0, 2.0  # of log10 C, until l1 has the wanted size

Score = tuple[float, float]


def score(chances: np.ndarray, truth: np.ndarray) -> Score:
    """Return the error in % and the area under the curve."""
    return 100 * float(np.mean((chances > 0.5) != truth)), float(roc_auc_score(truth, chances))


def l1_columns(rows: Any, labels: np.ndarray, size: int) -> np.ndarray:
    """Return the columns that l1 selects where it selects about so many."""
    weak, strong, found = WEAKEST, STRONGEST, np.zeros(0, np.int64)
    for _ in range(HALVINGS):
        middle = (weak + strong) / 2
        model = LogisticRegression(
            C=10**middle, l1_ratio=1, solver="liblinear", intercept_scaling=10, random_state=0
        )
        columns = np.flatnonzero(model.fit(rows, labels).coef_)
        if abs(columns.size - size) < abs(found.size - size):
            found = columns
        if columns.size == size:
            break
        weak, strong = (middle, strong) if columns.size < size else (weak, middle)
    return found


def best_columns(rows: Any, labels: np.ndarray, size: int) -> np.ndarray:
    """Return the columns that tell classes best, each by itself."""
    return np.argsort(-np.nan_to_num(f_classif(rows, labels)[0]), kind="stable")[:size]


def scores(kind: Kind, seed: int) -> list[Score]:
    """Return the scores of everybody on one split, at one size and at their own."""
    split = train_test_split(
        kind.rows, kind.labels, test_size=HELD, random_state=seed, stratify=kind.labels
    )
    rows, held, labels, truth = split
    scaler = StandardScaler(with_mean=not sparse.issparse(rows)).fit(rows)
    plain, plain_held = scaler.transform(rows), scaler.transform(held)

    def ours(size: int | str) -> Score:
        model = ThresherClassifier(n_features_to_select=size, random_state=seed)
        return score(model.fit(rows, labels).predict_proba(held)[:, 1], truth)

    def ridge(columns: Any) -> Score:
        model = LogisticRegression(max_iter=300).fit(plain[:, columns], labels)
        return score(model.predict_proba(plain_held[:, columns])[:, 1], truth)

    l1, single = (pick(plain, labels, kind.size) for pick in (l1_columns, best_columns))
    return [ours(kind.size), ridge(l1), ridge(single), ours("auto"), ridge(slice(None))]


def row(name: str) -> str:
    """Return a line of the table."""
    kind = KINDS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rivals that have not converged
        means = np.mean([scores(kind, seed) for seed in range(SPLITS)], axis=0)
    cells = " | ".join(f"{error:.1f}, {area:.3f}" for error, area in means)
    n_rows, n_columns = kind.rows.shape
    return f"| {name} | {n_rows} x {n_columns} | {kind.size} | {cells} |"


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.kinds", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", choices=KINDS)
    options = command.parse_args(words)
    rivals = "default | l1, refit | single columns, refit | default's own size | ridge, all columns"
    print(f"| kind | rows x columns | size | {rivals} |")
    print("|" + "---|" * 8)
    for name in options.data or KINDS:
        print(row(name), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
