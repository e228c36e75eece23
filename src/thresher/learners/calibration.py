"""How likely a refit on a random half of the rows is to select each feature again.

Every refit selects as many features as the fit did, so the probabilities sum to that number. What
tells features apart is how far their score is from the cut between selected and purged, in units
of its noise: the noise is the smaller the more the features at the cut have to say. So

    P_j = logistic(slope z^power (n / kept)^crowd s^spread d_j - shift),   sum of all P_j = kept,

where ``kept`` of n features are selected. d_j = log(score_j / cut) below the cut and ``above``
times as much above it, where scores of a fit are of features that went on learning when the others
were gone. The cut is half-way between the last feature that stays and the first that goes: a few
that all say as much, far above the others, are sure for all that. s is the mean of d_j of those
that stay: the wider they stand above the cut, the more the same distance means. z is the median,
over the features nearest to the cut, of what each says alone, in standard deviations of what chance
would say (``thresher.learners.alone``): where there is nothing to learn the strongest of many still
seem to say two or three. Only the strongest features contend; the others have probability 0, for a
hundred thousand times next to nothing would be a lot.

On a stream weights are those of one pass, in one order; what rows have said of a feature alone is
the same in any order, and counts beside its score: ``own`` log(z_j / z) is added for each. How wide
they stand says nothing there.

Where features were weighed against each other (``thresher.train.exchange``) their scores are
certainties themselves, beside the others, and what a half of the rows says of them is as uncertain
for all. Rows are too sure of features that were chosen together, so what each says alone counts as
much:

    P_j = logistic(slope (score_j + alone_j) / 2 - shift).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from thresher.learners.selection import bar_at


class Constants(NamedTuple):
    """What makes a distance to the cut a probability."""

    slope: float
    power: float
    crowd: float
    above: float
    spread: float = 0.0
    own: float = 0.0


# Fitted to refits of real and made-up data: python -m experiments.calibration prints them. On a
# stream those above the cut have not gone on learning without the others.
CONSTANTS = Constants(slope=0.68, power=0.5, crowd=0.11, above=4.01, spread=0.23)
STREAM_CONSTANTS = Constants(slope=0.2, power=0.71, crowd=0.21, above=2.09, own=1.41)
WEIGHED_SLOPE = 2.07
LEAST = 0.5  # that features at the cut say; nothing is known of them after one row
FEWEST_NEAR = 10  # features that are asked what those at the cut say
# Mean distance of those that stay: the least where only one does, and its bounds.
USUAL_SPREAD, LEAST_SPREAD, MOST_SPREAD = 0.2, 0.05, 0.5
CONTENDERS, FEWEST_CONTENDERS = 20, 2000  # for each feature that is kept; in all
FARTHEST = 50.0  # logarithm of a score over the cut; beyond it all is certain
HALVINGS = 40  # of the interval in which the shift is searched


class Standing(NamedTuple):
    """How features stood when last judged: scores, what each says alone, and how many stay."""

    scores: np.ndarray
    alone: np.ndarray
    kept: int


class Contest(NamedTuple):
    """The features that may be selected, and what decides how surely each of them is.

    ``places`` are theirs among all, ``alone`` is what each says alone, ``said`` what those at the
    cut do, ``spread`` the mean distance to the cut of those that stay, and ``rivals`` how many
    features there are for each of these.
    """

    places: np.ndarray
    distance: np.ndarray
    alone: np.ndarray
    said: float
    spread: float
    rivals: float
    kept: int


def refit_probabilities(standing: Standing, constants: Constants = CONSTANTS) -> np.ndarray:
    """Return the probability that a refit on half of the rows selects each of the features."""
    n, kept = standing.scores.size, standing.kept
    if kept in (0, n):
        return np.full(n, float(kept > 0))
    contest = contest_of(standing)
    if contest is None:  # nothing is known yet: all are alike
        return np.full(n, kept / n)
    found = np.zeros(n)
    found[contest.places] = chances(contest, constants)
    return found


def weighed_probabilities(standing: Standing, slope: float = WEIGHED_SLOPE) -> np.ndarray:
    """Return the same of features that were weighed against each other."""
    n, kept = standing.scores.size, standing.kept
    if kept in (0, n):
        return np.full(n, float(kept > 0))
    certainties = (standing.scores + standing.alone) / 2
    first, found = contenders(certainties, kept), np.zeros(n)
    found[first] = shifted_to_sum(slope * certainties[first], kept)
    return found


def contest_of(standing: Standing) -> Contest | None:
    """Return who contends, and how; None if nothing tells features apart."""
    distance = distance_to_cut(standing)
    if distance is None:
        return None
    n, kept = distance.size, standing.kept
    first, said = contenders(distance, kept), said_at_cut(standing, distance)
    alone = np.maximum(standing.alone[first], LEAST)
    return Contest(first, distance[first], alone, said, spread_of(distance, kept), n / kept, kept)


def contenders(numbers: np.ndarray, kept: int) -> np.ndarray:
    """Return the places of the largest numbers, many for each of those that are kept."""
    contending = min(max(CONTENDERS * kept, FEWEST_CONTENDERS), numbers.size)
    return np.argpartition(-numbers, contending - 1)[:contending]


def chances(contest: Contest, constants: Constants) -> np.ndarray:
    """Return the probabilities of those who contend."""
    steepness = constants.slope * contest.said**constants.power * contest.rivals**constants.crowd
    steepness *= contest.spread**constants.spread
    distance = np.where(contest.distance > 0, constants.above, 1.0) * contest.distance
    logits = steepness * distance
    if constants.own:
        logits += constants.own * np.log(contest.alone / contest.said)
    return shifted_to_sum(logits, contest.kept)


def distance_to_cut(standing: Standing) -> np.ndarray | None:
    """Return log(score / cut), the cut being between the last that stays and the first that goes.

    None if the last that stays has a score of 0.
    """
    last, first = (bar_at(standing.scores, count) for count in (standing.kept, standing.kept + 1))
    if not last > 0:
        return None
    with np.errstate(divide="ignore"):
        above = np.clip(np.log(standing.scores) - np.log(last), -FARTHEST, FARTHEST)
        gap = min(np.log(last) - np.log(first), FARTHEST)
    return above + gap / 2


def said_at_cut(standing: Standing, distance: np.ndarray) -> float:
    """Return the median of what the features nearest to the cut say alone."""
    fewest = min(FEWEST_NEAR, 2 * standing.kept)  # no more of those that go than of those that stay
    count = min(max(fewest, standing.kept // 2), distance.size)
    near = np.argpartition(np.abs(distance), count - 1)[:count]
    return max(float(np.median(standing.alone[near])), LEAST)


def spread_of(distance: np.ndarray, kept: int) -> float:
    """Return the mean distance of those that are kept."""
    above = float(np.sum(distance[distance > 0])) / kept
    return min(max(above, USUAL_SPREAD if kept < 2 else LEAST_SPREAD), MOST_SPREAD)


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
