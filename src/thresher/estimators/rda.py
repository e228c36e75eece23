"""Regularized dual averaging (Xiao 2010)."""

from dataclasses import dataclass
from typing import ClassVar

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.parameters import CLASSIFYING, LOSSES, Constraints
from thresher.estimators.rates import AUTO_RATES
from thresher.learners.pace import Schedule
from thresher.learners.protocol import Learner
from thresher.learners.rda import RDA
from thresher.validation import Number, OneOf


@dataclass(kw_only=True, eq=False, repr=False)
class RDAClassifier(OnlineClassifier):
    """Linear classifier whose weights are a thresholded multiple of the mean gradient so far.

    Parameters
    ----------
    l1 : float, default=1e-4
        A feature whose mean gradient is no larger has weight 0.
    gamma : float or "auto", default="auto"
        The larger, the shorter the steps, which are 1 / (gamma sqrt(t)). A number is absolute;
        "auto" is relative to the rows' mean squared norm so far.
    rho : float, default=0.0
        Strength of the enhanced penalty ``gamma * rho / sqrt(t)``, which fades.
    """

    constraints: ClassVar[Constraints] = {
        **CLASSIFYING,
        "l1": (Number(0),),
        "gamma": (OneOf("auto"), Number(0, open_low=True)),
        "rho": (Number(0),),
    }

    l1: float = 1e-4
    gamma: float | str = "auto"
    rho: float = 0.0

    def _learner(self, n_rows: int | None) -> Learner:
        steps = Schedule(
            rate=AUTO_RATES["invsqrt"][self.loss],
            eta0=None if self.gamma == "auto" else 1.0 / float(self.gamma),
            fit_intercept=self.fit_intercept,
        )
        return RDA(steps, LOSSES[self.loss], float(self.l1), float(self.rho))
