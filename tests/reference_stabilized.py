"""The slow twin of the staged learners: several paths, bursts, stages, purges.

See reference.py for why it exists and for the arguments all learners share. Here `orders` holds one
sequence of row numbers per path, all of one length; `etas` and `biases` are aligned with positions
in them, so rows that a path lets go by count; `etas` may have a row for each path.
`burst_weights(b)` gives every path's weight in burst number b, counted over the whole run.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from reference import anneal, importance, quantile, slope, soft_threshold


@dataclass
class Stage:
    """What was true when a stage had ended; rate, gravity and burst size are the next stage's."""

    rows: int
    stable: int
    nonzero: int
    rejection_rate: float
    gravity: float
    burst_size: int


@dataclass
class Fit:
    coef: np.ndarray
    intercept: float
    stable: np.ndarray
    evidence: np.ndarray  # by which features are judged
    history: list[Stage]


@dataclass
class Task:
    """What stays the same during a run."""

    X: np.ndarray
    y: np.ndarray
    orders: list
    loss: str
    biases: np.ndarray
    burst_weights: Callable
    exponent: float
    weights: np.ndarray | None


@dataclass
class Paths:
    """What bursts change, and the gravity and stable set that stages change."""

    W: np.ndarray
    V: np.ndarray
    stable: np.ndarray
    gravity: float = 0.0
    rows: int = 0
    bursts: int = 0
    pooled: list = field(default_factory=list)  # (feature, ratio) pairs of the running stage


def start(task, stable):
    n_paths, p = len(task.orders), task.X.shape[1]
    return Paths(W=np.zeros((n_paths, p)), V=np.zeros(n_paths), stable=stable)


def descend(task, paths, m, *, etas, size, q):
    """Take `size` SGD updates on path m; return how often each stable feature was touched."""
    touches = np.zeros(task.X.shape[1], dtype=int)
    etas = etas[m] if etas.ndim == 2 else etas
    for t in range(paths.rows, paths.rows + size):
        i = task.orders[m][t]
        x = np.where(paths.stable, task.X[i], 0.0)
        margin = x @ paths.W[m] + task.biases[t] * paths.V[m]
        g = q * importance(task.weights, i) * slope(task.loss, margin, task.y[i])
        paths.W[m] = paths.W[m] - etas[t] * g * x
        paths.V[m] = paths.V[m] - etas[t] * g * task.biases[t]
        touches += x != 0
    return touches


def burst(task, paths, *, etas, size):
    """One burst on every path; return the touches per path, None for a path that let it go by."""
    touches_of_paths = []
    for m, q in enumerate(task.burst_weights(paths.bursts)):
        if q == 0:
            touches_of_paths.append(None)
            continue
        before = paths.W[m].copy()
        touches = descend(task, paths, m, etas=etas, size=size, q=q)
        for j in np.flatnonzero(touches):
            information = touches[j] ** task.exponent
            paths.pooled.append((j, abs(paths.W[m, j] - before[j]) / information))
            paths.W[m, j] = soft_threshold(paths.W[m, j], paths.gravity * information)
        touches_of_paths.append(touches)
    paths.rows += size
    paths.bursts += 1
    return touches_of_paths


def purge(paths, features):
    paths.stable[features] = False
    paths.W[:, features] = 0.0


def set_gravity(paths, share):
    """Gravity of the next stage, from this stage's ratios of features that are still stable."""
    paths.gravity = quantile([ratio for j, ratio in paths.pooled if paths.stable[j]], share)
    paths.pooled = []


def finish(task, paths, coef, v, probability, history):
    intercept = task.biases[paths.rows - 1] * v if paths.rows else 0.0
    return Fit(coef, intercept, paths.stable, probability, history)


def record(paths, *, rejection_rate, burst_size):
    return Stage(
        rows=paths.rows,
        stable=int(paths.stable.sum()),
        nonzero=int(np.count_nonzero(paths.W.mean(axis=0))),
        rejection_rate=rejection_rate,
        gravity=paths.gravity,
        burst_size=burst_size,
    )


@dataclass
class Votes:
    """Per feature: bursts that could select it, bursts that did, and the last verdict."""

    evidence: np.ndarray
    selected: np.ndarray
    probability: np.ndarray

    def drop(self, features):
        self.evidence[features] = 0
        self.selected[features] = 0


def count(paths, votes, touches_of_paths, *, selection):
    for m, touches in enumerate(touches_of_paths):
        if touches is None:
            continue
        counted = {"informative": paths.stable & (touches > 0), "every": paths.stable}[selection]
        votes.evidence += counted
        votes.selected += counted & (paths.W[m] != 0)


def judge(paths, votes, *, min_evidence, purge_threshold):
    judged = paths.stable & (votes.evidence > min_evidence)
    votes.probability[judged] = votes.selected[judged] / votes.evidence[judged]
    purge(paths, judged & (votes.probability < purge_threshold))
    votes.drop(judged)


def grown(burst_size, burst_growth, d):
    return max(1, math.ceil(burst_size * math.log(1.0 / (burst_growth * d))))


def stabilized(
    X,
    y,
    orders,
    *,
    loss,
    etas,
    biases,
    burst_size,
    bursts_per_stage,
    rejection_rate,
    annealing_rate,
    purge_threshold,
    min_evidence,
    burst_growth,
    selection,
    shrinkage,
    burst_weights,
    weights=None,
):
    """Stabilized truncated SGD; `burst_growth` is None when bursts keep their size."""
    exponent = {"linear": 1.0, "sqrt": 0.5}[shrinkage]
    task = Task(X, y, orders, loss, biases, burst_weights, exponent, weights)
    p, n_rows, size, history = X.shape[1], len(orders[0]), burst_size, []
    paths = start(task, np.ones(p, dtype=bool))
    votes = Votes(np.zeros(p, dtype=int), np.zeros(p, dtype=int), np.ones(p))
    while paths.stable.any() and paths.rows + size <= n_rows:
        touches_of_paths = burst(task, paths, etas=etas, size=size)
        count(paths, votes, touches_of_paths, selection=selection)
        if paths.bursts % bursts_per_stage > 0:
            continue
        if history:
            judge(paths, votes, min_evidence=min_evidence, purge_threshold=purge_threshold)
        else:
            # Without gravity nothing is truncated: the first stage only measures.
            votes.drop(slice(None))
        d = paths.stable.sum() / p
        beta = anneal(d, rejection_rate, annealing_rate)
        set_gravity(paths, beta)
        if burst_growth is not None and d > 0:
            size = grown(burst_size, burst_growth, d)
        history.append(record(paths, rejection_rate=beta, burst_size=size))
    if paths.stable.any() and paths.rows < n_rows:
        # The rows end inside a burst: it is closed for show, and decides nothing.
        burst(task, paths, etas=etas, size=n_rows - paths.rows)
    return finish(task, paths, paths.W.mean(axis=0), paths.V.mean(), votes.probability, history)
