"""``python -m experiments.few_numbers``: regression where rows are few for the features selected.

R2 on 1,000 new rows, means over drawings, at the same number of features: the regressor, whose
weights may cost their size; the same with weights that cost nothing; the Lasso; and the Lasso's
features refitted by a ridge whose penalty is cross-validated. Below, sizes that the regressor and a
cross-validated Lasso choose themselves. Ten columns of normal numbers, of numbers that hang
together, or of counts make up the targets, with as much noise as is said (its deviation over that
of the rest).
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, RidgeCV, lasso_path
from sklearn.metrics import r2_score

from thresher import ThresherRegressor
from thresher.estimators.decisions.decision import without
from thresher.estimators.decisions.sparing import Sparing

DRAWINGS, NEW_ROWS, INFORMATIVE = 5, 1_000, 10
SIZES = (10, 20, 40, 80)
SHAPES = ((80, 500, 0.1), (80, 500, 0.5), (200, 1_000, 0.5), (600, 1_000, 1.0))
HEAD = "| columns | rows | of them | noise | features |"


class Unspared(ThresherRegressor):
    """The regressor with weights that cost nothing."""

    decisions = without(ThresherRegressor.decisions, Sparing)


class Drawing(NamedTuple):
    """Rows to learn from and rows to judge by."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray


def columns(kind: str, n_rows: int, n_columns: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of a kind."""
    if kind == "counts":
        return rng.poisson(rng.gamma(0.5, 0.2, n_columns), (n_rows, n_columns)).astype(float)
    noise = rng.normal(size=(n_rows, n_columns))
    if kind == "normal":
        return noise
    return 0.2 * rng.normal(size=(n_rows, 20)) @ rng.normal(size=(20, n_columns)) + noise


def draw(kind: str, shape: tuple[int, int, float], seed: int) -> Drawing:
    """Return a drawing."""
    (n_rows, n_columns, noise), rng = shape, np.random.default_rng(seed)
    X = columns(kind, n_rows + NEW_ROWS, n_columns, rng)
    weights = np.zeros(n_columns)
    effects = rng.normal(size=INFORMATIVE)
    weights[rng.choice(n_columns, INFORMATIVE, replace=False)] = effects + np.sign(effects)
    told = X @ weights
    y = told / told.std() + noise * rng.normal(size=told.size)
    return Drawing(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def of_lasso(data: Drawing, size: int) -> tuple[float, float]:
    """Return R2 of the Lasso whose size is nearest to the wanted one, and of a ridge on that."""
    means, centre = data.X.mean(axis=0), data.y.mean()
    _, paths, _ = lasso_path(data.X - means, data.y - centre, eps=1e-3, alphas=200)
    found = paths[:, np.abs((paths != 0).sum(axis=0) - size).argmin()]
    lasso = r2_score(data.y_new, centre + (data.X_new - means) @ found)
    mine = np.flatnonzero(found)
    ridge = RidgeCV(np.logspace(-2, 4, 20)).fit(data.X[:, mine], data.y)
    return lasso, ridge.score(data.X_new[:, mine], data.y_new)


def ours(kind: Any, data: Drawing, size: Any) -> tuple[float, float]:
    """Return R2 of one of ours, and how many features it has."""
    model = kind(n_features_to_select=size, random_state=0).fit(data.X, data.y)
    return model.score(data.X_new, data.y_new), model.n_features_selected_


def given(data: Drawing, size: int) -> list[float]:
    """Return R2 of all at a size."""
    return [
        *(ours(kind, data, size)[0] for kind in (ThresherRegressor, Unspared)),
        *of_lasso(data, size),
    ]


def chosen(data: Drawing) -> list[float]:
    """Return R2 and number of features of those that choose themselves."""
    rival = LassoCV(cv=5, alphas=50).fit(data.X, data.y)
    theirs = rival.score(data.X_new, data.y_new), np.count_nonzero(rival.coef_)
    return [*ours(ThresherRegressor, data, "auto"), *theirs]


def cases(kinds: list[str]) -> Iterator[tuple[str, list[Drawing]]]:
    """Yield the beginnings of lines, with the drawings that they are of."""
    for kind in kinds:
        for shape in SHAPES:
            drawings = [draw(kind, shape, seed) for seed in range(DRAWINGS)]
            yield f"| {kind} | {shape[0]} | {shape[1]:,} | {shape[2]:g} |", drawings


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = ["normal", "correlated", "counts"]
    parser.add_argument("--kind", action="append", choices=kinds, help="one kind; repeatable")
    asked = parser.parse_args().kind or kinds
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{HEAD} regressor | weights that cost nothing | Lasso | Lasso, then ridge |")
    print("|---|---|---|---|---|---|---|---|---|")
    for begin, drawings in cases(asked):
        for size in SIZES:
            means = np.mean([given(data, size) for data in drawings], axis=0)
            print(begin, size, "|", " | ".join(f"{one:.2f}" for one in means), "|", flush=True)
    print("\n| columns | rows | of them | noise | regressor | features | Lasso | features |")
    print("|---|---|---|---|---|---|---|---|")
    for begin, drawings in cases(asked):
        mine, size, theirs, other = np.mean([chosen(data) for data in drawings], axis=0)
        print(begin, f"{mine:.2f} | {size:.0f} | {theirs:.2f} | {other:.0f} |", flush=True)


if __name__ == "__main__":
    main()
