"""The rivals' steps, chosen by cross-validation on training rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.choose import folds_of
from experiments.claim.judging import missed
from experiments.claim.rivals import Rival
from experiments.claim.sizes import choosing_sizes
from experiments.datasets import Split
from experiments.fitting import prepared
from experiments.methods import Params
from experiments.store import Store, fingerprint

SCALING = "row-l2"
PROTOCOL = 1  # raise it when the meaning of a cell changes
FOLDS = 3


def recipe(kind: str, rival: Rival, extent: Sequence[Any]) -> str:
    """Return the name of what decides a cell, as far as it can be known without fitting."""
    return fingerprint([PROTOCOL, kind, rival.recipe, list(extent)])


def chosen_step(dataset: str, rival: Rival, store: Store) -> Params:
    """Return a method's setting on a set, chosen and kept now unless it is there."""
    sizes = choosing_sizes(dataset)
    key, made_by = ("step", dataset, rival.name), recipe("step", rival, sizes)
    found = store.read(key, made_by)
    if found is None:
        found = choose_step(prepared(dataset, SCALING), rival, sizes)
        store.write(key, made_by, found)
    return found["params"]


def choose_step(data: Split, rival: Rival, sizes: Sequence[int]) -> dict[str, Any]:
    """Choose the step with the least mean error over folds and sizes.

    Penalties are bisected on the first fold. Rows are scaled one by one: no fold knows another.
    """
    if len(rival.settings) == 1:
        return {"params": rival.settings[0], "errors": []}
    folds = list(folds_of(data.X_train, data.y_train, FOLDS))
    errors = [_cross_validated(rival, params, folds, sizes) for params in rival.settings]
    return {"params": rival.settings[int(np.argmin(errors))], "errors": errors}


def _cross_validated(
    rival: Rival, params: Params, folds: Sequence[Split], sizes: Sequence[int]
) -> float:
    sizer, first = rival.sizer(params), folds[0]
    settings = sizer.settings(first.X_train, first.y_train, sizes)
    errors = [
        missed(sizer.model(setting, fold.X_train, fold.y_train, 0), fold).mean()
        for fold in folds
        for setting in settings.values()
    ]
    return 100 * float(np.mean(errors))
