"""Every loss: its value, slope and curvature as functions of a margin, and a registry.

Targets of classes are -1 and +1. Kernels know a loss by its code, since functions passed into
kernels would be recompiled in every process.

To add a loss, write its three functions, a row in ``LOSSES``, and a line in ``value_of``,
``slope_of`` and ``curvature_of``.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from thresher.jit import jit

HINGE, LOG_LOSS, SQUARED_HINGE, MODIFIED_HUBER, SQUARED_ERROR, HUBER, QUANTILE = range(7)
LEVELS = (0.1, 0.5, 0.9)  # of the quantile losses, whose codes are QUANTILE and those after it
BAND = 0.03  # within which the quantile losses are rounded off, in spreads of the targets


class Loss(NamedTuple):
    """One loss.

    ``step`` is the automatic length of a constant step, relative to the rows' mean squared norm:
    it falls with the steepness of the loss. ``probabilities`` says whether margins stand for
    probabilities, ``of_numbers`` whether targets are numbers instead of classes, and ``robust``
    that they are measured by their median and median deviation, so that a few outliers do not
    matter.
    """

    code: int
    name: str
    step: float
    probabilities: bool = False
    of_numbers: bool = False
    robust: bool = False


# Steps were chosen by cross-validation; a factor of three either way changes little.
LOSSES = {
    loss.name: loss
    for loss in (
        Loss(HINGE, "hinge", step=0.3),
        Loss(LOG_LOSS, "log_loss", step=1.0, probabilities=True),
        Loss(SQUARED_HINGE, "squared_hinge", step=0.1),
        Loss(MODIFIED_HUBER, "modified_huber", step=0.1, probabilities=True),
        Loss(SQUARED_ERROR, "squared_error", step=0.15, of_numbers=True),
        Loss(HUBER, "huber", step=0.3, of_numbers=True, robust=True),
        *(
            Loss(QUANTILE + k, f"quantile_{100 * level:g}", 0.3, of_numbers=True, robust=True)
            for k, level in enumerate(LEVELS)
        ),
    )
}
CLASS_LOSSES = tuple(loss.name for loss in LOSSES.values() if not loss.of_numbers)
NUMBER_LOSSES = tuple(loss.name for loss in LOSSES.values() if loss.of_numbers)


@jit
def hinge(margin, target):
    """Return max(0, 1 - y m)."""
    return max(0.0, 1.0 - margin * target)


@jit
def hinge_slope(margin, target):
    """Return the slope of the hinge."""
    return -target if margin * target < 1.0 else 0.0


@jit
def hinge_curvature(margin, target):
    """Return 0: the hinge consists of two lines."""
    return 0.0


@jit
def log_loss(margin, target):
    """Return log(1 + exp(-y m)), whose exponential never overflows."""
    agreement = margin * target
    return math.log1p(math.exp(-abs(agreement))) - min(agreement, 0.0)


@jit
def log_slope(margin, target):
    """Return the slope of the log loss, by the exponential that its value needs, too."""
    agreement = margin * target
    small = math.exp(-abs(agreement))
    return -target * (small if agreement > 0.0 else 1.0) / (1.0 + small)


@jit
def log_curvature(margin, target):
    """Return p (1 - p), without the cancellation of 1 - p."""
    small = math.exp(-abs(margin * target))
    return small / ((1.0 + small) * (1.0 + small))


@jit
def squared_hinge(margin, target):
    """Return max(0, 1 - y m)^2."""
    return max(0.0, 1.0 - margin * target) ** 2


@jit
def squared_hinge_slope(margin, target):
    """Return the slope of the squared hinge."""
    return -2.0 * target * max(0.0, 1.0 - margin * target)


@jit
def squared_hinge_curvature(margin, target):
    """Return 2 where the loss is not 0."""
    return 2.0 if margin * target < 1.0 else 0.0


@jit
def modified_huber(margin, target):
    """Return the squared hinge, made linear where y m < -1."""
    if margin * target < -1.0:
        return -4.0 * margin * target
    return squared_hinge(margin, target)


@jit
def modified_huber_slope(margin, target):
    """Return the slope of the modified Huber loss."""
    if margin * target < -1.0:
        return -4.0 * target
    return squared_hinge_slope(margin, target)


@jit
def modified_huber_curvature(margin, target):
    """Return 2 between y m = -1 and 1."""
    return 2.0 if -1.0 <= margin * target < 1.0 else 0.0


@jit
def squared_error(margin, target):
    """Return (m - y)^2 / 2."""
    return (margin - target) ** 2 / 2.0


@jit
def squared_error_slope(margin, target):
    """Return m - y."""
    return margin - target


@jit
def squared_error_curvature(margin, target):
    """Return 1."""
    return 1.0


@jit
def huber(margin, target):
    """Return (m - y)^2 / 2, made linear where |m - y| > 1; targets come in such units."""
    error = abs(margin - target)
    return error * error / 2.0 if error <= 1.0 else error - 0.5


@jit
def huber_slope(margin, target):
    """Return m - y, clipped to [-1, 1]."""
    return min(max(margin - target, -1.0), 1.0)


@jit
def huber_curvature(margin, target):
    """Return 1 where |m - y| <= 1."""
    return 1.0 if abs(margin - target) <= 1.0 else 0.0


@jit
def quantile(margin, target, level):
    """Return the pinball loss: level (y - m) above the margin, (1 - level) (m - y) below it.

    Its kink has no curvature, so it is rounded off: |y - m| is a parabola within BAND.
    """
    away = target - margin
    size = abs(away)
    if size < BAND:
        size = (size * size / BAND + BAND) / 2.0
    return size / 2.0 + (level - 0.5) * away


@jit
def quantile_slope(margin, target, level):
    """Return 1 - level below the margin, -level above it, and a line from one to the other."""
    away = min(max((target - margin) / BAND, -1.0), 1.0)
    return 0.5 - level - away / 2.0


@jit
def quantile_curvature(margin, target, level):
    """Return the slope of that line."""
    return 0.5 / BAND if abs(target - margin) < BAND else 0.0


@jit
def value_of(loss, margin, target):
    """Return the loss of a margin."""
    if loss == HINGE:
        return hinge(margin, target)
    if loss == LOG_LOSS:
        return log_loss(margin, target)
    if loss == SQUARED_HINGE:
        return squared_hinge(margin, target)
    if loss == MODIFIED_HUBER:
        return modified_huber(margin, target)
    if loss == SQUARED_ERROR:
        return squared_error(margin, target)
    if loss == HUBER:
        return huber(margin, target)
    return quantile(margin, target, LEVELS[loss - QUANTILE])


@jit
def slope_of(loss, margin, target):
    """Return the derivative of the loss with respect to the margin."""
    if loss == HINGE:
        return hinge_slope(margin, target)
    if loss == LOG_LOSS:
        return log_slope(margin, target)
    if loss == SQUARED_HINGE:
        return squared_hinge_slope(margin, target)
    if loss == MODIFIED_HUBER:
        return modified_huber_slope(margin, target)
    if loss == SQUARED_ERROR:
        return squared_error_slope(margin, target)
    if loss == HUBER:
        return huber_slope(margin, target)
    return quantile_slope(margin, target, LEVELS[loss - QUANTILE])


@jit
def curvature_of(loss, margin, target):
    """Return the second derivative of the loss with respect to the margin."""
    if loss == HINGE:
        return hinge_curvature(margin, target)
    if loss == LOG_LOSS:
        return log_curvature(margin, target)
    if loss == SQUARED_HINGE:
        return squared_hinge_curvature(margin, target)
    if loss == MODIFIED_HUBER:
        return modified_huber_curvature(margin, target)
    if loss == SQUARED_ERROR:
        return squared_error_curvature(margin, target)
    if loss == HUBER:
        return huber_curvature(margin, target)
    return quantile_curvature(margin, target, LEVELS[loss - QUANTILE])


def probability_of(loss: int, margins: ArrayLike) -> np.ndarray:
    """Return the probabilities of the positive class that margins stand for."""
    margins = np.asarray(margins, float)
    if loss == MODIFIED_HUBER:
        return (np.clip(margins, -1.0, 1.0) + 1.0) / 2.0
    small = np.exp(-np.abs(margins))
    return np.where(margins >= 0.0, 1.0, small) / (1.0 + small)
