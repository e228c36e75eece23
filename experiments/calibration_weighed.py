"""The calibration of features that were weighed against each other: one slope for all sets."""

import numpy as np
from scipy.optimize import minimize_scalar

from experiments.measured import Measured, deviance
from experiments.reliability import Pairs
from thresher.learners.calibration import weighed_probabilities

SLOPES = 0.3, 6.0  # in which the best is sought


def fitted_slope(measured: list[Measured]) -> float:
    """Return the slope that predicts the shares best; sets count alike."""
    names = [one.name for one in measured]
    weights = [1 / names.count(name) for name in names]

    def mean_deviance(slope: float) -> float:
        deviances = [
            deviance(one.share, weighed_probabilities(one.standing, slope), one.standing.kept)
            for one in measured
        ]
        return float(np.average(deviances, weights=weights))

    return float(minimize_scalar(mean_deviance, bounds=SLOPES, method="bounded").x)


def slopes_left_out(measured: list[Measured]) -> list[Pairs]:
    """Return predictions for every set by the slope of the others."""
    pairs = []
    for name in dict.fromkeys(one.name for one in measured):
        slope = fitted_slope([one for one in measured if one.name != name] or measured)
        for one in measured:
            if one.name == name:
                predicted = weighed_probabilities(one.standing, slope)
                pairs.append(Pairs(f"{name}, {one.size}", one.size, predicted, one.share))
    return pairs
