"""Rows at hand, and the updates they become."""

from dataclasses import dataclass, replace

import numpy as np

from thresher.kernels.rows import Rows, Updates
from thresher.learners.pace import Pace, Schedule, stable_steps

# Nonzeros in one call of a kernel: between two calls Ctrl-C is heard.
SLICE = 2_000_000


@dataclass(frozen=True)
class Batch:
    """Rows with their squared norms, and how much each of them counts."""

    rows: Rows
    norms: np.ndarray
    importance: np.ndarray

    @property
    def slice_size(self) -> int:
        """Return how many rows one kernel call may take."""
        return max(1, SLICE * self.norms.size // max(self.rows.slots.size, 1))

    @property
    def mean_norm(self) -> float:
        """Return the mean squared norm of the rows."""
        return float(np.mean(self.norms))

    def only(self, rows: np.ndarray) -> "Batch":
        """Return a batch in which only the rows of some numbers count."""
        importance = np.zeros_like(self.importance)
        importance[rows] = self.importance[rows]
        return replace(self, importance=importance)


class Feed:
    """The updates of one pass or chunk, in as many orders as the learner reads."""

    def __init__(
        self,
        batch: Batch,
        targets: np.ndarray,
        orders: list[np.ndarray],
        pace: Pace,
        streams: bool,
    ) -> None:
        self.batch = batch
        self.targets = targets
        self.orders = orders
        self.pace = pace
        self.position = 0
        if streams:
            self.numbers, self.mean_norms = pace.ahead(batch.norms[orders[0]])
        else:  # paths see other rows first: common to them is the mean over all rows
            self.numbers = pace.numbers_ahead(orders[0].size)
            self.mean_norms = np.full(orders[0].size, batch.norms.mean())

    @property
    def left(self) -> int:
        """Return how many updates are left."""
        return self.numbers.size - self.position

    def next(self, count: int, schedule: Schedule) -> list[Updates]:
        """Return the next updates, for each order."""
        now = slice(self.position, self.position + count)
        self.position += count
        numbers, mean_norms = self.numbers[now], self.mean_norms[now]
        self.pace.reach(numbers[-1], mean_norms[-1])
        steps = schedule.steps(numbers, mean_norms)
        common = steps, schedule.biases(mean_norms), np.where(mean_norms > 0, mean_norms, 1.0)
        return [self._updates(order[now], *common, schedule.within) for order in self.orders]

    def _updates(
        self,
        order: np.ndarray,
        steps: np.ndarray,
        biases: np.ndarray,
        norms: np.ndarray,
        within: bool,
    ) -> Updates:
        """Return updates in an order, of a loss that needs it none longer than is stable."""
        importance = self.batch.importance
        if within:
            pulls = importance[order] * (self.batch.norms[order] + biases**2)
            steps = stable_steps(steps, pulls)
        return Updates(order, steps, biases, norms, self.targets, importance)
