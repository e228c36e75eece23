"""The slow twin of stabilized truncated SGD: dense vectors, one row at a time, formula by formula.

The kernels count only what changes, skip what was purged and share work between paths, so that a
mistake in them can hide. Here everything costs what it costs. ``orders`` holds one sequence of row
numbers per path, all of one length; ``steps`` and ``biases`` are aligned with positions in them, so
rows that a path does not take count as well. ``burst_weights(b)`` gives every path's weight in
burst number b of the whole run.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from thresher.losses import LOSSES, slope_of
from twins import soft_threshold


def quantile(values, share):
    """The k-th smallest value, k = ceil(share * N); 0 if there is no such value."""
    k = math.ceil(share * len(values))
    return sorted(values)[k - 1] if k > 0 else 0.0


def anneal(d, rejection_rate, gamma):
    """phi(d): the rejection rate when the share d of all features is stable."""
    if gamma >= 0:
        return rejection_rate * (math.exp(-gamma * (1 - d)) - (1 - d) * math.exp(-gamma))
    return rejection_rate * math.log(1 - gamma * d) / math.log(1 - gamma)


@dataclass
class Task:
    """What stays the same during a run."""

    X: np.ndarray
    y: np.ndarray
    importance: np.ndarray
    orders: list
    steps: np.ndarray
    biases: np.ndarray
    burst_weights: object
    loss: str
    exponent: float


@dataclass
class Fit:
    """What bursts and stages change; ``pooled`` has (feature, ratio) pairs of the stage."""

    W: np.ndarray
    V: np.ndarray
    stable: np.ndarray
    evidence: np.ndarray
    selected: np.ndarray
    probability: np.ndarray
    gravity: float
    rows: int = 0
    bursts: int = 0
    pooled: list = field(default_factory=list)
    history: list = field(default_factory=list)


def descend(task, fit, m, size, q):
    """Take `size` SGD updates on path m; return how often each stable feature was touched."""
    touches, loss = np.zeros(task.X.shape[1], int), LOSSES[task.loss].code
    for t in range(fit.rows, fit.rows + size):
        i = task.orders[m][t]
        x = np.where(fit.stable, task.X[i], 0.0)
        margin = x @ fit.W[m] + task.biases[t] * fit.V[m]
        change = -task.steps[t] * task.importance[i] * q * slope_of(loss, margin, task.y[i])
        fit.W[m] += change * x
        fit.V[m] += change * task.biases[t]
        touches += x != 0
    return touches


def burst(task, fit, size, selection):
    """One burst on every path that takes part in it, with informative truncation."""
    for m, q in enumerate(task.burst_weights(fit.bursts)):
        if q == 0:
            continue
        before = fit.W[m].copy()
        touches = descend(task, fit, m, size, q)
        for j in np.flatnonzero(touches):
            k = touches[j] ** task.exponent
            fit.pooled.append((j, abs(fit.W[m, j] - before[j]) / k))
            fit.W[m, j] = soft_threshold(fit.W[m, j], fit.gravity * k)
        counted = fit.stable & (touches > 0) if selection == "informative" else fit.stable
        fit.evidence += counted
        fit.selected += counted & (fit.W[m] != 0)
    fit.rows += size
    fit.bursts += 1


def purge(fit, min_evidence, purge_threshold):
    """Examine features with enough evidence; purge those that were too rarely selected."""
    examined = fit.stable & (fit.evidence > min_evidence)
    fit.probability[examined] = fit.selected[examined] / fit.evidence[examined]
    gone = examined & (fit.probability < purge_threshold)
    fit.stable[gone] = False
    fit.W[:, gone] = 0.0
    fit.evidence[examined] = fit.selected[examined] = 0


def record(fit, rate, size):
    fit.history.append(
        {
            "stage": len(fit.history) + 1,
            "rows_seen": fit.rows,
            "burst_size": size,
            "gravity": fit.gravity,
            "rejection_rate": rate,
            "stable": int(fit.stable.sum()),
            "nonzero": int(fit.W.any(axis=0).sum()),
        }
    )


def stabilized(
    X,
    y,
    importance,
    orders,
    steps,
    biases,
    burst_weights,
    *,
    loss,
    burst_size,
    bursts_per_stage,
    gravity,
    rejection_rate,
    annealing_rate,
    purge_threshold,
    min_evidence,
    burst_growth,
    selection,
    shrinkage,
):
    """Algorithm 4; Algorithm 2 where ``gravity`` is given and nothing is purged."""
    exponent = {"linear": 1.0, "sqrt": 0.5}[shrinkage]
    task = Task(X, y, importance, orders, steps, biases, burst_weights, loss, exponent)
    n_paths, p, n_rows = len(orders), X.shape[1], len(orders[0])
    none, zeros = np.zeros((n_paths, p)), np.zeros((2, p), int)
    fit = Fit(none, np.zeros(n_paths), np.ones(p, bool), *zeros, np.ones(p), gravity or 0.0)
    size, rate = burst_size, rejection_rate
    while fit.stable.any() and fit.rows + size <= n_rows:
        burst(task, fit, size, selection)
        if fit.bursts % bursts_per_stage > 0:
            continue
        if fit.history or gravity is not None:
            purge(fit, min_evidence, purge_threshold)
        else:  # without gravity nothing is truncated: the first stage only measures
            fit.evidence[:] = fit.selected[:] = 0
        record(fit, rate, size)
        d = fit.stable.sum() / p
        rate = anneal(d, rejection_rate, annealing_rate)
        if gravity is None:
            fit.gravity = quantile([ratio for j, ratio in fit.pooled if fit.stable[j]], rate)
        fit.pooled = []
        if burst_growth is not None and d > 0:
            size = max(1, math.ceil(burst_size * math.log(1.0 / (burst_growth * d))))
    if fit.stable.any() and fit.rows < n_rows:
        # the rows end inside a burst: it is closed for show, and decides nothing
        burst(task, fit, n_rows - fit.rows, selection)
    return fit
