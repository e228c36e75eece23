"""Lines of the tables: a method with a loss on a scaled set, over permutations of the rows.

A line chooses its setting by cross-validation on the training rows: the sparsest within a standard
error of the best. Then each permutation of the training rows is learned with it, and tested.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler, normalize

from experiments import data
from experiments.data import Split
from experiments.records import Record
from experiments.reproduce import paper
from experiments.reproduce.methods import METHODS, Method, Params
from thresher.stability import mean_pairwise_kappa, nogueira_stability

PERMUTATIONS, ORACLE_PERMUTATIONS = 10, 3
FEW_ROWS = 500  # up to so many there are five folds, above three
LOOKS = (5, 10, 20, 30, 40, 50, 60)  # passes after which the oracle looks


class Result(NamedTuple):
    """Test error and share of nonzero weights in percent, and which these are."""

    error: float
    percent: float
    support: np.ndarray


# ------------------------------------------------------------------------------------ scalings


def unit_variance(train: Any, *others: Any) -> tuple[Any, ...]:
    """Divide each column by its standard deviation over all rows, as the paper does, uncentred."""
    scaler = StandardScaler(with_mean=False).fit(train)
    return tuple(scaler.transform(rows) for rows in (train, *others))


def nonzero_rms(train: Any, *others: Any) -> tuple[Any, ...]:
    """Divide each column by the root mean square of its nonzero values.

    A rare column keeps its size, where unit variance makes it large. So does the authors' code.
    """
    squares = np.asarray(train.multiply(train).sum(axis=0)).ravel()
    sizes = np.sqrt(squares / np.maximum(train.getnnz(axis=0), 1))
    shrink = sparse.diags(1 / np.where(sizes > 0, sizes, 1.0))
    return tuple((rows @ shrink).tocsr() for rows in (train, *others))


def row_l2(train: Any, *others: Any) -> tuple[Any, ...]:
    """Divide each row by its length."""
    return tuple(normalize(rows) for rows in (train, *others))


SCALINGS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "unit-variance": unit_variance,
    "nonzero-rms": nonzero_rms,
    "row-l2": row_l2,
}
loaded = lru_cache(maxsize=1)(data.load)


def scaled(split: Split, scaling: str) -> Split:
    """Scale both parts by what the training part tells."""
    X_train, X_test = SCALINGS[scaling](split.X_train, split.X_test)
    return Split(X_train, split.y_train, X_test, split.y_test)


@lru_cache(maxsize=1)
def prepared(name: str, scaling: str) -> Split:
    """Return a set, loaded and scaled."""
    return scaled(loaded(name), scaling)


# ---------------------------------------------------------------------------------------- fits


def fit(method: Method, loss: str, params: Params, split: Split, seed: int) -> Any:
    """Fit on the seed's permutation of the training rows; return the model."""
    order = np.random.default_rng(seed).permutation(split.y_train.size)
    X, y = split.X_train[order], split.y_train[order]
    model = method.build(loss, seed, params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # passes are part of the protocol
        return model.fit(X, y)


def result(method: Method, loss: str, params: Params, split: Split, seed: int) -> Result:
    """Fit and test. Of a run whose numbers overflow all predictions count as wrong."""
    columns = split.X_train.shape[1]
    try:
        model = fit(method, loss, params, split, seed)
        wrong = (model.decision_function(split.X_test) > 0) != (split.y_test > 0)
    except ValueError as error:
        if "overflow" not in str(error):
            raise
        return Result(100.0, 100.0, np.arange(columns))
    support = np.flatnonzero(np.asarray(model.coef_).ravel())
    return Result(100 * float(wrong.mean()), 100 * support.size / columns, support)


# -------------------------------------------------------------------------- choice of a setting


class Score(NamedTuple):
    """A setting, with its errors and mean share of nonzero weights in the folds, in percent."""

    params: Params
    errors: Sequence[float]
    percent: float


def sparsest_of_the_best(scores: Sequence[Score]) -> Params:
    """Return the sparsest setting whose error is within one standard error of the best.

    Of equally sparse ones the more accurate, then the earlier. A model without any weight is chosen
    only if all are.
    """
    best = _best(scores)
    bound = np.mean(best.errors) + np.std(best.errors, ddof=1) / math.sqrt(len(best.errors))
    near = [score for score in _usable(scores) if np.mean(score.errors) <= bound]
    return min(near, key=lambda score: (score.percent, np.mean(score.errors))).params


def most_accurate(scores: Sequence[Score]) -> Params:
    """Return the setting with the smallest error, of models with a weight if there are such."""
    return _best(scores).params


def _best(scores: Sequence[Score]) -> Score:
    return min(_usable(scores), key=lambda score: np.mean(score.errors))


def _usable(scores: Sequence[Score]) -> list[Score]:
    return [score for score in scores if score.percent > 0] or list(scores)


def score(method: Method, loss: str, params: Params, parts: Sequence[Split]) -> Score:
    """Try a setting on folds."""
    tried = [result(method, loss, params, part, 0) for part in parts]
    percent = float(np.mean([one.percent for one in tried]))
    return Score(params, [one.error for one in tried], percent)


def folds(split: Split, scaling: str) -> Iterator[Split]:
    """Yield the folds of the training rows, each scaled by its own training part."""
    X, y = split.X_train, split.y_train
    maker = StratifiedKFold(5 if y.size <= FEW_ROWS else 3, shuffle=True, random_state=0)
    for train, held in maker.split(X, y):
        yield scaled(Split(X[train], y[train], X[held], y[held]), scaling)


def choose(task: Record) -> Params:
    """Return the setting of a line."""
    method = METHODS[task["method"]]
    settings = method.settings(task["scaling"])
    if len(settings) == 1:
        return settings[0]
    parts = list(folds(loaded(task["set"]), task["scaling"]))
    scores = [score(method, task["loss"], params, parts) for params in settings]
    return sparsest_of_the_best(scores)


# --------------------------------------------------------------------------------------- lines


def measure(task: Record) -> Record:
    """Return the choice of a line, and what its permutations gave."""
    method, loss = METHODS[task["method"]], task["loss"]
    params = choose(task)
    split = prepared(task["set"], task["scaling"])
    results = [result(method, loss, params, split, seed) for seed in range(PERMUTATIONS)]
    masks = np.zeros((PERMUTATIONS, split.X_train.shape[1]), np.bool_)
    for mask, one in zip(masks, results, strict=True):
        mask[one.support] = True
    found: Record = {
        "params": params,
        "errors": [one.error for one in results],
        "percents": [one.percent for one in results],
        "kappa": _number(mean_pairwise_kappa(masks)),
        "stability": [_number(one) for one in nogueira_stability(masks)[:3]],
    }
    looks = [passes for passes in LOOKS if passes <= params.get("max_iter", 0)]
    if method.oracle and len(looks) > 1:
        found["oracle"] = _oracle(method, loss, params, split, looks)
    return found


def _oracle(
    method: Method, loss: str, params: Params, split: Split, looks: Sequence[int]
) -> Record:
    """Return the lowest *test* error along runs, as the authors' code reports it.

    Training has no horizon, so stopping earlier is a shorter run with the same seed.
    """
    best = []
    for seed in range(ORACLE_PERMUTATIONS):
        runs = [result(method, loss, {**params, "max_iter": n}, split, seed) for n in looks]
        best.append(min(runs, key=lambda one: one.error))
    return {"errors": [one.error for one in best], "percents": [one.percent for one in best]}


def _number(value: float) -> float | None:
    """Return a number as JSON has it: there is no nan."""
    return None if math.isnan(value) else value


def methods_on(name: str, scaling: str) -> list[str]:
    """Return the methods tried on a scaled set; the second reading is of the paper alone."""
    if scaling != "nonzero-rms":
        return list(METHODS)
    return [one for one in METHODS if METHODS[one].in_paper and paper.size(name)]


SETS = data.of_role("paper", "extension")
TASKS: list[Record] = [
    {"set": name, "scaling": scaling, "method": method, "loss": loss}
    for name, scaling in product(SETS, SCALINGS)
    for method in methods_on(name, scaling)
    for loss in METHODS[method].losses
]
