"""Methods at the same numbers of features, where single settings cannot flatter any of them.

The parameter that makes a method sparser is bisected until its model has the wanted size; all else
is as the method's line chose it. Rows are of unit length, the loss is logistic.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.data import named
from experiments.records import Key, Record
from experiments.reproduce.lines import SETS, Result, prepared, result
from experiments.reproduce.methods import METHODS, Params
from thresher.stability import mean_pairwise_kappa

SCALING, LOSS = "row-l2", "log_loss"
SIZES = (50, 100, 200, 500, 1000)
PERMUTATIONS, HALVINGS = 3, 12
NEAR = 0.25  # how far a size may be from the wanted one

Chosen = Mapping[Key, Record]  # the records of lines


def measure(task: Record, lines: Chosen) -> Record:
    """Return sizes, errors and kappa at every wanted size; None where it is not reached."""
    line = lines.get((task["set"], SCALING, task["method"], LOSS))
    if line is None:
        raise ValueError("its line has not been measured yet")
    sizes = [size for size in SIZES if size < named(task["set"]).columns]
    return {"sizes": sizes, "points": [_point(task, line["params"], size) for size in sizes]}


def _point(task: Record, params: Params, size: int) -> Record | None:
    """Return what several permutations give at the value whose first one comes nearest."""
    method, split = METHODS[task["method"]], prepared(task["set"], SCALING)

    def at(share: float, seed: int) -> Result:
        knob = method.knob
        if knob is None:
            raise ValueError(f"{method.name} has no parameter that makes it sparser")
        return result(method, LOSS, {**params, knob.name: knob.at(share)}, split, seed)

    share = bisect(lambda share: at(share, 0).support.size, size)
    results = [at(share, seed) for seed in range(PERMUTATIONS)]
    if abs(results[0].support.size - size) > NEAR * size:
        return None
    masks = np.zeros((PERMUTATIONS, split.X_train.shape[1]), np.bool_)
    for mask, one in zip(masks, results, strict=True):
        mask[one.support] = True
    return {
        "selected": [one.support.size for one in results],
        "errors": [one.error for one in results],
        "kappa": mean_pairwise_kappa(masks),
    }


def bisect(count: Any, size: int) -> float:
    """Return the share of the way to the sparse end at which ``count`` comes nearest to a size."""
    low, high, best, nearest = 0.0, 1.0, 0.0, np.inf
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        n = count(middle)
        if abs(n - size) < nearest:
            best, nearest = middle, abs(n - size)
        if n == size:
            break
        low, high = (middle, high) if n > size else (low, middle)
    return best


TASKS: list[Record] = [
    {"set": name, "method": method.name}
    for name in SETS
    for method in METHODS.values()
    if method.knob is not None
]
