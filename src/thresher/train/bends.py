"""Losses of margins that bend: how large they are, how steep, and how curved."""

import math
from typing import NamedTuple

import numpy as np

from thresher.kernels.losses import HUBER, SQUARED_ERROR

NUMBERS = (SQUARED_ERROR, HUBER)


class Bends(NamedTuple):
    """The loss of every row, and its first and second derivative by the margin."""

    losses: np.ndarray
    slopes: np.ndarray
    curvatures: np.ndarray


def bends_of(loss: int, margins: np.ndarray, targets: np.ndarray) -> Bends:
    """Return what a loss is at the margins of rows; that of classes is always the log loss.

    A margin's hinge says nothing of chances, and does not bend.
    """
    if loss in NUMBERS:
        errors = margins - targets
        if loss == SQUARED_ERROR:
            return Bends(errors**2 / 2, errors, np.ones(errors.size))
        near = np.abs(errors) <= 1
        losses = np.where(near, errors**2 / 2, np.abs(errors) - 0.5)
        return Bends(losses, np.clip(errors, -1.0, 1.0), near.astype(np.float64))
    agreements = margins * targets
    small = np.exp(-np.abs(agreements))
    doubts = np.where(agreements > 0, small, 1.0) / (1.0 + small)
    losses = np.log1p(small) - np.minimum(agreements, 0.0)
    return Bends(losses, -targets * doubts, doubts * (1 - doubts))


def dispersion(loss: int, bends: Bends, importance: np.ndarray, n_weights: int) -> float:
    """Return what a unit of the loss counts: 1 for chances; numbers have a spread of their own.

    So many weights have been fitted to them, and have taken as many rows' errors away.
    """
    if loss not in NUMBERS:
        return 1.0
    curvature = float(np.sum(importance * bends.curvatures)) - n_weights
    spread = float(np.sum(importance * bends.slopes**2))
    return spread / curvature if curvature > 0 else math.inf
