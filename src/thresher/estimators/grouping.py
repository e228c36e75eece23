"""Features that stand in for each other: groups of columns that go up and down together.

A model needs but one of them, and which one it takes may change with a handful of rows: so a
feature of low selection probability may belong to a group that is sure.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

CORRELATED = 0.7  # then one explains about half of the other's variance, .7^2
# How far the chance that a refit selects some member is from that of the surest one, on the way to
# what it would be if members were selected independently: what spoils the strongest in a half of
# the rows spoils those who stand in for it, too. Printed by python -m experiments.calibration.
INDEPENDENCE = 0.67
FEWEST_ROWS = 5  # in which a column must occur: rarer ones go together by chance
CELLS = 1 << 22  # of a table of correlations that are worked on at once


@dataclass(frozen=True)
class Groups:
    """For every feature the place of its group's leader, -1 without one, and their correlation."""

    leader: np.ndarray
    correlation: np.ndarray

    def members(self, leader: int) -> np.ndarray:
        """Return the places of a leader's stand-ins, the closest first."""
        mine = np.flatnonzero(self.leader == leader)
        mine = mine[mine != leader]
        return mine[np.argsort(-np.abs(self.correlation[mine]), kind="stable")]


def probability_of_any(probabilities: np.ndarray, independence: float = INDEPENDENCE) -> float:
    """Return the probability that a refit selects at least one of a group's members."""
    surest = float(probabilities.max())
    return surest + independence * (1 - float(np.prod(1 - probabilities)) - surest)


def group(rows: sparse.csr_array, n_leading: int) -> Groups:
    """Return groups of the matrix's columns, of which the first ``n_leading`` may lead one.

    A column leads unless an earlier one has taken it in; it takes in all columns, not yet taken,
    that correlate with it. Nobody is in a group for the sake of a third.
    """
    width = rows.shape[1]
    known = np.bincount(rows.indices, minlength=width) >= FEWEST_ROWS
    leader, correlation = np.full(width, -1), np.full(width, np.nan)
    step = max(1, CELLS // max(width, 1))
    for first in range(0, n_leading, step):
        block = np.arange(first, min(first + step, n_leading))
        for column, mine in zip(block, correlations(rows, block), strict=True):
            if leader[column] >= 0 or not known[column]:
                continue
            taken = known & (leader < 0) & (np.abs(mine) >= CORRELATED)
            taken[column] = False
            if taken.any():
                leader[taken], correlation[taken] = column, mine[taken]
                leader[column], correlation[column] = column, 1.0
    return Groups(leader, correlation)


def correlations(rows: sparse.csr_array, columns: np.ndarray) -> np.ndarray:
    """Return Pearson's correlation of some columns with all; that of a constant column is 0."""
    n_rows = max(rows.shape[0], 1)
    means = np.asarray(rows.sum(axis=0)).ravel() / n_rows
    squares = np.asarray(rows.multiply(rows).sum(axis=0)).ravel() / n_rows
    spread = np.sqrt(np.maximum(squares - means**2, 0.0))
    spread[spread <= 1e-7 * np.sqrt(squares)] = np.inf  # constant, up to rounding
    products = (rows[:, columns].T @ rows).toarray() / n_rows
    products -= np.outer(means[columns], means)
    return products / np.outer(spread[columns], spread)
