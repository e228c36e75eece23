"""The paper's own protocol, where the test set chooses: the best of a run counts.

The authors' code takes the smallest test error of all bursts and paths. No user can have such a
model; the numbers only answer the paper's, which were made that way.
"""

from typing import Any

import numpy as np

from experiments import paper
from experiments.claim.along import WATCHED, errors_along
from experiments.claim.judging import missed, support
from experiments.claim.rivals import Rival
from experiments.claim.steps import SCALING
from experiments.fitting import fit, prepared
from experiments.methods import LOSSES
from experiments.registry import named
from experiments.store import Store

SETS = ("dexter", "dorothea", "arcene")
SEEDS, LOOKS = range(5), 8
SPARSEST = 20  # features


def looks(dataset: str, loss: str) -> list[int]:
    """Return the sizes at which the oracle looks, none above the paper's number of features."""
    printed = paper.printed("percent", dataset, "stabilized-paper", loss)
    assert printed is not None
    most = int(printed.mean / 100 * named(dataset).columns)
    return [round(size) for size in np.geomspace(SPARSEST, most, LOOKS)]


def all_looks(dataset: str) -> list[int | str]:
    """Return the looks of both losses, and where else there are any."""
    return [*(size for loss in LOSSES for size in looks(dataset, loss)), "bursts", "paths"]


def ask(dataset: str, _: Rival, __: Store) -> dict[str, Any]:
    """Let the test set choose the model, for every permutation anew."""
    return {loss: [_best(dataset, loss, seed) for seed in SEEDS] for loss in LOSSES}


def _best(dataset: str, loss: str, seed: int) -> dict[str, dict[str, float]]:
    """Return the best of the models that fits of several sizes end with, and of all on the way."""
    data, sizes = prepared(dataset, SCALING), looks(dataset, loss)
    ends, ways = [], []
    for size in sizes:
        params = {"n_features_to_select": size, "most_looked_at": max(sizes)}
        model, _ = fit(WATCHED, loss, params, data.X_train, data.y_train, seed)
        ends.append((float(missed(model, data).mean()), len(support(model, data))))
        ways += [one for one in errors_along(model, data) if one[1] <= max(sizes)]
    columns = data.X_train.shape[1]
    return {
        "end": _in_percent(min(ends), columns),
        "way": _in_percent(min([*ends, *ways]), columns),
    }


def _in_percent(best: tuple[float, int], columns: int) -> dict[str, float]:
    return {"error": 100 * best[0], "percent": 100 * best[1] / columns}
