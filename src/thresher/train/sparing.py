"""Weights of numbers that cost their size: the more a feature has to say, the less it is held back.

Features that were selected from few rows fit their noise. A ridge holds all of them back alike, and
with as many of them as rows nothing of the model is left that other rows would agree with. Where a
weight costs its size, the few that tell keep nearly all of theirs, and the others next to nothing:
the lasso (Tibshirani 1996), of columns of one deviation. How much weights cost held-out rows say.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from thresher.kernels.losses import HUBER
from thresher.kernels.rows import Rows
from thresher.kernels.sparing import add_products, spare
from thresher.train.settling import Lesson

# Shares of the cost from which on no weight is worth it.
COSTS = (0.5, 0.3, 0.2, 0.12, 0.07, 0.04, 0.02, 0.01, 0.003)
MOST_FEATURES = 1_000  # whose products are computed
LEAST = 0.01  # of a usual weight: smaller ones cost as parabolas do, and none becomes 0
# Rounds at most, and the share of the spread that no weight still moves.
BRIEFLY, EXACTLY = (100, 1e-3), (2_000, 1e-6)
AGAIN = 5  # times that rows are weighed anew by Huber's loss


@dataclass(frozen=True)
class Moments:
    """What rows say of every two features, and of each and the targets, around their means."""

    products: np.ndarray
    pulls: np.ndarray
    means: np.ndarray
    total: float
    centre: float  # of the targets
    spread: float  # of the targets, as a sum of squares

    @property
    def deviations(self) -> np.ndarray:
        """Return the standard deviations of the features; 1 of those that are constant."""
        found = np.sqrt(np.maximum(np.diag(self.products), 0.0) / self.total)
        return np.where(found > 0, found, 1.0)

    def intercept(self, weights: np.ndarray) -> float:
        """Return the intercept that goes with some weights."""
        return self.centre - float(np.sum(self.means * weights))


def spared(
    lesson: Lesson, rows: Rows, n_features: int, costs: Sequence[float], exactly: bool = False
) -> list[np.ndarray]:
    """Return the weights at some costs, which fall, the intercept last; none of many features.

    Each is found from the one before. Huber's loss is squares again, of which errors beyond 1 weigh
    the less the larger they are: as they were at the cost before.
    """
    if not costs or n_features > MOST_FEATURES:
        return []
    parts = rows.values.astype(np.float64), rows.slots, rows.starts
    table = sparse.csr_array(parts, shape=(lesson.targets.size, n_features))
    margins, weights, found = np.zeros(lesson.targets.size), np.zeros(n_features), []
    moments = moments_of(lesson, table, margins)
    for cost in [*(one for one in COSTS if one > costs[0]), *costs]:
        for _ in range(AGAIN if exactly and lesson.loss == HUBER else 1):
            weights = _spare(moments, cost, weights, exactly)
            if lesson.loss == HUBER:
                margins = table @ weights + moments.intercept(weights)
                moments = moments_of(lesson, table, margins)
        if cost <= costs[0]:
            found.append(np.append(weights, moments.intercept(weights)))
    return found


def moments_of(lesson: Lesson, table: sparse.csr_array, margins: np.ndarray) -> Moments:
    """Return what rows say, each as important as it is, if these are their margins."""
    importance, targets, n_features = lesson.importance, lesson.targets, table.shape[1]
    if lesson.loss == HUBER:
        importance = importance / np.maximum(np.abs(targets - margins), 1.0)
    products = np.zeros((n_features, n_features))
    rows = Rows(table.indptr.astype(np.int64), table.indices.astype(np.uint32), table.data)
    add_products(rows, importance, products)
    products += np.triu(products, 1).T + np.tril(products, -1).T
    total, sums = float(np.sum(importance)), table.T @ importance
    centre = float(np.sum(importance * targets)) / total if lesson.intercept else 0.0
    means = sums / total if lesson.intercept else np.zeros(n_features)
    products -= total * means[:, None] * means
    pulls = table.T @ (importance * (targets - centre))
    spread = float(np.sum(importance * (targets - centre) ** 2))
    return Moments(products, pulls, means, total, centre, spread)


def _spare(moments: Moments, share: float, weights: np.ndarray, exactly: bool) -> np.ndarray:
    """Return the weights that cost a share of the most, found from others."""
    deviations, usual = moments.deviations, np.sqrt(moments.spread / moments.total)
    costs = share * float(np.max(np.abs(moments.pulls) / deviations)) * deviations
    least = LEAST * usual / (deviations * np.sqrt(weights.size))
    weights = weights.copy()
    left = moments.pulls - np.sum(moments.products * weights, axis=1)
    rounds, close = EXACTLY if exactly else BRIEFLY
    scale = np.sqrt(moments.spread)
    spare(moments.products, left, costs, least, weights, rounds, close * scale)
    return weights
