"""The slow twins of the classics: dense vectors, one row at a time, nothing lazy.

Kernels postpone shrinkage and skip zeros, so a mistake in them can hide. Each function here writes
its formula down once, and costs what it costs. ``X`` is dense, ``y`` holds -1 and +1; ``etas`` and
``biases`` are the step and the intercept's input of every update.
"""

import math
from typing import NamedTuple

import numpy as np

from thresher.losses import LOSSES, slope_of


class Run(NamedTuple):
    """What a learner is given: rows in the order in which they are read, and their steps."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    loss: str
    etas: np.ndarray
    biases: np.ndarray

    def updates(self):
        """Yield number, step, row, constant input, and what gives the slope of a margin."""
        code = LOSSES[self.loss].code
        for t, (x, y, weight) in enumerate(zip(self.X, self.y, self.weights, strict=True)):

            def slope(margin, y=y, weight=weight):
                return weight * slope_of(code, margin, y)

            yield t, self.etas[t], x, self.biases[t], slope

    def result(self, w, v):
        """Return the weights and the intercept."""
        return w, self.biases[-1] * v


def soft_threshold(w, g):
    """T(w, g): move w towards 0 by g, and stop there."""
    return np.sign(w) * np.maximum(np.abs(w) - g, 0.0)


def pace(X, eta0, rate, learning_rate, fit_intercept):
    """Return step and intercept input of every update, which follow the running mean norm."""
    n = np.arange(1, len(X) + 1)
    mean = np.cumsum(np.sum(X**2, axis=1)) / n
    etas = rate / mean if eta0 == "auto" else np.full(len(X), float(eta0))
    return etas / np.sqrt(n) if learning_rate == "invsqrt" else etas, fit_intercept * np.sqrt(mean)


def sgd(run):
    w, v = np.zeros(run.X.shape[1]), 0.0
    for _, eta, x, bias, slope in run.updates():
        g = slope(x @ w + bias * v)
        w, v = w - eta * g * x, v - eta * g * bias
    return run.result(w, v)


def truncated_gradient(run, gravity, burst_size, ceiling=None):
    w, v = np.zeros(run.X.shape[1]), 0.0
    for t, eta, x, bias, slope in run.updates():
        g = slope(x @ w + bias * v)
        w, v = w - eta * g * x, v - eta * g * bias
        if (t + 1) % burst_size == 0:
            low = np.abs(w) <= (math.inf if ceiling is None else ceiling)
            w = np.where(low, soft_threshold(w, gravity * burst_size), w)
    return run.result(w, v)


def fobos(run, l1):
    w, v = np.zeros(run.X.shape[1]), 0.0
    for _, eta, x, bias, slope in run.updates():
        g = slope(x @ w + bias * v)
        w, v = soft_threshold(w - eta * g * x, eta * l1), v - eta * g * bias
    return run.result(w, v)


def rda(run, l1, rho, gamma):
    w, v = np.zeros(run.X.shape[1]), 0.0
    total, total_v = np.zeros(run.X.shape[1]), 0.0
    for t, eta, x, bias, slope in run.updates():
        g = slope(x @ w + bias * v)
        total, total_v = total + g * x, total_v + g * bias
        root, slowness = math.sqrt(t + 1), 1.0 / eta if gamma == "auto" else gamma
        w = -(root / slowness) * soft_threshold(total / (t + 1), l1 + slowness * rho / root)
        v = -0.01 * (root / slowness) * total_v / (t + 1)  # slow, or it drowns the weights
    return run.result(w, v)


def ftrl(run, alpha, beta, l1, l2):
    """The intercept is one more column, the last, without penalties."""
    p = run.X.shape[1]
    z, n = np.zeros(p + 1), np.zeros(p + 1)
    l1, l2 = np.append(np.full(p, l1), 0.0), np.append(np.full(p, l2), 0.0)

    def weights_now():
        slowness = (beta + np.sqrt(n)) / alpha + l2
        return -soft_threshold(z, l1) / np.where(slowness > 0, slowness, 1.0)

    for _, _, x, bias, slope in run.updates():
        x, w = np.append(x, bias), weights_now()
        g = slope(x @ w) * x
        sigma = (np.sqrt(n + g**2) - np.sqrt(n)) / alpha
        z, n = z + g - sigma * w, n + g**2
    w = weights_now()
    return run.result(w[:p], w[p])
