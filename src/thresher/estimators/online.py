"""Online classifiers, of which the five classics are made.

To add a classic, write a learner, and a class of two lines at the end of this file.
"""

from typing import Any, ClassVar, Self

import numpy as np

from thresher.estimators.classifier import LinearClassifier
from thresher.estimators.labels import check_classes
from thresher.estimators.learning import OnlineModel
from thresher.estimators.parameters import COMMON
from thresher.losses import LOSSES
from thresher.online.fobos import FOBOS
from thresher.online.ftrl import FTRL
from thresher.online.protocol import Online, RowLearner
from thresher.online.rda import RDA
from thresher.online.sgd import PlainSGD
from thresher.online.truncated_gradient import TruncatedGradient


class OnlineClassifier(LinearClassifier, OnlineModel):
    """A linear classifier that learns one row at a time."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the next rows of a stream, in the order given.

        However the stream is cut into calls, the result is the same to the last bit. If a call
        fails, nothing of it is kept.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``. Columns of a data frame are found by the names of the first call.
        classes : array, needed in the first call
            All labels that will ever occur.
        """
        return self._learn_next(X, y, sample_weight, classes)

    def _begin_classes(self, classes: Any) -> None:
        if classes is None:
            raise ValueError("The first call to partial_fit needs classes=, all labels there are.")
        self.classes_ = check_classes(classes)

    def _refuse_other_classes(self, classes: Any) -> None:
        if np.array_equal(classes, self.classes_):  # as they usually are
            return
        given = check_classes(classes)
        if not np.array_equal(given, self.classes_):
            raise ValueError(
                f"classes={given.tolist()} differ from those of the first call, "
                f"{self.classes_.tolist()}. Leave classes out, or start with a new estimator."
            )


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
