"""How long steps are when the user does not say.

Relative to the rows' mean squared norm: eta0 = rate / mean ||x||^2. The rate falls with the
steepness of the loss.
"""

from typing import Any

from thresher.learners.pace import Schedule
from thresher.validation import Number, OneOf

ETA0 = (OneOf("auto"), Number(0, open_low=True))
LEARNING_RATE = (OneOf("constant", "invsqrt"),)

AUTO_RATES = {"hinge": 1.0, "log_loss": 3.0, "squared_hinge": 0.5, "modified_huber": 0.5}


def schedule_for(estimator: Any, share: float = 1.0) -> Schedule:
    """Return the schedule an estimator's parameters describe, or a share of its steps."""
    return Schedule(
        rate=share * AUTO_RATES[estimator.loss],
        eta0=None if estimator.eta0 == "auto" else share * estimator.eta0,
        decaying=estimator.learning_rate == "invsqrt",
        fit_intercept=estimator.fit_intercept,
    )
