"""Everybody at the same sizes: on the official split, and on random halves of the training rows."""

import time
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from experiments.claim.judging import missed, pack_counts, support
from experiments.claim.rivals import Rival
from experiments.claim.sizes import shares
from experiments.claim.steps import SCALING, chosen_step
from experiments.datasets import Split
from experiments.fitting import prepared
from experiments.methods import Params
from experiments.overlaps import overlaps_of, triangle
from experiments.store import Store

HALVINGS = 4


def match(dataset: str, rival: Rival, store: Store, scaling: str = SCALING) -> dict[str, Any]:
    """Measure a method at every size on the official split."""
    params = chosen_step(dataset, rival, store)
    data, sizer = prepared(dataset, scaling), rival.sizer(params)
    started = time.perf_counter()
    settings = sizer.settings(data.X_train, data.y_train, rival.sizes(dataset))
    points = [_point(size, settings[size], rival, params, data) for size in settings]
    return {"params": params, "seconds": time.perf_counter() - started, "points": points}


def _point(size: int, setting: Any, rival: Rival, params: Params, data: Split) -> dict[str, Any]:
    sizer = rival.sizer(params)
    models = [sizer.model(setting, data.X_train, data.y_train, seed) for seed in rival.seeds]
    wrong = np.array([missed(model, data) for model in models])
    return {
        "size": size,
        "setting": setting,
        "missed": wrong.sum(axis=1).tolist(),
        "rows": pack_counts(wrong.sum(axis=0)),
        "overlaps": triangle(overlaps_of([support(model, data) for model in models])),
    }


def halve(dataset: str, rival: Rival, store: Store) -> dict[str, Any]:
    """Measure how much selections on halves of the training rows agree; the same halves for all.

    Penalties are bisected on every half, so that sizes are the same.
    """
    params = chosen_step(dataset, rival, store)
    data, sizer, wanted = prepared(dataset, SCALING), rival.sizer(params), shares(dataset)
    selected: dict[int, list[np.ndarray]] = {size: [] for size in wanted}
    for rows in halves_of(data.y_train):
        X, y = data.X_train[rows], data.y_train[rows]
        for size, setting in sizer.settings(X, y, wanted).items():
            selected[size].append(support(sizer.model(setting, X, y, 0), data))
    points = [
        {"size": size, "overlaps": triangle(overlaps_of(sets))} for size, sets in selected.items()
    ]
    return {"params": params, "points": points}


def halves_of(y: np.ndarray) -> list[np.ndarray]:
    """Return the rows of every half; halves 2i and 2i + 1 are each other's complement."""
    found = []
    for seed in range(HALVINGS):
        maker = StratifiedKFold(2, shuffle=True, random_state=seed)
        found += [half for half, _ in maker.split(np.zeros(len(y)), y)]
    return found
