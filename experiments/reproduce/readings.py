"""The paper's method by other readings of its text, on the sets that are exactly the paper's.

Where the text leaves something open, a reading closes it; settings are chosen as those of the lines
are, and also by the smallest error in the folds. Columns are divided by the root mean square of
their nonzero values, with which most errors of the other methods agree.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from experiments.data import Split
from experiments.records import Record
from experiments.reproduce import paper
from experiments.reproduce.lines import (
    PERMUTATIONS,
    SETS,
    folds,
    loaded,
    most_accurate,
    result,
    scaled,
    score,
    sparsest_of_the_best,
)
from experiments.reproduce.methods import LOSSES, METHODS, combinations

SCALING = "nonzero-rms"
METHOD = METHODS["stabilized-paper"]
CHOICES = {"sparsest": sparsest_of_the_best, "most accurate": most_accurate}
GRID = {"annealing_rate": [-7.0, 0.0, 3.0], "purge_threshold": [0.5, 0.7, 0.9], "max_iter": [20]}
SMALL_STEPS = [0.001, 0.003, 0.01, 0.03]


class Reading(NamedTuple):
    """What is read, the values it may choose from, and whether p counts what never occurs."""

    title: str
    grid: Mapping[str, list[Any]]
    all_columns: bool = False


READINGS = {
    "printed": Reading("as printed, p counts all columns", GRID, all_columns=True),
    "occurring": Reading("p counts the columns that occur in the training rows", GRID),
    "evidence": Reading("... and features need evidence", {**GRID, "min_evidence": [10, 100]}),
    "small steps": Reading("... and steps are small", {**GRID, "eta0": SMALL_STEPS}),
    "growth": Reading("... and bursts grow", {**GRID, "burst_growth": [0.5]}),
    "growth, falling steps": Reading(
        "... and bursts grow, steps fall as 1 / sqrt(t)",
        {**GRID, "burst_growth": [0.5], "eta0": [0.1, 0.3], "learning_rate": ["invsqrt"]},
    ),
    "every": Reading("... and every burst counts (Definition 1)", {**GRID, "selection": ["every"]}),
    "every, small steps": Reading(
        "... and every burst counts, steps are small",
        {**GRID, "selection": ["every"], "eta0": SMALL_STEPS},
    ),
    "code": Reading(
        "... with the settings of the authors' example",
        {
            "burst_size": [20],
            "burst_growth": [0.5],
            "rejection_rate": [0.8],
            "annealing_rate": [-9.0],
            "purge_threshold": [0.85],
            "n_paths": [4],
            "eta0": [1.0],
            "learning_rate": ["invsqrt"],
            "max_iter": [20],
        },
    ),
}
EXACT = [name for name in SETS if paper.size(name) and name not in paper.STANDS_FOR]
TASKS: list[Record] = [
    {"set": name, "loss": loss, "reading": reading}
    for name, loss, reading in product(EXACT, LOSSES, READINGS)
]


def measure(task: Record) -> Record:
    """Return, for both ways to choose settings, what was chosen and what permutations gave."""
    reading, loss = READINGS[task["reading"]], task["loss"]
    parts = [_read(part, reading) for part in folds(loaded(task["set"]), SCALING)]
    scores = [score(METHOD, loss, params, parts) for params in combinations(reading.grid)]
    split = _read(scaled(loaded(task["set"]), SCALING), reading)
    n_columns = loaded(task["set"]).X_train.shape[1]
    found = {}
    for name, choose in CHOICES.items():
        params = choose(scores)
        results = [result(METHOD, loss, params, split, seed) for seed in range(PERMUTATIONS)]
        found[name] = {
            "params": params,
            "errors": [one.error for one in results],
            "percents": [100 * one.support.size / n_columns for one in results],
        }
    return found


def _read(split: Split, reading: Reading) -> Split:
    """Return the columns that a reading counts."""
    if reading.all_columns:
        return split
    kept = np.flatnonzero(split.X_train.getnnz(axis=0))
    return split._replace(X_train=split.X_train[:, kept], X_test=split.X_test[:, kept])
