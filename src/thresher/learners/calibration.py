"""How likely a refit on a random half of the rows is to select each feature again.

Every refit selects as many features as the fit did, so the probabilities sum to that number. What
tells features apart is how far their score is from the cut between selected and purged, in units
of its noise: the noise is the smaller the more evidence the features at the cut have. So

    P_j = logistic(slope z^power d_j - shift),   sum of all P_j = number selected,

d_j = log(score_j / cut) below the cut and ``above`` times as much above it, where scores are of
features that went on learning when the others were gone; z is the median of
|w_j| (sum of x_j^2)^(1/2) over the features nearest to the cut. Only the strongest
features contend; the others have probability 0, for a hundred thousand times next to nothing would
be a lot.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from thresher.learners.selection import bar_at


class Constants(NamedTuple):
    """What makes a distance to the cut a probability."""

    slope: float
    power: float
    above: float


# Fitted to refits of eight data sets: python -m experiments.calibration prints them.
CONSTANTS = Constants(slope=2.05, power=0.27, above=3.79)
FEWEST_NEAR = 10  # features whose evidence is taken for that at the cut
CONTENDERS, FEWEST_CONTENDERS = 20, 2000  # for each feature that is kept; in all
FARTHEST = 50.0  # logarithm of a score over the cut; beyond it all is certain
HALVINGS = 40  # of the interval in which the shift is searched


class Standing(NamedTuple):
    """How features stood when last judged: scores, |w_j| (sum of x_j^2)^(1/2), how many stay."""

    scores: np.ndarray
    evidence: np.ndarray
    kept: int


def refit_probabilities(standing: Standing, constants: Constants = CONSTANTS) -> np.ndarray:
    """Return the probability that a refit on half of the rows selects each of the features."""
    n, kept = standing.scores.size, standing.kept
    if kept in (0, n):
        return np.full(n, float(kept > 0))
    distance = distance_to_cut(standing)
    if distance is None:  # nothing is known yet: all are alike
        return np.full(n, kept / n)
    steepness = constants.slope * evidence_at_cut(standing, distance) ** constants.power
    distance = np.where(distance > 0, constants.above * distance, distance)
    contending = min(max(CONTENDERS * kept, FEWEST_CONTENDERS), n)
    first = np.argpartition(-distance, contending - 1)[:contending]
    found = np.zeros(n)
    found[first] = shifted_to_sum(steepness * distance[first], kept)
    return found


def distance_to_cut(standing: Standing) -> np.ndarray | None:
    """Return log(score / cut), the cut being the last score that is kept; None if that is 0."""
    cut = bar_at(standing.scores, standing.kept)
    if not cut > 0:
        return None
    with np.errstate(divide="ignore"):
        distance = np.log(standing.scores) - np.log(cut)
    return np.clip(distance, -FARTHEST, FARTHEST)


def evidence_at_cut(standing: Standing, distance: np.ndarray) -> float:
    """Return the median evidence of the features nearest to the cut."""
    count = min(max(FEWEST_NEAR, standing.kept // 2), distance.size)
    near = np.argpartition(np.abs(distance), count - 1)[:count]
    return float(np.median(standing.evidence[near]))


def shifted_to_sum(logits: np.ndarray, total: float) -> np.ndarray:
    """Return the logistic function of logits, all moved alike so that it sums to ``total``."""
    low, high = logits.min() - FARTHEST, logits.max() + FARTHEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if expit(logits - middle).sum() > total:
            low = middle
        else:
            high = middle
    return expit(logits - high)
