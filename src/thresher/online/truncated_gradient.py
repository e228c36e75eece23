"""Truncated gradient (Langford, Li & Zhang 2009), the paper's Algorithm 1.

After every K updates, w_j <- T(w_j, g K) for every weight up to a ceiling.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from thresher.losses import Loss
from thresher.online.sgd import ShrinkingSGD
from thresher.online.steps import STEPS, steps_for
from thresher.validation import Number, OneOf, Parameter, Parameters, Whole


@dataclass(frozen=True)
class TruncatedGradient(ShrinkingSGD):
    """SGD whose weights are all truncated after every ``burst_size`` updates."""

    parameters: ClassVar[Parameters] = (
        Parameter(
            "gravity",
            1e-6,
            (Number(0),),
            "float",
            "Shrinkage per update, in units of the weights: a truncation takes ``gravity * "
            "burst_size`` from every weight.",
        ),
        Parameter("burst_size", 10, (Whole(1),), "int", "Updates between two truncations."),
        Parameter(
            "ceiling",
            None,
            (Number(0), OneOf(None)),
            "float or None",
            "Weights above it are not shrunk; None shrinks all.",
        ),
        *STEPS,
    )

    @classmethod
    def of(cls, loss: Loss, fit_intercept: bool, values: Mapping[str, Any]) -> Self:
        """Return the learner that a user's parameters describe."""
        ceiling = math.inf if values["ceiling"] is None else float(values["ceiling"])
        steps = steps_for(loss, values, fit_intercept)
        return cls(loss.code, steps, float(values["gravity"]), int(values["burst_size"]), ceiling)
