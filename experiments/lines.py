"""The lines of the study, what their cells are made by, and the choice of their settings."""

from typing import Any, NamedTuple

import numpy as np

from experiments.choose import Trial, folds_of, score_all, sparsest_within_one_standard_error
from experiments.datasets import Split
from experiments.fitting import fit_and_judge, training_rows
from experiments.methods import Params, method
from experiments.registry import named
from experiments.scaling import scaled
from experiments.scope import Scope
from experiments.store import Store, fingerprint

PROTOCOL = 1  # raise it when the meaning of a cell changes: old cells are then computed again
DATA_RECIPE = fingerprint(["data", PROTOCOL])


class Line(NamedTuple):
    """One line of the study: a method with a loss on a scaled data set."""

    dataset: str
    scaling: str
    method: str
    loss: str


def recipe(line: Line, *ingredients: Any) -> str:
    """Return the name of everything that decides a cell's result."""
    return fingerprint([PROTOCOL, dict(method(line.method).fixed), *ingredients])


def choice_recipe(line: Line, scope: Scope) -> str:
    """Return the recipe of a choice: the settings tried."""
    return recipe(line, scope.name, settings_of(line, scope), method(line.method).choice_rows)


def settings_of(line: Line, scope: Scope) -> list[Params]:
    """Return the settings a line chooses from."""
    return scope.settings(method(line.method), line.scaling, named(line.dataset))


def choose(line: Line, scope: Scope, store: Store) -> None:
    """Choose a line's setting by cross-validation; a single one needs none."""
    key, made_by = ("choice", *line), choice_recipe(line, scope)
    if store.read(key, made_by) is not None:
        return
    settings = settings_of(line, scope)
    if len(settings) == 1:
        store.write(key, made_by, {"params": settings[0], "scores": [], "folds": 0})
        return
    folds = _folds(line, scope)
    scores = score_all(settings, folds, _trial(line))
    chosen = sparsest_within_one_standard_error(scores)
    table = [score._asdict() for score in scores]
    store.write(key, made_by, {"params": chosen.params, "scores": table, "folds": len(folds)})


def _folds(line: Line, scope: Scope) -> list[Split]:
    """Return the folds of the training rows, each scaled by what its own training part tells."""
    X, y = training_rows(line.dataset)
    maker = method(line.method)
    if maker.choice_rows is not None and maker.choice_rows < len(y):
        some = np.random.default_rng(0).permutation(len(y))[: maker.choice_rows]
        X, y = X[some], y[some]
    n_folds = scope.folds(maker, len(y))
    return [scaled(fold, line.scaling) for fold in folds_of(X, y, n_folds)]


def _trial(line: Line) -> Trial:
    def trial(params: Params, fold: Split) -> tuple[float, float]:
        verdict, _ = fit_and_judge(method(line.method), line.loss, params, fold, seed=0)
        return verdict.error, verdict.percent

    return trial


def chosen_params(line: Line, scope: Scope, store: Store) -> Params | None:
    """Return the setting chosen for a line, None before it is chosen."""
    choice = store.read(("choice", *line), choice_recipe(line, scope))
    return None if choice is None else choice["params"]
