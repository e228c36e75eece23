"""Everybody at the same sizes on other splits of all rows: how much hangs on the published one."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedShuffleSplit

from experiments.claim.judging import missed, support
from experiments.claim.rivals import Rival
from experiments.claim.steps import SCALING, chosen_step
from experiments.datasets import Split
from experiments.fitting import prepared
from experiments.store import Store

SPLITS = 5


def resplits_of(data: Split) -> list[Split]:
    """Return random splits of all rows, stratified, with parts as large as the published ones."""
    X = sparse.csr_matrix(sparse.vstack([data.X_train, data.X_test]))
    y = np.concatenate([data.y_train, data.y_test])
    sizes = {"train_size": len(data.y_train), "test_size": len(data.y_test)}
    maker = StratifiedShuffleSplit(SPLITS, random_state=0, **sizes)
    parts = maker.split(np.zeros(len(y)), y)
    return [Split(X[train], y[train], X[test], y[test]) for train, test in parts]


def resplit(dataset: str, rival: Rival, store: Store) -> dict[str, Any]:
    """Measure a method at every size on each of the splits; penalties are bisected on each.

    Rows are scaled one by one, so that no part knows the other.
    """
    params = chosen_step(dataset, rival, store)
    sizer, wanted = rival.sizer(params), rival.sizes(dataset)
    points: dict[int, dict[str, Any]] = {
        size: {"size": size, "missed": [], "features": []} for size in wanted
    }
    for seed, data in enumerate(resplits_of(prepared(dataset, SCALING))):
        for size, setting in sizer.settings(data.X_train, data.y_train, wanted).items():
            model = sizer.model(setting, data.X_train, data.y_train, seed)
            points[size]["missed"].append(int(missed(model, data).sum()))
            points[size]["features"].append(len(support(model, data)))
    return {"params": params, "points": list(points.values())}
