"""Stochastic gradient descent, which shrinks nothing."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thresher.data.growth import Arrays
from thresher.kernels.rows import Rows, Updates
from thresher.kernels.sgd import descend
from thresher.learners.classic import ClassicLearner, Kinds


@dataclass(frozen=True)
class PlainSGD(ClassicLearner):
    """w <- w - eta g x."""

    by_slot: ClassVar[Kinds] = {"weights": np.float64}
    whole: ClassVar[Kinds] = {"bias": np.float64}

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learnt before an overflow."""
        return descend(rows, updates, self.loss, state["weights"], state["bias"])

    def settled(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the weights by slot and the constant input's weight."""
        return state["weights"].copy(), state["bias"][0]
