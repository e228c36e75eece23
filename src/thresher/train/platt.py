"""Margins as probabilities: a scale and a shift, by maximum likelihood (Platt 1999).

Sums are numpy's own: the same bits for any number of threads, which products of matrices are not.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

STEPS, CLOSE, RIDGE = 100, 1e-10, 1e-12


class Line(NamedTuple):
    """What margins become: so many times as large, and shifted."""

    scale: float = 1.0
    shift: float = 0.0

    def of_unit_scale(self) -> "Line":
        """Return the line that is 0 where this one is, and as steep as margins are."""
        return Line(1.0, self.shift / self.scale)


class _Rows(NamedTuple):
    """Margins, what their probabilities should be, and how much each row counts; all sum to 1."""

    margins: np.ndarray
    goals: np.ndarray
    weights: np.ndarray

    def cost(self, a: float, b: float) -> float:
        values = a * self.margins + b
        return float(np.sum(self.weights * (np.logaddexp(0.0, values) - self.goals * values)))

    def newton_step(self, a: float, b: float, shifts: bool) -> tuple[float, float]:
        chance = expit(a * self.margins + b)
        slope = self.weights * (chance - self.goals)
        bend = self.weights * chance * (1 - chance)
        slope_a, slope_b = np.sum(slope * self.margins), np.sum(slope)
        aa, ab = np.sum(bend * self.margins**2) + RIDGE, np.sum(bend * self.margins)
        bb = np.sum(bend) + RIDGE
        if not shifts:
            return slope_a / aa, 0.0
        det = aa * bb - ab * ab
        return (bb * slope_a - ab * slope_b) / det, (aa * slope_b - ab * slope_a) / det


def calibrated(margins: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return a * margins + b with the likeliest a >= 0 and b, for targets of -1 and +1.

    As Platt does, targets are moved a little towards the middle, so that a is finite also where
    margins tell the classes perfectly.
    """
    rows, _ = _in_one_unit(margins, targets, weights)
    share = float(np.sum(rows.weights * rows.goals))
    prior = float(np.log(share / (1 - share)))
    a, b, _ = _lowest(rows, prior)
    return np.asarray(a * rows.margins + b) if a > 0 else np.full(margins.size, prior)


def likeliest_line(
    margins: np.ndarray, targets: np.ndarray, weights: np.ndarray, insisted: float
) -> Line:
    """Return the likeliest line for targets of -1 and +1, with a shift only if rows insist on it.

    They do if twice their loss would be higher by more than ``insisted`` without one.
    """
    rows, unit = _in_one_unit(margins, targets, weights)
    a, b, cost = _lowest(rows)
    level_a, _, level = _lowest(rows, shifts=False)
    if 2 * margins.size * (level - cost) <= insisted:
        a, b = level_a, 0.0
    return Line(a / unit, b)


def log_losses(margins: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the log loss of every row."""
    return np.logaddexp(0.0, -targets * margins)


def _in_one_unit(
    margins: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> tuple[_Rows, float]:
    """Return rows with margins of size one at most, and what was their unit."""
    unit = float(np.abs(margins).max(initial=0.0)) or 1.0
    return _Rows(margins / unit, _softened(targets, weights), weights / np.sum(weights)), unit


def _softened(targets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Platt's goals: as sure as one row more of either class lets them be."""
    mean = np.mean(weights)
    positive, negative = (np.sum(weights[targets == sign]) / mean for sign in (1, -1))
    return np.where(targets > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))


def _lowest(rows: _Rows, b: float = 0.0, shifts: bool = True) -> tuple[float, float, float]:
    """Return the likeliest a and b, and what they cost; b stays if nothing ``shifts``."""
    a, cost = 0.0, rows.cost(0.0, b)
    for _ in range(STEPS):
        before = cost
        a, b, cost = _downhill(rows, a, b, cost, shifts)
        if before - cost < CLOSE:
            break
    return a, b, cost


def _downhill(
    rows: _Rows, a: float, b: float, cost: float, shifts: bool
) -> tuple[float, float, float]:
    """Return the next a, b and cost: a whole Newton step, or as much of it as helps."""
    step_a, step_b = rows.newton_step(a, b, shifts)
    share = 1.0
    while share > 1e-6:
        there = a - share * step_a, b - share * step_b
        lower = rows.cost(*there)
        if lower <= cost:
            return (*there, lower)
        share /= 2
    return a, b, cost
