"""What is kept of every feature, whatever the paths."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from thresher.data.growth import Arrays
from thresher.data.scattered import Scattered
from thresher.files import access


def new_features(means: Iterable[str], by_slot: Iterable[str]) -> Arrays:
    """Return what is known before the first row, with running means of intercept and weights.

    ``by_slot`` are those of the means that every feature has.
    """
    return Arrays(
        {
            "purged_at": np.zeros(0, np.int32),  # number of the stage; 0 if never
            "evidence": np.zeros(0, np.int64),
            "selected": np.zeros(0, np.int64),
            "probability": np.zeros(0),
            "pull": np.zeros(0),  # see thresher.learners.alone
            **{name: np.zeros(0) for name in by_slot},
        },
        {"pull_facts": np.zeros(3), **{f"bias_{name}": np.zeros(1) for name in means}},
        resting={
            "purged_at": 0,
            "evidence": 0,
            "selected": 0,
            "probability": 1.0,
            "pull": 0.0,
            **dict.fromkeys(by_slot, 0.0),
        },
    )


def features_tree(features: Arrays, scattered: dict[str, Scattered]) -> dict[str, Any]:
    """Return features as a tree of plain values, with slots and who was purged, as files have it.

    ``scattered`` are numbers that only few of them have.
    """
    n_slots = features.n_slots
    facts = {"slot": np.arange(n_slots), "purged": features.shown("purged_at") > 0}
    tree = features.tree()
    few = {name: one.spread(n_slots) for name, one in scattered.items()}
    return {**tree, "by_slot": {**facts, **tree["by_slot"], **few}}


def features_from_tree(
    tree: dict[str, Any], fresh: Arrays, few: Iterable[str]
) -> tuple[Arrays, dict[str, Scattered]]:
    """Return the features that gave a tree, like ``fresh`` ones, and numbers that ``few`` have."""
    by_slot = dict(access.branch(tree, "by_slot"))
    n_slots = access.whole(tree, "n_slots")
    slots = access.array(by_slot, "slot", np.int64, (n_slots,))
    purged = access.array(by_slot, "purged", np.bool_, (n_slots,))
    scattered = {
        name: Scattered.of(access.array(by_slot, name, np.float64, (n_slots,))) for name in few
    }
    kept = {k: v for k, v in by_slot.items() if k not in ("slot", "purged", *scattered)}
    features = fresh.from_tree({**tree, "by_slot": kept})
    if not np.array_equal(slots, np.arange(n_slots)):
        access.refuse("features are numbered in no known way")
    if not np.array_equal(purged, features.shown("purged_at") > 0):
        access.refuse("features were purged that never were")
    return features, scattered
