"""Error and stability at the same number of features: a path over a method's sparsity parameter.

Single settings can flatter any method; at matched sparsity all stand on the same ground.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from experiments.methods import Knob

TARGETS = (50, 100, 200, 500, 1000)


def place(knob: Knob, share: float) -> float:
    """Return the knob's value at a share of the way from its dense to its sparse end."""
    if knob.scale == "linear":
        return knob.dense + share * (knob.sparse - knob.dense)
    if knob.scale == "complement":  # a rate near 1: what it leaves falls geometrically
        return 1 - (1 - knob.dense) * ((1 - knob.sparse) / (1 - knob.dense)) ** share
    value = knob.dense * (knob.sparse / knob.dense) ** share
    return round(value) if knob.scale == "integer" else value


def ladder(
    count: Callable[[float], int],
    targets: Sequence[int] = TARGETS,
    coarse: int = 7,
    most: int = 20,
) -> list[float]:
    """Return places in [0, 1] whose models have sizes around all targets.

    ``count`` gives a model's number of features at a place. A coarse scan is refined where two
    neighbours enclose a target with sizes more than a quarter apart; most of the way outside the
    targets is left alone. Counts need not fall evenly: neighbours are neighbours in place.
    """
    sizes = {share: count(share) for share in np.linspace(0, 1, coarse).tolist()}
    while len(sizes) < most:
        gap = _widest_gap(sizes, targets)
        if gap is None:
            break
        sizes[gap] = count(gap)
    return sorted(sizes)


def _widest_gap(sizes: dict[float, int], targets: Sequence[int]) -> float | None:
    """Return the middle of the neighbours that enclose a target most loosely."""
    widest, middle = math.log(1.25), None
    places = sorted(sizes)
    for left, right in itertools.pairwise(places):
        high, low = max(sizes[left], sizes[right]), min(sizes[left], sizes[right])
        encloses = any(low <= target <= high for target in targets)
        width = math.log(high + 1) - math.log(low + 1)
        if encloses and width > widest and right - left > 1e-3:
            widest, middle = width, (left + right) / 2
    return middle


def interpolate(sizes: Sequence[float], values: Sequence[float], target: float) -> float:
    """Return the value at a target size, linear in the logarithm of the size.

    Points of equal size are averaged. Outside the sizes seen there is no value: nan.
    """
    seen = np.asarray(sizes, dtype=float)
    usable = (seen > 0) & np.isfinite(values)
    if not usable.any():
        return float("nan")
    logs, inverse = np.unique(np.log(seen[usable]), return_inverse=True)
    means = np.bincount(inverse, np.asarray(values)[usable]) / np.bincount(inverse)
    return float(np.interp(math.log(target), logs, means, left=math.nan, right=math.nan))
