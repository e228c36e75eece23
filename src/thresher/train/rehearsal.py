"""A stream's first rows, learnt again and again while there are few of them.

One pass over a few hundred rows teaches little. So the first rows are remembered, and each new one
is followed by some of them. Once there are many, the rows themselves are enough, and all are
forgotten: memory stays bounded.
"""

from typing import Any

import numpy as np

from thresher.data.growth import Log, Restore
from thresher.files import access
from thresher.kernels.rows import Rows
from thresher.learners.protocol import Learner
from thresher.train.feed import Batch

MOST_NONZEROS = 1 << 22


class Rehearsal:
    """The rows so far, with a target of each for every problem."""

    def __init__(self, n_problems: int, dtype: np.dtype) -> None:
        self.rows = Log(
            ends=np.zeros(0, np.int64),
            norms=np.zeros(0),
            importance=np.zeros(0),
            targets=np.zeros((0, n_problems)),
        )
        self.nonzeros = Log(slots=np.zeros(0, np.uint32), values=np.zeros(0, dtype))

    def __len__(self) -> int:
        """Return the number of rows remembered."""
        return int(self.rows.length[0])

    def takes(self, sizes: np.ndarray, updates: int, learner: Learner) -> int:
        """Return how many of the next rows, of so many nonzeros each, are to be remembered.

        With those that are learnt again they make so many updates, or what the last of them adds.
        """
        counts = learner.rehearsals(len(self), sizes.size)
        most = np.count_nonzero(counts)  # they only fall
        room = MOST_NONZEROS - int(self.nonzeros.length[0])
        fitting = np.searchsorted(np.cumsum(sizes[:most]), room, side="right")
        return int(min(fitting, 1 + np.searchsorted(np.cumsum(1 + counts[:most]), updates)))

    def remember(self, batch: Batch, targets: list[np.ndarray]) -> None:
        """Add rows."""
        self.rows.extend(
            ends=self.nonzeros.length[0] + batch.rows.starts[1:],
            norms=batch.norms,
            importance=batch.importance,
            targets=np.column_stack(targets),
        )
        self.nonzeros.extend(slots=batch.rows.slots, values=batch.rows.values)

    def lesson(self, first: int, learner: Learner) -> tuple[Batch, list[np.ndarray], np.ndarray]:
        """Return all rows with their targets, and the order in which to learn from ``first`` on."""
        rows, nonzeros = self.rows.used(), self.nonzeros.used()
        starts = np.concatenate([np.zeros(1, np.int64), rows["ends"]])
        matrix = Rows(starts, nonzeros["slots"], nonzeros["values"])
        batch = Batch(matrix, rows["norms"], rows["importance"])
        counts = learner.rehearsals(first, len(self) - first)
        fresh = np.arange(first, len(self))
        order = np.repeat(fresh, 1 + counts)
        numbers = np.arange(order.size) - np.searchsorted(order, order)
        order = np.where(numbers > 0, learner.rehearsed(order, numbers), order)
        return batch, [np.ascontiguousarray(one) for one in rows["targets"].T], order

    def savepoint(self) -> Restore:
        """Return what forgets the rows that come from now on."""
        lengths = len(self), int(self.nonzeros.length[0])

        def restore() -> None:
            self.rows.length[0], self.nonzeros.length[0] = lengths

        return restore

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        return {"rows": self.rows.tree(), "nonzeros": self.nonzeros.tree()}

    @classmethod
    def from_tree(
        cls, tree: dict[str, Any], n_problems: int, dtype: np.dtype, n_slots: int
    ) -> "Rehearsal":
        """Return the rehearsal that gave a tree."""
        read = cls(n_problems, dtype)
        read.rows = read.rows.from_tree(access.branch(tree, "rows"))
        read.nonzeros = read.nonzeros.from_tree(access.branch(tree, "nonzeros"))
        ends, slots = read.rows["ends"], read.nonzeros["slots"]
        in_turn = (np.diff(ends, prepend=0) >= 0).all() and ends[-1:].sum() == slots.size
        if not in_turn or slots.max(initial=0) >= max(n_slots, 1):
            access.refuse("the rows that are remembered do not fit together")
        return read
