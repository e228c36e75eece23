"""Losses of a margin, by code: functions passed into kernels would recompile in every process."""

import math

from thresher.jit import jit

HINGE, LOG_LOSS, SQUARED_HINGE, MODIFIED_HUBER, SQUARED_ERROR, HUBER = range(6)


@jit
def hinge_slope(margin, target):
    """Slope of max(0, 1 - y m)."""
    return -target if margin * target < 1.0 else 0.0


@jit
def log_slope(margin, target):
    """Slope of log(1 + exp(-y m)); beyond 700 it is 0, and exp would overflow."""
    agreement = margin * target
    if agreement > 700.0:
        return 0.0
    return -target / (1.0 + math.exp(agreement))


@jit
def squared_hinge_slope(margin, target):
    """Slope of max(0, 1 - y m)^2."""
    return -2.0 * target * max(0.0, 1.0 - margin * target)


@jit
def modified_huber_slope(margin, target):
    """Slope of the squared hinge, made linear where y m < -1."""
    if margin * target < -1.0:
        return -4.0 * target
    return squared_hinge_slope(margin, target)


@jit
def squared_error_slope(margin, target):
    """Slope of (m - y)^2 / 2."""
    return margin - target


@jit
def huber_slope(margin, target):
    """Slope of (m - y)^2 / 2, made linear where |m - y| > 1; targets come in such units."""
    return min(max(margin - target, -1.0), 1.0)


@jit
def slope_of(loss, margin, target):
    """Derivative of the loss with respect to the margin."""
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
    return huber_slope(margin, target)
