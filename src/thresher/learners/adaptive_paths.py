"""What the flagship asks of all its paths together."""

from typing import cast

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.learners.adaptive_unit import AdaptiveUnit
from thresher.learners.paths import Paths
from thresher.learners.selection import Columns


def units_of(paths: Paths) -> list[AdaptiveUnit]:
    """Return the units as what they are."""
    return cast(list[AdaptiveUnit], paths.units)


def columns_in(paths: Paths, vocabulary: Vocabulary) -> Columns:
    """Return what says which columns the features of some places are."""
    return lambda places: vocabulary.columns_of(paths.slots(places))


def mean_weights(
    paths: Paths, selecting: bool = False, fitting: bool = False
) -> tuple[np.ndarray, float]:
    """Return the average over paths: all of them, or those that select, or those that fit."""
    total, bias, count = np.zeros(paths.n_slots), 0.0, 0
    for unit in units_of(paths):
        lanes = unit.fitting if fitting else range(unit.lanes)
        lanes = range(unit.fitting.start) if selecting else lanes
        unit.add_weights(total, lanes)
        bias += float(unit.arrays["bias"][0, lanes.start : lanes.stop].sum(dtype=np.float64))
        count += len(lanes)
    total /= count
    return total, bias / count


def bias_total(paths: Paths) -> float:
    """Return the sum over paths and ends of bursts of the constant input's weight."""
    return sum(float(unit.arrays["bias_total"][0]) for unit in paths.units)


def has_fitting(paths: Paths) -> bool:
    """Return whether there are paths to fit while others select."""
    return any(len(unit.fitting) for unit in units_of(paths))


def refuse_other_dtype(paths: Paths, dtype: np.dtype) -> None:
    """Raise a ValueError if the paths were trained in another precision."""
    trained = units_of(paths)[0].dtype
    if trained != dtype:
        raise ValueError(
            f"dtype={dtype.name!r}, but {trained.name} weights have been trained; warm starts and "
            "partial_fit go on with those. Set dtype back, or begin anew: fit, warm_start=False."
        )
