"""The calibration of features that were weighed against each other: one slope for all sets."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import xlogy

from experiments.reliability import Pairs
from thresher.learners.calibration import Standing, weighed_probabilities

SURE = 1e-4  # probabilities nearer to 0 or 1 than this are not told apart
SLOPES = 0.3, 6.0  # in which the best is sought


class Weighed(Protocol):
    """One fit, and the share of refits that selected each of its features."""

    @property
    def name(self) -> str:
        """Return what its rows are called."""

    @property
    def size(self) -> int:
        """Return the number of features."""

    @property
    def standing(self) -> Standing:
        """Return how features stood."""

    @property
    def share(self) -> np.ndarray:
        """Return the shares of refits."""


def fitted_slope(measured: Sequence[Weighed]) -> float:
    """Return the slope that predicts the shares best; sets count alike."""
    names = [one.name for one in measured]
    weights = [1 / names.count(name) for name in names]

    def mean_deviance(slope: float) -> float:
        return float(np.average([_deviance(one, slope) for one in measured], weights=weights))

    return float(minimize_scalar(mean_deviance, bounds=SLOPES, method="bounded").x)


def _deviance(one: Weighed, slope: float) -> float:
    share, p = one.share, np.clip(weighed_probabilities(one.standing, slope), SURE, 1 - SURE)
    told = xlogy(share, share / p) + xlogy(1 - share, (1 - share) / (1 - p))
    return float(told.sum() / one.standing.kept)


def slopes_left_out(measured: Sequence[Weighed]) -> list[Pairs]:
    """Return predictions for every set by the slope of the others."""
    pairs = []
    for name in dict.fromkeys(one.name for one in measured):
        slope = fitted_slope([one for one in measured if one.name != name] or measured)
        for one in measured:
            if one.name == name:
                predicted = weighed_probabilities(one.standing, slope)
                pairs.append(Pairs(f"{name}, {one.size}", one.size, predicted, one.share))
    return pairs
