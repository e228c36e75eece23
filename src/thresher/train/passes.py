"""How often rows that are at hand are read, and in which order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from thresher.randomness import write_permutation
from thresher.workers import Workers

ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Passes:
    """How often the rows are read, in which order, and what ends it early.

    ``most`` is None for a learner that knows by itself when it has finished; ``watched`` says that
    somebody wants to hear of every pass.
    """

    most: int | None
    tol: float
    shuffle: bool
    seed: int
    watched: bool = False

    def at_once(self, n_rows: int, done: int) -> int:
        """Return how many passes to lay end to end: few rows make calls, not learning, cost."""
        wanted = 1 if self.watched or self.tol > 0 else max(1, ROWS_AT_ONCE // n_rows)
        return wanted if self.most is None else min(wanted, self.most - done)

    def orders(
        self, first: int, count: int, n_rows: int, n_orders: int, run_all: Workers
    ) -> list[np.ndarray]:
        """Return the orders of the rows in some passes, one for each path if they differ."""
        if not self.shuffle:
            return [np.tile(np.arange(n_rows), count)] * n_orders

        orders = np.empty((n_orders, count * n_rows), np.int64)

        def write(path: int) -> None:
            for number, order in enumerate(np.split(orders[path], count), first):
                write_permutation(self.seed, path, number, order)

        run_all(write, range(n_orders))
        return list(orders)

    def in_turn(
        self, n_rows: int, n_orders: int, run_all: Workers
    ) -> Iterator[tuple[int, list[np.ndarray]]]:
        """Give how many passes the next orders end, and those; a single one is drawn ahead."""

        def draw(number: int) -> tuple[int, Callable[[], list[np.ndarray]]]:
            count = self.at_once(n_rows, number)
            if n_orders == 1:
                wanted = number, count, n_rows, 1, run_all.alone()
                return count, run_all.later(self.orders, *wanted)
            return count, lambda: self.orders(number, count, n_rows, n_orders, run_all)

        number, ahead = 0, None
        while number != self.most:
            count, orders = ahead or draw(number)
            number, now = number + count, orders()
            ahead = None if number == self.most else draw(number)
            yield number, now
