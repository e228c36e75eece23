"""FOBOS, forward-backward splitting (Duchi & Singer 2009; the paper's Eq. 19).

An SGD step, then w_j <- T(w_j, eta_t lambda) for every j: what is due is lambda times the sum of
the steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from thresher.losses import Loss
from thresher.online.sgd import ShrinkingSGD
from thresher.online.steps import STEPS, steps_for
from thresher.validation import Number, Parameter, Parameters


@dataclass(frozen=True)
class FOBOS(ShrinkingSGD):
    """An SGD step, then every weight shrinks by ``l1`` times the step."""

    parameters: ClassVar[Parameters] = (
        Parameter(
            "l1",
            1e-4,
            (Number(0),),
            "float",
            "Every update shrinks every weight by ``l1`` times the step.",
        ),
        *STEPS,
    )

    @classmethod
    def of(cls, loss: Loss, fit_intercept: bool, values: Mapping[str, Any]) -> Self:
        """Return the learner that a user's parameters describe."""
        return cls(loss.code, steps_for(loss, values, fit_intercept), float(values["l1"]))
