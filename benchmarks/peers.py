"""Other libraries, and ours, with the settings that are compared."""

from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from sklearn.linear_model import LogisticRegression, SGDClassifier

import thresher
from benchmarks.rows import Data
from benchmarks.timing import Task
from experiments.rivals import l1_logistic

PASSES = 20
SGD_L1, LIBLINEAR = "scikit-learn SGD, L1", "liblinear, L1"
CLASSICS = {
    "SGD": "PlainSGDClassifier",
    "truncated gradient": "TruncatedGradientClassifier",
    "FOBOS": "FOBOSClassifier",
    "RDA": "RDAClassifier",
    "FTRL": "FTRLClassifier",
}


def has(package: str) -> bool:
    """Return whether a package can be imported."""
    return find_spec(package) is not None


def fitting(estimator: Any, rows: Data) -> Task:
    """Return the task of training an estimator."""
    return lambda: estimator.fit(rows.X, rows.y)


def sgd_l1(**changes: Any) -> SGDClassifier:
    """Return scikit-learn's SGD with an L1 penalty."""
    settings = {"max_iter": PASSES, "tol": None, "random_state": 0, "penalty": "l1", **changes}
    return SGDClassifier(loss="log_loss", **settings)


def liblinear() -> LogisticRegression:
    """Return liblinear's L1 solver with C = 1."""
    return l1_logistic(C=1.0)


def classic(name: str, **changes: Any) -> Any:
    """Return one of our online learners."""
    settings = {"max_iter": PASSES, "tol": None, "random_state": 0, **changes}
    return getattr(thresher, CLASSICS[name])(**settings)


def stabilized(**changes: Any) -> Any:
    """Return the paper's algorithm with sixteen paths."""
    settings = {"n_paths": 16, "max_iter": PASSES, "tol": None, "random_state": 0, **changes}
    return thresher.StabilizedTruncatedSGDClassifier(**settings)


def flagship(size: int | str = "auto", **changes: Any) -> Any:
    """Return the flagship."""
    return thresher.ThresherClassifier(n_features_to_select=size, random_state=0, **changes)


def vowpal_passes(rows: Data, folder: Path) -> Task:
    """Return the task of passes of Vowpal Wabbit over a cache that is made here and now."""
    from vowpalwabbit import Workspace

    path = folder / "rows.vw"
    with path.open("w", encoding="ascii") as file:
        for label, row in zip(rows.y.tolist(), _pairs(rows), strict=True):
            file.write(f"{label} | {' '.join(f'{c}:{v:.9g}' for c, v in row)}\n")
    common = f"-d {path} --cache_file {folder / 'rows.cache'} --loss_function logistic --quiet"

    def learn(passes: int) -> None:
        holdout = "" if passes == 1 else " --holdout_off"
        Workspace(f"{common} --passes {passes} --l1 1e-6 -b 18{holdout}").finish()

    learn(1)
    return lambda: learn(PASSES)


def river_pass(rows: Data) -> Task:
    """Return the task of one pass of river's logistic regression, which takes dictionaries."""
    from river.linear_model import LogisticRegression as RiverRegression
    from river.optim import SGD

    dictionaries, labels = [dict(row) for row in _pairs(rows)], (rows.y > 0).tolist()

    def learn() -> None:
        model = RiverRegression(SGD(0.1), l1=1e-4)
        for row, label in zip(dictionaries, labels, strict=True):
            model.learn_one(row, label)

    return learn


def _pairs(rows: Data) -> list[list[tuple[int, float]]]:
    """Return every row as pairs of column and value."""
    pairs = list(zip(rows.X.indices.tolist(), rows.X.data.tolist(), strict=True))
    return [pairs[first:last] for first, last in pairwise(rows.X.indptr.tolist())]
