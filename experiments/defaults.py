"""Defaults of the classic learners: held-out log loss by their parameters, over that of a guess.

    python -m experiments.defaults

Rows are the training rows of the first split of each set, at most 3,000; two thirds of them are
learned, the others held out, and no test row is seen. Rows are as they lie in the files, and scaled
as in the judge's study. A guess is the share of the classes. Ratios above 2 count as 2: a learner
that diverges is bad, no matter how far it goes. The step is relative, as with ``eta0="auto"``.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import log_loss

import thresher
from experiments import data, judge, markdown, records
from experiments.data import Rows
from experiments.records import Record

MOST_ROWS = 3000
WORST = 2.0  # ratio of losses
PASSES = (1, 20)
CASES = [(kind, n_passes) for kind in ("scaled", "raw") for n_passes in PASSES]
RATES = (3.0, 10.0, 30.0, 100.0)  # the first step, relative to the mean squared norm of the rows
GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "FTRL": {"alpha": (0.03, 0.1, 0.3, 1.0, 3.0), "l1": (0.0, 0.1, 0.3, 1.0, 3.0)},
    "RDA": {"rate": (10.0, 30.0, 100.0, 300.0, 1000.0), "l1": (1e-5, 1e-4, 1e-3)},
    "FOBOS": {"rate": RATES, "l1": (1e-6, 1e-5, 1e-4, 1e-3)},
    "TruncatedGradient": {"rate": RATES, "gravity": (1e-7, 1e-6, 1e-5, 1e-4)},
    "PlainSGD": {"rate": RATES},
}


def settings_of(method: str) -> list[dict[str, float]]:
    """Return all combinations of a method's parameters."""
    grid = GRIDS[method]
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


@lru_cache(maxsize=1)
def rows_of(name: str) -> dict[str, Rows]:
    """Return training rows of a set, scaled and raw, in a random order."""
    scaled, raw = judge.prepare(name, 0), judge.prepare(name, 0, scale=False)
    order = np.random.default_rng(0).permutation(scaled.y_train.size)[:MOST_ROWS]
    return {
        kind: (split.X_train[order], split.y_train[order])
        for kind, split in {"scaled": scaled, "raw": raw}.items()
    }


def measure(task: Record) -> Record:
    """Return the ratio of losses and the number of features, by setting and case."""
    found = [
        [_held_out(task["method"], setting, *rows_of(task["set"])[kind], n) for kind, n in CASES]
        for setting in settings_of(task["method"])
    ]
    return {"columns": rows_of(task["set"])["raw"][0].shape[1], "found": found}


def _held_out(
    method: str, setting: dict[str, float], X: sparse.csr_matrix, y: np.ndarray, n_passes: int
) -> tuple[float, int]:
    """Return the held-out log loss over that of a guess, and the number of features."""
    cut = 2 * y.size // 3
    parameters = dict(setting)
    if "rate" in parameters:
        step = parameters.pop("rate") / float(X[:cut].multiply(X[:cut]).sum(axis=1).mean())
        parameters |= {"gamma": 1 / step} if method == "RDA" else {"eta0": step}
    make = getattr(thresher, f"{method}Classifier")
    model = make(max_iter=n_passes, random_state=0, **parameters)
    try:
        model.fit(X[:cut], y[:cut])
        loss = log_loss(y[cut:], model.predict_proba(X[cut:]), labels=[-1, 1])
    except ValueError:  # the numbers overflow
        return WORST, 0
    guess = np.mean(y[:cut] > 0)
    base = log_loss(y[cut:], np.full((y.size - cut, 2), [1 - guess, guess]), labels=[-1, 1])
    return round(min(loss / base, WORST), 4), model.n_features_selected_


def ratios_of(method: str, found: Sequence[Record]) -> np.ndarray:
    """Return the geometric mean over sets of the ratios of losses, by setting and case."""
    mine = np.array([one["found"] for one in found if one["method"] == method])
    ratios: np.ndarray = np.exp(np.log(mine[..., 0]).mean(axis=0))
    return ratios


def table(found: Sequence[Record]) -> str:
    """Return the ratios of losses of each method's five best settings."""
    rows = []
    for method in dict.fromkeys(one["method"] for one in found):
        mine = [one for one in found if one["method"] == method]
        numbers, ratios = np.array([one["found"] for one in mine]), ratios_of(method, mine)
        columns = np.array([one["columns"] for one in mine])
        shares = (numbers[:, :, 0, 1] / columns[:, None]).mean(axis=0)
        worse = (numbers[..., 0] > 1).sum(axis=(0, 2))
        for place in np.argsort(ratios.mean(axis=1), kind="stable")[:5].tolist():
            setting = settings_of(method)[place]
            words = ", ".join(f"{name} {value:g}" for name, value in setting.items())
            cells = [f"{ratio:.3f}" for ratio in [ratios[place].mean(), *ratios[place]]]
            rows.append([method, words, *cells, f"{worse[place]}", f"{100 * shares[place]:.0f}"])
    cases = [f"{kind}, {n} pass{'es' if n > 1 else ''}" for kind, n in CASES]
    header = ["method", "parameters", "mean", *cases, "worse than a guess", "columns kept %"]
    return markdown.table(header, rows)


TASKS: list[Record] = [
    {"method": method, "set": name}
    for name, method in product(data.of_role("new", "paper", "extension"), GRIDS)
]

if __name__ == "__main__":
    out, tables = Path("results/defaults.jsonl"), {"defaults": table}
    raise SystemExit(records.study(__doc__, out, TASKS, measure, tables))
