"""Dense twin of the flagship: steps by feature, bursts, stages, an exchange, a refit.

See reference.py for why it exists and reference_stabilized.py for the arguments. `groups` are the
numbers of the paths that have one length of steps between them; `norms` are the mean squared norms
that squared gradients are relative to; `bounds` has, for every path, the longest step of each
update.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from reference import importance, quantile, slope, soft_threshold
from reference_exchange import NUMBERS, best_of_numbers, exchange
from reference_stabilized import Fit, purge, record

LEAST = 1e-30
REFITTING_HALVING = 1.0


@dataclass
class Task:
    """What stays the same during a run."""

    X: np.ndarray
    y: np.ndarray
    orders: list
    groups: list
    loss: str
    biases: np.ndarray
    norms: np.ndarray
    bounds: np.ndarray
    burst_weights: Callable
    weights: np.ndarray | None


@dataclass
class Paths:
    """What bursts change: weights by path, squared gradients by group; and the stable set."""

    W: np.ndarray
    V: np.ndarray
    stable: np.ndarray
    squares: np.ndarray
    bias_squares: np.ndarray
    halving: float
    gravity: float = 0.0
    rows: int = 0
    bursts: int = 0
    ratios: list = field(default_factory=list)  # (feature, ratio) pairs of the last burst

    def rates(self, group):
        return 1.0 / (1.0 + np.sqrt(self.squares[group]) / self.halving)

    def bias_rate(self, group):
        return 1.0 / (1.0 + math.sqrt(self.bias_squares[group]) / self.halving)


def start(task, stable, halving):
    n_paths, p, n_groups = len(task.orders), task.X.shape[1], len(task.groups)
    squares = np.zeros((n_groups, p)), np.zeros(n_groups)
    return Paths(np.zeros((n_paths, p)), np.zeros(n_paths), stable, *squares, halving)


def descend(task, paths, g, takes, *, etas, size):
    """Take `size` updates on a group's paths; return sums of gradients and of their squares."""
    members = task.groups[g]
    p = task.X.shape[1]
    squares, push, bias_squares = np.zeros(p), np.zeros(p), 0.0
    rates, bias_rate = paths.rates(g), paths.bias_rate(g)
    active = np.count_nonzero(takes[members])
    for t in range(paths.rows, paths.rows + size):
        i = task.orders[members[0]][t]
        x, b = np.where(paths.stable, task.X[i], 0.0), task.biases[t]
        margins = paths.W[members] @ x + b * paths.V[members]
        slopes = np.array([slope(task.loss, margin, task.y[i]) for margin in margins])
        slopes = slopes * takes[members] * importance(task.weights, i)
        square = np.sum(slopes**2) / (active * task.norms[t])
        if square == 0:
            continue
        paths.W[members] -= etas[t] * np.outer(slopes, x * rates)
        paths.V[members] -= etas[t] * slopes * b * bias_rate
        squares += np.where(x != 0, np.maximum(square * x**2, LEAST), 0.0)
        push += slopes.sum() / active * x
        bias_squares += square * b**2
    return squares, push, bias_squares


def burst(task, paths, *, etas, size):
    """One burst on every path, then gravity, and shorter steps for those that have learnt."""
    takes = task.burst_weights(paths.bursts)
    last = paths.rows + size - 1
    paths.ratios = []
    for g, members in enumerate(task.groups):
        if not takes[members].any():
            continue
        mine = np.minimum(etas, task.bounds[members[0]])
        squares, push, bias_squares = descend(task, paths, g, takes, etas=mine, size=size)
        rates = paths.rates(g)
        for j in np.flatnonzero(squares):
            spread = math.sqrt(squares[j])
            paths.ratios.append((j, abs(push[j]) / spread))
            pull = paths.gravity * mine[last] * rates[j] * spread
            for m in members:
                if takes[m] > 0:
                    paths.W[m, j] = soft_threshold(paths.W[m, j], pull)
        paths.squares[g] += squares
        paths.bias_squares[g] += bias_squares
    paths.rows += size
    paths.bursts += 1


def purge_all_but(paths, n, score):
    columns = sorted(np.flatnonzero(paths.stable), key=lambda j: (-score[j], j))
    purge(paths, columns[n:])


def select(task, paths, *, target, n_stages, n_bursts, rejection_rate, etas, growth, size, powers):
    """Shrink the stable set to `target`; return how features stood, and the history."""
    p, occurring = task.X.shape[1], int(paths.stable.sum())
    mean, history = np.zeros(p), []
    for s in range(1, n_stages + 1):
        longer = growth ** ((s - 1) / max(n_stages - 1, 1))
        for _ in range(n_bursts):
            burst(task, paths, etas=longer * etas, size=size)
        r = max(0.2, 1 / s)
        mean = np.where(paths.stable, mean + r * (paths.W.mean(axis=0) - mean), mean)
        n_kept = round(occurring ** (1 - s / n_stages) * target ** (s / n_stages))
        before = paths.stable.copy()
        salience = paths.squares.sum(axis=0) ** powers[0] * np.sum(task.X**2, axis=0) ** powers[1]
        purge_all_but(paths, n_kept, np.abs(mean) * salience)
        last = before if s == n_stages else before & ~paths.stable
        mean[last] *= salience[last] / told_by(task.X)[last]
        beta = rejection_rate * (paths.stable.sum() / occurring)
        paths.gravity = quantile([ratio for j, ratio in paths.ratios if paths.stable[j]], beta)
        history.append(record(paths, rejection_rate=beta, burst_size=size))
    return mean, history


def told_by(X):
    """By what means of features that are judged no more tell how they stood."""
    return np.sum(X**2, axis=0) ** 0.2


def stand_at_the_cut(mean, scale, before, after):
    """Let who went and who came have the score of the last that was selected, nearly."""
    cut = np.min((np.abs(mean) * scale)[before], initial=np.inf)
    for j in np.flatnonzero(before != after):
        share = 1 - 5e-7 if after[j] else 1 - 1e-6
        mean[j] = math.copysign(share * cut / scale[j], mean[j])


def refit_mean(task, paths, *, etas, size, n_bursts):
    """Train on without truncation; return the mean weights, and the intercept's, of late bursts."""
    paths.gravity, paths.halving = 0.0, REFITTING_HALVING
    paths.squares[...], paths.bias_squares[...] = 0.0, 0.0
    coefs, vs = [], []
    for b in range(n_bursts):
        burst(task, paths, etas=etas, size=size)
        if b >= math.floor(0.3 * n_bursts):
            coefs.append(paths.W.mean(axis=0))
            vs.append(paths.V.mean())
    return np.mean(coefs, axis=0), np.mean(vs)


def thresher(
    X,
    y,
    orders,
    *,
    groups,
    loss,
    n_features_to_select,
    n_stages,
    bursts_per_stage,
    rejection_rate,
    refit,
    updates,
    select_etas,
    growth,
    refit_etas,
    biases,
    norms,
    bounds,
    burst_weights,
    halving,
    powers,
    weights=None,
    exchanges=True,
):
    """Both `select_etas` and `refit_etas` cover the whole run: entry t is that of update t + 1."""
    task = Task(X, y, orders, groups, loss, biases, norms, bounds, burst_weights, weights)
    paths = start(task, (X != 0).any(axis=0), halving)
    n_selecting = n_stages * bursts_per_stage
    size = max(1, math.ceil((1 - refit) * updates / n_selecting))
    mean, history = select(
        task,
        paths,
        target=n_features_to_select,
        n_stages=n_stages,
        n_bursts=bursts_per_stage,
        rejection_rate=rejection_rate,
        etas=select_etas,
        growth=growth,
        size=size,
        powers=powers,
    )
    coef, v = paths.W.mean(axis=0), paths.V.mean()
    n_refitting = max(math.ceil((updates - n_selecting * size) / size), 1 if refit > 0 else 0)
    if n_refitting:
        known = {"loss": loss, "fit_intercept": bool(np.any(biases)), "weights": weights}
        if exchanges:
            kept = exchange(X, y, stable=paths.stable, **known)
            stand_at_the_cut(mean, told_by(X), paths.stable, kept)
            paths.stable = kept
            paths.W[:, ~kept] = 0.0
        if loss in NUMBERS:
            coef, intercept = best_of_numbers(X, y, stable=paths.stable, **known)
            return Fit(coef, intercept, paths.stable, mean, history)
        coef, v = refit_mean(task, paths, etas=refit_etas, size=size, n_bursts=n_refitting)
    intercept = biases[paths.rows - 1] * v if paths.rows else 0.0
    return Fit(coef, intercept, paths.stable, mean, history)
