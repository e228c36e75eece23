"""How rows become updates: in which orders, how often, with which steps; arithmetic they share."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from thresher.draws import permutation
from thresher.jit import jit
from thresher.online.steps import Steps
from thresher.rows import Rows, squared_norms
from thresher.threads import Threads

# Nonzeros in one call of a kernel: Ctrl-C takes effect between two calls.
SLICE = 2_000_000


class Updates(NamedTuple):
    """Rows to learn from, one after the other.

    ``order``, ``steps``, ``biases`` (sizes of the constant input) and ``norms`` (mean squared norms
    of the rows) have an entry per update; ``targets`` (-1 or +1, or any numbers) and
    ``importance`` have one per row.
    """

    order: NDArray[np.int64]
    steps: NDArray[np.float64]
    biases: NDArray[np.float64]
    norms: NDArray[np.float64]
    targets: NDArray[np.float64]
    importance: NDArray[np.float64]


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


@jit
def soft_threshold(weight, gravity):
    """Pull a weight towards 0 by ``gravity``, never past it: T(w, g), the paper's Eq. 5."""
    return weight - min(max(weight, -gravity), gravity)


@jit
def dot(left, right, size):
    """Return a product of vectors, summed up by turns so that no sum waits for the one before."""
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    a = b = c = d = 0.0
    k = np.uint64(0)
    while k + three < size:
        a += left[k] * right[k]
        b += left[k + one] * right[k + one]
        c += left[k + two] * right[k + two]
        d += left[k + three] * right[k + three]
        k += four
    while k < size:
        a += left[k] * right[k]
        k += one
    return (a + b) + (c + d)
