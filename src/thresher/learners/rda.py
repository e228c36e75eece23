"""Regularized dual averaging with the enhanced l1 penalty (Xiao 2010)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thresher.data.growth import Arrays
from thresher.kernels.rda import average_gradients, bias_of, weights_of
from thresher.kernels.rows import Rows, Updates
from thresher.learners.classic import ClassicLearner, Kinds


@dataclass(frozen=True)
class RDA(ClassicLearner):
    """Weights are a thresholded multiple of the mean gradient so far; the steps are 1/gamma."""

    l1: float
    rho: float

    by_slot: ClassVar[Kinds] = {"sums": np.float64}
    whole: ClassVar[Kinds] = {"bias_sum": np.float64, "updates": np.int64, "gamma": np.float64}

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learnt before an overflow."""
        return average_gradients(
            rows,
            updates,
            self.loss,
            state["sums"],
            state["bias_sum"],
            state["updates"],
            state["gamma"],
            self.l1,
            self.rho,
        )

    def settled(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the closed form of the sums so far."""
        done, gamma = state["updates"][0], state["gamma"][0]
        weights = weights_of(state["sums"], done, gamma, self.l1, self.rho)
        return weights, bias_of(state["bias_sum"][0], done, gamma)
