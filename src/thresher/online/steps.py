"""How long the steps are.

Rows of one data set may be a thousand times longer than another's, so the automatic step is
relative to the rows' mean squared norm. That mean is a running one: it depends on the rows so far
and not on how they were cut into chunks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from thresher.losses import Loss
from thresher.validation import Number, OneOf, Parameter

# Relative to the automatic constant step: how long decaying steps begin, and those of several
# paths, whose average takes their noise away. A factor of three either way changes little.
DECAYING, AVERAGED = 30.0, 3.0


@dataclass(frozen=True)
class Steps:
    """The step of an update, from its number and the rows' mean squared norm.

    ``eta0`` is an absolute length, or None for ``rate`` relative to the rows. Steps that are
    ``bounded``, for losses whose slope grows with the error, never go beyond the row's own target.
    """

    rate: float
    eta0: float | None = None
    decaying: bool = False
    fit_intercept: bool = True
    bounded: bool = False

    def lengths(self, numbers: np.ndarray, mean_norms: np.ndarray) -> np.ndarray:
        """Return eta_t for every update."""
        if self.eta0 is not None:
            steps = np.full(numbers.size, self.eta0)
        else:
            steps = self.rate / np.where(mean_norms > 0, mean_norms, 1.0)
        return steps / np.sqrt(numbers) if self.decaying else steps

    def biases(self, mean_norms: np.ndarray | float) -> np.ndarray:
        """Return the size of the constant input that carries the intercept.

        As long as a typical row, it learns as fast as the rest whatever the units of the data.
        """
        sizes = np.sqrt(mean_norms)
        return np.where(sizes > 0, sizes, 1.0) * float(self.fit_intercept)

    def within(self, steps: np.ndarray, pulls: np.ndarray) -> np.ndarray:
        """Return the steps, bounded by 1 / pull, where the margin reaches the target, if need be.

        A row's pull is its importance times its squared norm, the constant input's included.
        """
        if not self.bounded:
            return steps
        return np.minimum(steps, np.divide(1.0, pulls, out=steps.copy(), where=pulls > 0))


# What a user may set of them.
STEPS = (
    Parameter(
        "eta0",
        "auto",
        (OneOf("auto"), Number(0, open_low=True)),
        'float or "auto"',
        'Length of the (first) step: absolute, or "auto", relative to the mean squared norm of '
        "the rows so far.",
    ),
    Parameter(
        "learning_rate",
        "invsqrt",
        (OneOf("constant", "invsqrt"),),
        '"constant" or "invsqrt"',
        "Whether steps stay as long, or fall with the square root of the number of updates.",
    ),
)


def steps_for(
    loss: Loss, values: Mapping[str, Any], fit_intercept: bool, relative: float | None = None
) -> Steps:
    """Return the steps that a user's parameters describe.

    ``relative`` is their automatic length relative to the loss's usual constant step.
    """
    decaying = values["learning_rate"] == "invsqrt"
    if relative is None:
        relative = DECAYING if decaying else 1.0
    return Steps(
        rate=relative * loss.step,
        eta0=None if values["eta0"] == "auto" else float(values["eta0"]),
        decaying=decaying,
        fit_intercept=fit_intercept,
        bounded=loss.of_numbers,
    )
