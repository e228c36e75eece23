"""How long steps are when the user does not say.

Relative to the rows' mean squared norm: eta0 = rate / mean ||x||^2. The rate falls with the
steepness of the loss.
"""

from typing import Any

from thresher.estimators.parameters import TARGET_LOSSES
from thresher.learners.pace import Schedule

# Chosen by 3-fold cross-validation on the training parts of seven data sets; a factor of three
# either way changes little.
AUTO_RATES = {
    "constant": {"log_loss": 1.0, "hinge": 0.2, "squared_hinge": 0.05, "modified_huber": 0.05},
    "invsqrt": {"log_loss": 30.0, "hinge": 10.0, "squared_hinge": 1.0, "modified_huber": 3.0},
}


def schedule_for(estimator: Any, rate: float | None = None, share: float = 1.0) -> Schedule:
    """Return the schedule an estimator's parameters describe, or a share of its steps.

    ``rate`` stands in for the rate of the table above.
    """
    auto = AUTO_RATES[estimator.learning_rate][estimator.loss] if rate is None else rate
    return Schedule(
        rate=share * auto,
        eta0=None if estimator.eta0 == "auto" else share * estimator.eta0,
        decaying=estimator.learning_rate == "invsqrt",
        fit_intercept=estimator.fit_intercept,
        within=estimator.loss in TARGET_LOSSES,
    )
