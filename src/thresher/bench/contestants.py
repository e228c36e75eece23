"""Who takes part: ours, and the peers that are installed."""

from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier

import thresher
from thresher.bench.clock import Task
from thresher.bench.data import Data

PASSES, PATHS = 20, 16
SHARE = 0.01  # of the columns, that the flagship is to keep
KEPT = 200  # features, where the number of columns is not to matter
SGD_L1, LIBLINEAR = "scikit-learn SGD, L1", "liblinear, L1"
SHARED = "16 shared paths"
CLASSICS = {
    "SGD": "PlainSGDClassifier",
    "truncated gradient": "TruncatedGradientClassifier",
    "FOBOS": "FOBOSClassifier",
    "RDA": "RDAClassifier",
    "FTRL": "FTRLClassifier",
}


def has(package: str) -> bool:
    """Return whether a peer can be imported."""
    return find_spec(package) is not None


def fitting(estimator: Any, data: Data) -> Task:
    """Return the task of training an estimator."""
    return lambda: estimator.fit(data.X, data.y)


def sgd_l1(**changes: Any) -> SGDClassifier:
    """Return scikit-learn's SGD with an L1 penalty."""
    settings = {"max_iter": PASSES, "tol": None, "random_state": 0, "penalty": "l1", **changes}
    return SGDClassifier(loss="log_loss", **settings)


def liblinear() -> LogisticRegression:
    """Return liblinear's L1 solver, through scikit-learn, with C = 1."""
    return LogisticRegression(solver="liblinear", l1_ratio=1.0, C=1.0, random_state=0)


def shared_paths(**changes: Any) -> thresher.ThresherClassifier:
    """Return the flagship with sixteen paths on one stream, and its size given, not searched."""
    settings = {"n_paths": PATHS, "max_iter": PASSES, "tol": None, "random_state": 0, **changes}
    settings.setdefault("n_features_to_select", SHARE)
    return thresher.ThresherClassifier(**settings)


def stabilized_paths(**changes: Any) -> thresher.StabilizedTruncatedSGDClassifier:
    """Return the paper's algorithm with sixteen paths that have their own permutations."""
    settings = {"n_paths": PATHS, "max_iter": PASSES, "tol": None, "random_state": 0, **changes}
    return thresher.StabilizedTruncatedSGDClassifier(paths="permutation", **settings)


def classic(name: str, **changes: Any) -> Any:
    """Return one of our learners with a single path."""
    settings = {"loss": "log_loss", "max_iter": PASSES, "tol": None, "random_state": 0, **changes}
    return getattr(thresher, CLASSICS[name])(**settings)


def vowpal_passes(data: Data, folder: Path, passes: int) -> Task:
    """Return the task of so many passes of Vowpal Wabbit over a cache that is made here and now."""
    from vowpalwabbit import Workspace

    text = folder / "rows.vw"
    write_vowpal(data, text)
    common = f"-d {text} --cache_file {folder / 'rows.cache'} --loss_function logistic --quiet"

    def learn(n: int) -> None:
        holdout = "" if n == 1 else " --holdout_off"
        Workspace(f"{common} --passes {n} --l1 1e-6 -b 18{holdout}").finish()

    learn(1)
    return lambda: learn(passes)


def write_vowpal(data: Data, path: Path) -> None:
    """Write rows as Vowpal Wabbit's text."""
    with path.open("w") as file:
        for label, row in zip(data.y.tolist(), _pairs(data), strict=True):
            file.write(f"{label} | {' '.join(f'{c}:{v:.9g}' for c, v in row)}\n")


def river_pass(data: Data) -> Task:
    """Return the task of one pass of river's logistic regression, which takes dictionaries."""
    from river.linear_model import LogisticRegression as RiverRegression
    from river.optim import SGD

    rows = [dict(row) for row in _pairs(data)]
    labels = (data.y > 0).tolist()

    def learn() -> None:
        model = RiverRegression(SGD(0.1), l1=1e-4)
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)

    return learn


def _pairs(data: Data) -> list[list[tuple[int, float]]]:
    """Return every row as pairs of column and value."""
    X = data.X
    pairs = list(zip(X.indices.tolist(), X.data.tolist(), strict=True))
    return [pairs[first:last] for first, last in pairwise(X.indptr.tolist())]


def head(data: Data, n_rows: int) -> Data:
    """Return the first rows, both classes among them if they can be."""
    if n_rows >= data.y.size:
        return data
    order = np.argsort(data.y, kind="stable")
    chosen = np.sort(order[:: -(-data.y.size // n_rows)])
    return data._replace(X=data.X[chosen], y=data.y[chosen])
