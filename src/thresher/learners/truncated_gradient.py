"""Truncated gradient (Langford, Li & Zhang 2009)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thresher.data.growth import Arrays
from thresher.kernels.rows import Rows, Updates
from thresher.kernels.truncated_gradient import descend_truncating, settle_row
from thresher.learners.classic import ClassicLearner, Kinds


@dataclass(frozen=True)
class TruncatedGradient(ClassicLearner):
    """SGD; after every ``burst_size`` updates all weights up to ``ceiling`` are truncated."""

    gravity: float
    burst_size: int
    ceiling: float

    by_slot: ClassVar[Kinds] = {"weights": np.float64, "settled": np.int64}
    whole: ClassVar[Kinds] = {"bias": np.float64, "clock": np.int64}

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learnt before an overflow."""
        return descend_truncating(
            rows,
            updates,
            self.loss,
            state["weights"],
            state["bias"],
            state["settled"],
            state["clock"],
            self.gravity,
            self.burst_size,
            self.ceiling,
        )

    def settled(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the weights with every overdue truncation paid."""
        weights = state["weights"].copy()
        truncations = state["clock"][0] // self.burst_size
        everything = np.arange(weights.size, dtype=np.uint32)
        settle_row(
            everything,
            weights,
            state["settled"].copy(),
            truncations,
            self.gravity * self.burst_size,
            self.ceiling,
        )
        return weights, state["bias"][0]
