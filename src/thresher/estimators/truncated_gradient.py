"""Truncated gradient (Langford, Li & Zhang 2009)."""

import math
from dataclasses import dataclass
from typing import ClassVar

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.parameters import CLASSIFYING, LOSSES, STEPS, Constraints
from thresher.estimators.rates import schedule_for
from thresher.learners.protocol import Learner
from thresher.learners.truncated_gradient import TruncatedGradient
from thresher.validation import Number, OneOf, Whole


@dataclass(kw_only=True, eq=False, repr=False)
class TruncatedGradientClassifier(OnlineClassifier):
    """Linear classifier by SGD whose weights are all truncated after every few updates.

    Parameters
    ----------
    gravity : float, default=1e-6
        Shrinkage per update, in units of the weights: a truncation takes ``gravity * burst_size``
        from every weight.
    burst_size : int, default=10
        Updates between two truncations.
    ceiling : float or None, default=None
        Weights above it are not shrunk; None shrinks all.
    """

    constraints: ClassVar[Constraints] = {
        **CLASSIFYING,
        **STEPS,
        "gravity": (Number(0),),
        "burst_size": (Whole(1),),
        "ceiling": (Number(0), OneOf(None)),
    }

    gravity: float = 1e-6
    burst_size: int = 10
    ceiling: float | None = None
    eta0: float | str = "auto"
    learning_rate: str = "invsqrt"

    def _learner(self, n_rows: int | None) -> Learner:
        return TruncatedGradient(
            schedule_for(self),
            LOSSES[self.loss],
            float(self.gravity),
            int(self.burst_size),
            math.inf if self.ceiling is None else float(self.ceiling),
        )
