"""How rows become updates: in which orders, how often, and with which steps."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from thresher.draws import permutation
from thresher.online.steps import Steps
from thresher.online.updates import Updates, running_means
from thresher.rows import Rows, squared_norms
from thresher.threads import Threads

# Nonzeros in one call of a kernel: Ctrl-C takes effect between two calls.
SLICE = 2_000_000


@dataclass(frozen=True)
class Passes:
    """How often rows at hand are read, in which order, and what ends it early.

    Training ends when no weight changes by more than a share ``tol`` of the largest in a pass.
    """

    most: int
    tol: float = 0.0
    shuffle: bool = True
    seed: int = 0

    def orders(self, number: int, n_rows: int, n_orders: int, threads: Threads) -> list[np.ndarray]:
        """Return the orders of the rows in a pass: one for every path if they differ."""
        if not self.shuffle:
            return [np.arange(n_rows)] * n_orders
        return threads.map(
            lambda path: permutation(self.seed, path, number, n_rows), range(n_orders)
        )


class Batch(NamedTuple):
    """Rows, their squared norms, and how much each of them counts."""

    rows: Rows
    norms: np.ndarray
    importance: np.ndarray

    @classmethod
    def of(cls, rows: Rows, importance: np.ndarray) -> Self:
        """Return a batch of rows."""
        return cls(rows, squared_norms(rows.starts, rows.values), importance)

    @property
    def slice_size(self) -> int:
        """Return how many rows one kernel call may take."""
        return max(1, SLICE * self.norms.size // max(self.rows.values.size, 1))


class Feed:
    """The updates of one pass or chunk, in one or several orders.

    The mean squared norm is that of the rows so far, ``n_before`` of which had ``mean_before``.
    Several orders meet the rows in different turns: common to them is the mean over all rows.
    """

    def __init__(
        self,
        batch: Batch,
        targets: np.ndarray,
        orders: list[np.ndarray],
        steps: Steps,
        n_before: int,
        mean_before: float,
    ) -> None:
        n = orders[0].size
        if len(orders) == 1:
            self.means = running_means(batch.norms[orders[0]], n_before, mean_before)
        else:
            self.means = np.full(n, batch.norms.mean())
        self.lengths = steps.lengths(np.arange(n_before + 1, n_before + n + 1), self.means)
        self.biases = np.where(self.means > 0, steps.biases(self.means), 0.0)
        self.scales = np.where(self.means > 0, self.means, 1.0)
        self.batch, self.targets, self.orders, self.steps = batch, targets, orders, steps
        self.position, self.n_before = 0, n_before

    @property
    def left(self) -> int:
        """Return how many updates are left."""
        return self.means.size - self.position

    def next(self, count: int) -> list[Updates]:
        """Return the next updates, for every order; what they have in common is the same array."""
        now = slice(self.position, self.position + count)
        self.position += count
        common = self.lengths[now], self.biases[now], self.scales[now]
        return [self._updates(order[now], *common) for order in self.orders]

    def _updates(
        self, order: np.ndarray, lengths: np.ndarray, biases: np.ndarray, scales: np.ndarray
    ) -> Updates:
        importance = self.batch.importance
        if self.steps.bounded:
            pulls = importance[order] * (self.batch.norms[order] + biases**2)
            lengths = self.steps.within(lengths, pulls)
        return Updates(order, lengths, biases, scales, self.targets, importance)
