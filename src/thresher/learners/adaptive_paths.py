"""What the flagship asks of all its paths together."""

from typing import cast

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.judging import path_sums
from thresher.learners.adaptive_unit import AdaptiveUnit
from thresher.learners.paths import Paths
from thresher.learners.selection import Columns
from thresher.learners.stacking import joined


def units_of(paths: Paths) -> list[AdaptiveUnit]:
    """Return the units as what they are."""
    return cast(list[AdaptiveUnit], paths.units)


def columns_in(paths: Paths, vocabulary: Vocabulary) -> Columns:
    """Return what says which columns the features of some places are."""
    return lambda places: vocabulary.columns_of(paths.slots(places))


def mean_weights(
    paths: Paths, selecting: bool = False, fitting: bool = False
) -> tuple[np.ndarray, float]:
    """Return the average over paths: all of them, or those that lead among who selects, or fits."""
    units, careful = units_of(paths), paths.stage.careful
    everyone = not (selecting or fitting)
    total = paths.notes.pop("sums", None) if everyone else None
    if total is None:
        total = np.zeros(paths.n_slots)
        if everyone and len(units) == paths.n_paths > 1:
            path_sums(joined([unit.arrays.by_slot for unit in units], "weights", 0), total)
        else:
            for unit in units:
                unit.add_weights(total, unit.lanes_that(selecting, fitting, careful))
    bias, count = 0.0, 0
    for unit in units:
        lanes = unit.lanes_that(selecting, fitting, careful)
        bias += float(unit.arrays["bias"][0, lanes.start : lanes.stop].sum(dtype=np.float64))
        count += len(lanes)
    total /= count
    return total, bias / count


def note_sums(paths: Paths, sums: list[np.ndarray]) -> None:
    """Note every slot's sum of weights over all paths, from the sums of each unit.

    They are good for the next who asks for a mean, unless there are updates before.
    """
    total = sums[0]
    for others in sums[1:]:
        total += others
    paths.notes["sums"] = total


def forget_sums(paths: Paths) -> None:
    """Drop sums that nobody has asked for: weights are about to change."""
    paths.notes.pop("sums", None)


def bias_total(paths: Paths) -> float:
    """Return the sum over paths and ends of bursts of the constant input's weight."""
    return sum(float(unit.arrays["bias_total"][0]) for unit in paths.units)


def gather(paths: Paths) -> None:
    """Let all paths go on from the mean of those that lead and fit."""
    weights, bias = mean_weights(paths, fitting=True)
    for unit in units_of(paths):
        unit.join()
        unit.set_weights(np.flatnonzero(paths.stable), weights[paths.stable], bias)


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
