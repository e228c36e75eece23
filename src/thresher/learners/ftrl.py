"""FTRL-proximal (McMahan et al. 2013)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thresher.data.growth import Arrays
from thresher.kernels.ftrl import follow_leader, weights_of
from thresher.kernels.rows import Rows, Updates
from thresher.learners.classic import ClassicLearner, Kinds


@dataclass(frozen=True)
class FTRL(ClassicLearner):
    """Every feature has its own step, which falls with the gradients it has seen."""

    alpha: float
    beta: float
    l1: float
    l2: float

    by_slot: ClassVar[Kinds] = {"z": np.float64, "roots": np.float64}
    whole: ClassVar[Kinds] = {"bias_z": np.float64, "bias_root": np.float64}

    def learn(self, state: Arrays, rows: Rows, updates: Updates) -> int:
        """Learn from the rows in turn; return how many were learnt before an overflow."""
        return follow_leader(
            rows,
            updates,
            self.loss,
            state["z"],
            state["roots"],
            state["bias_z"],
            state["bias_root"],
            self.alpha,
            self.beta,
            self.l1,
            self.l2,
        )

    def settled(self, state: Arrays) -> tuple[np.ndarray, float]:
        """Return the closed form of the sums so far."""
        weights = weights_of(state["z"], state["roots"], self.alpha, self.beta, self.l1, self.l2)
        bias = weights_of(state["bias_z"], state["bias_root"], self.alpha, self.beta, 0.0, 0.0)
        return weights, bias[0]
