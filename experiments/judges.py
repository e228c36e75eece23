"""The outside judges, scikit-learn's own, made to be built like the rest."""

from typing import Any

import sklearn
from sklearn.linear_model import LogisticRegression, SGDClassifier


def sgd_l1(loss: str) -> Any:
    """Return scikit-learn's SGD with an l1 penalty, its passes neither cut short nor averaged."""
    return SGDClassifier(loss=loss, penalty="l1", tol=None)


def liblinear_l1(loss: str) -> Any:
    """Return l1 logistic regression by liblinear, the batch solver.

    It penalizes the intercept as well; its many steps of 1e-3 accuracy stand at their defaults.
    """
    del loss  # logistic is the only one it has
    # From 1.8 the penalty is named by its share of l1, and the old name warns.
    new = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)
    share = {"l1_ratio": 1.0} if new else {"penalty": "l1"}
    return LogisticRegression(solver="liblinear", max_iter=200, tol=1e-3, **share)
