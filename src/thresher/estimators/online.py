"""The five classics.

To add a classic, write a learner, and a class of two lines at the end of this file.
"""

from typing import Any, ClassVar

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.parameters import COMMON
from thresher.losses import LOSSES
from thresher.online.fobos import FOBOS
from thresher.online.ftrl import FTRL
from thresher.online.protocol import Online, RowLearner
from thresher.online.rda import RDA
from thresher.online.sgd import PlainSGD
from thresher.online.truncated_gradient import TruncatedGradient


class ClassicClassifier(OnlineClassifier):
    """A classifier whose own parameters are those of its learner."""

    learner: ClassVar[type[RowLearner]]

    def __init_subclass__(cls, learner: type[RowLearner] | None = None, **options: Any) -> None:
        """Take over the parameters of the learner."""
        if learner is not None:
            cls.learner, cls.parameters = learner, (*learner.parameters, *COMMON)
        super().__init_subclass__(**options)

    def _learner(self) -> Online:
        return self.learner.of(LOSSES[self.loss], self.fit_intercept, vars(self))


class PlainSGDClassifier(ClassicClassifier, learner=PlainSGD):
    """Linear classifier by stochastic gradient descent, which shrinks nothing."""


class TruncatedGradientClassifier(ClassicClassifier, learner=TruncatedGradient):
    """Linear classifier by SGD that truncates all weights now and then (Langford et al. 2009)."""


class FOBOSClassifier(ClassicClassifier, learner=FOBOS):
    """Linear classifier by forward-backward splitting (Duchi & Singer 2009)."""


class RDAClassifier(ClassicClassifier, learner=RDA):
    """Linear classifier by regularized dual averaging (Xiao 2010)."""


class FTRLClassifier(ClassicClassifier, learner=FTRL):
    """Linear classifier by FTRL-proximal, with a step for each feature (McMahan et al. 2013)."""
