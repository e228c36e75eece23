"""FOBOS: forward-backward splitting (Duchi & Singer 2009)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thresher.data.growth import Arrays
from thresher.kernels.fobos import descend_shrinking, settle_row
from thresher.kernels.rows import Rows, Updates
from thresher.learners.classic import ClassicLearner, Kinds


@dataclass(frozen=True)
class FOBOS(ClassicLearner):
    """An SGD step, then every weight shrinks by ``l1`` times the step."""

    l1: float

    by_slot: ClassVar[Kinds] = {"weights": np.float64, "settled": np.float64}
    whole: ClassVar[Kinds] = {"bias": np.float64, "clock": np.float64}

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learnt before an overflow."""
        return descend_shrinking(
            rows,
            updates,
            self.loss,
            state["weights"],
            state["bias"],
            state["settled"],
            state["clock"],
            self.l1,
        )

    def settled(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the weights with all shrinkage paid."""
        weights = state["weights"].copy()
        everything = np.arange(weights.size, dtype=np.uint32)
        settle_row(everything, weights, state["settled"].copy(), state["clock"][0], self.l1)
        return weights, state["bias"][0]
