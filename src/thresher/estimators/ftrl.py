"""FTRL-proximal (McMahan et al. 2013)."""

from dataclasses import dataclass
from typing import ClassVar

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.parameters import CLASSIFYING, LOSSES, Constraints
from thresher.learners.ftrl import FTRL
from thresher.learners.pace import Schedule
from thresher.learners.protocol import Learner
from thresher.validation import Number


@dataclass(kw_only=True, eq=False, repr=False)
class FTRLClassifier(OnlineClassifier):
    """Linear classifier by follow-the-regularized-leader, with a step of its own for every feature.

    Parameters
    ----------
    alpha : float, default=1.0
        Length of the steps. Very sparse models on rows of unit length do best with 3 to 100.
    beta : float, default=1.0
        Damps the first steps of a feature.
    l1 : float, default=1.0
        A feature whose adjusted gradient sum is no larger has weight 0.
    l2 : float, default=0.0
        Ridge penalty.
    """

    constraints: ClassVar[Constraints] = {
        **CLASSIFYING,
        "alpha": (Number(0, open_low=True),),
        "beta": (Number(0),),
        "l1": (Number(0),),
        "l2": (Number(0),),
    }

    alpha: float = 1.0
    beta: float = 1.0
    l1: float = 1.0
    l2: float = 0.0

    def _learner(self, n_rows: int | None) -> Learner:
        inputs = Schedule(rate=1.0, fit_intercept=self.fit_intercept)
        numbers = (float(one) for one in (self.alpha, self.beta, self.l1, self.l2))
        return FTRL(inputs, LOSSES[self.loss], *numbers)
