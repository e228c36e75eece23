"""How rows become updates: in which orders, how often, and with which steps."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from thresher.draws import permutation
from thresher.jit import jit
from thresher.online.steps import Steps
from thresher.online.updates import Updates
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


@dataclass
class Pace:
    """The number of updates so far, and the mean squared norm of their rows."""

    updates: int = 0
    mean_norm: float = 0.0


class Feed:
    """The updates of one pass or chunk, in one or several orders; the pace goes on with them.

    Several orders meet the rows in different turns: common to them is the mean norm of all rows.
    """

    def __init__(
        self, batch: Batch, targets: np.ndarray, orders: list[np.ndarray], steps: Steps, pace: Pace
    ) -> None:
        self.batch, self.targets, self.orders = batch, targets, orders
        self.steps, self.pace, self.left = steps, pace, orders[0].size
        self.most = max(1, SLICE * batch.rows.n // max(batch.rows.values.size, 1))

    def next(self, most: int) -> list[Updates]:
        """Return the next updates for every order; what these have in common is the same array."""
        count = min(most, self.most, self.left)
        first = self.orders[0].size - self.left
        orders = [order[first : first + count] for order in self.orders]
        numbers = np.arange(self.pace.updates + 1, self.pace.updates + count + 1)
        if len(orders) > 1:
            means = np.full(count, self.batch.norms.mean())
        else:
            norms = self.batch.norms[orders[0]]
            means = running_means(norms, self.pace.updates, self.pace.mean_norm)
        self.left -= count
        self.pace.updates, self.pace.mean_norm = self.pace.updates + count, float(means[-1])
        lengths, biases, norms = self.steps.lengths(numbers, means), self.steps.biases(means), means
        if means[0] == 0:  # no row has had a feature yet
            biases, norms = np.where(means > 0, biases, 0.0), np.where(means > 0, means, 1.0)
        return [
            Updates(
                order,
                self._bounded(order, lengths, biases) if self.steps.bounded else lengths,
                biases,
                norms,
                self.targets,
                self.batch.importance,
            )
            for order in orders
        ]

    def _bounded(self, order: np.ndarray, lengths: np.ndarray, biases: np.ndarray) -> np.ndarray:
        """Return steps that never go beyond the row's own target."""
        pulls = self.batch.importance[order] * (self.batch.norms[order] + biases**2)
        return self.steps.within(lengths, pulls)


@jit
def running_means(numbers, count, mean):
    """Return the mean after each number, of those and of ``count`` earlier ones."""
    means = np.empty_like(numbers)
    for i in range(numbers.size):
        count += 1
        mean += (numbers[i] - mean) / count
        means[i] = mean
    return means
