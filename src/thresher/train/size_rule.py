"""The rule that picks a size: the smallest that is not clearly worse than the best."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Losses:
    """What held-out rows lose at some sizes, in ascending order.

    ``by_size`` has a row for every size and a column for every held-out row, which counts as much
    as its weight; ``nothing`` is what rows lose without any feature.
    """

    by_size: np.ndarray
    nothing: np.ndarray
    weights: np.ndarray

    @property
    def best(self) -> int:
        """Return the place of the size that loses least."""
        return int(np.average(self.by_size, axis=1, weights=self.weights).argmin())

    def of(self, place: int) -> tuple[float, float]:
        """Return what a size loses, and the standard error of that."""
        return mean_and_error(self.by_size[place], self.weights)

    def beyond(self, place: int, other: int) -> tuple[float, float]:
        """Return how much more one size loses than another, and the standard error of that."""
        return mean_and_error(self.by_size[place] - self.by_size[other], self.weights)

    def explained(self, place: int) -> tuple[float, float]:
        """Return how much less a size loses than nothing, and the standard error of that."""
        return mean_and_error(self.nothing - self.by_size[place], self.weights)


@dataclass(frozen=True)
class Leniency:
    """By how much the loss of a size may exceed the best one's.

    So many ``errors``: standard errors of the best one's loss or, if ``paired``, of the difference
    between the two, which is much smaller, for both have the same hard rows. That is no less than
    a share ``least`` of what the best size explains: many rows make errors tiny, and every last
    feature worth its while. Nor is it more than a share ``most``: few rows can hardly tell sizes
    apart, not even those that explain something from those that do not. If they cannot tell the
    best one from nothing either, the smallest is as good as any.

    They can if the best one explains more than so many ``doubts``: standard errors of that.
    """

    errors: float
    paired: bool
    least: float = 0.0
    most: float = math.inf
    doubts: float = 1.0

    @property
    def named(self) -> str:
        """Return the errors in words."""
        many = "a standard error" if self.errors == 1 else f"{self.errors:g} standard errors"
        return f"{many} of the difference" if self.paired else many


@dataclass(frozen=True)
class Verdict:
    """The places of the best size and of the smallest that will do, and by how much it may lose.

    ``share`` is what part that is of what the best explains, where a share has decided.
    """

    best: int
    chosen: int
    margin: float
    share: float | None


def smallest_good(losses: Losses, lenient: Leniency) -> Verdict:
    """Choose the smallest size whose loss exceeds the best one's by no more than it may."""
    best = losses.best
    explained, doubt = losses.explained(best)
    most = lenient.most if explained > lenient.doubts * doubt else math.inf
    for place in range(best):
        beyond, error = losses.beyond(place, best)
        if not lenient.paired:
            _, error = losses.of(best)
        margin, share = _margin(lenient.errors * error, lenient.least, most, max(explained, 0.0))
        if beyond <= margin:
            return Verdict(best, place, margin, share)
    return Verdict(best, best, 0.0, None)


def mean_and_error(numbers: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the weighted mean and its standard error."""
    mean = float(np.average(numbers, weights=weights))
    return mean, float(np.sqrt(np.sum((weights * (numbers - mean)) ** 2)) / weights.sum())


def _margin(
    errors: float, least: float, most: float, explained: float
) -> tuple[float, float | None]:
    """Return the errors, or the share of what is explained that bounds them, and which that is."""
    if errors < least * explained:
        return least * explained, least
    if most < math.inf and errors > most * explained:
        return most * explained, most
    return errors, None
