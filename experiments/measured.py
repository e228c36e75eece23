"""One fit beside its refits on halves of the rows, and how far predictions are from those."""

from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from experiments.calibration_tasks import REAL
from experiments.errors import StudyError
from thresher.learners.calibration import Contest, Standing, contest_of

SURE = 1e-4  # probabilities nearer to 0 or 1 than this are not told apart


class Group(NamedTuple):
    """Features that stand in for each other, and the share of refits that selected some."""

    slots: np.ndarray
    share: float


class Measured(NamedTuple):
    """One fit, and the share of refits that selected each of its features."""

    name: str
    size: int
    standing: Standing
    share: np.ndarray
    groups: list[Group]
    kind: str = REAL

    @property
    def contest(self) -> Contest:
        """Return who contended."""
        contest = contest_of(self.standing)
        if contest is None:
            raise StudyError(f"{self.name} tells no features apart")
        return contest


def deviance(share: np.ndarray, predicted: np.ndarray, kept: int) -> float:
    """Return how far shares are from what is predicted of them, per selected feature."""
    p = np.clip(predicted, SURE, 1 - SURE)
    told = xlogy(share, share / p) + xlogy(1 - share, (1 - share) / (1 - p))
    return float(told.sum() / kept)
