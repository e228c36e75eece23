"""Stochastic gradient descent, which selects nothing: the base line."""

from dataclasses import dataclass
from typing import ClassVar

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.parameters import CLASSIFYING, LOSSES, STEPS, Constraints
from thresher.estimators.rates import schedule_for
from thresher.learners.protocol import Learner
from thresher.learners.sgd import PlainSGD


@dataclass(kw_only=True, eq=False, repr=False)
class PlainSGDClassifier(OnlineClassifier):
    """Linear classifier by stochastic gradient descent: w <- w - eta g x, nothing is shrunk.

    Parameters
    ----------
    """

    constraints: ClassVar[Constraints] = {
        **CLASSIFYING,
        **STEPS,
    }

    eta0: float | str = "auto"
    learning_rate: str = "invsqrt"

    def _learner(self, n_rows: int | None) -> Learner:
        return PlainSGD(schedule_for(self), LOSSES[self.loss])
