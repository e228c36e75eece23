"""What is kept of every feature, whatever the paths."""

from collections.abc import Iterable

import numpy as np

from thresher.data.growth import Arrays


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
