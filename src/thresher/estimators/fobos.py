"""FOBOS: forward-backward splitting (Duchi & Singer 2009)."""

from dataclasses import dataclass
from typing import ClassVar

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.parameters import CLASSIFYING, LOSSES, STEPS, Constraints
from thresher.estimators.rates import schedule_for
from thresher.learners.fobos import FOBOS
from thresher.learners.protocol import Learner
from thresher.validation import Number


@dataclass(kw_only=True, eq=False, repr=False)
class FOBOSClassifier(OnlineClassifier):
    """Linear classifier by forward-backward splitting: an SGD step, then every weight shrinks.

    Parameters
    ----------
    l1 : float, default=1e-4
        Every update shrinks every weight by ``l1`` times the step.
    """

    constraints: ClassVar[Constraints] = {
        **CLASSIFYING,
        **STEPS,
        "l1": (Number(0),),
    }

    l1: float = 1e-4
    eta0: float | str = "auto"
    learning_rate: str = "invsqrt"

    def _learner(self, n_rows: int | None) -> Learner:
        return FOBOS(schedule_for(self), LOSSES[self.loss], float(self.l1))
