"""FTRL-proximal (McMahan et al. 2013)."""

from typing import Any, ClassVar

from thresher.estimators.base import LOSSES, Constraints, OnlineClassifier
from thresher.learners.ftrl import FTRL
from thresher.learners.pace import Schedule
from thresher.learners.protocol import Learner
from thresher.validation import Number


class FTRLClassifier(OnlineClassifier):
    """Linear classifier by follow-the-regularized-leader, with a step of its own for every feature.

    Parameters
    ----------
    loss : "hinge", "log_loss", "squared_hinge" or "modified_huber", default="log_loss"
        What is minimised.
    alpha : float, default=1.0
        Length of the steps. Very sparse models on rows of unit length do best with 3 to 100.
    beta : float, default=1.0
        Damps the first steps of a feature.
    l1 : float, default=1.0
        A feature whose adjusted gradient sum is no larger has weight 0.
    l2 : float, default=0.0
        Ridge penalty.
    max_iter : int, default=20
        Passes over the rows in ``fit``.
    tol : float or None, default=1e-3
        ``fit`` ends early after a pass in which no weight changed by more than this share of the
        largest weight; None never ends early.
    fit_intercept : bool, default=True
        Whether to learn an intercept; it is never shrunk.
    shuffle : bool, default=True
        Whether ``fit`` reads the rows in a new random order in each pass.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes; "balanced" counts the rows in ``fit``, and the rows so far in
        ``partial_fit``.
    random_state : int, RandomState or None, default=None
        Seed of the orders of rows.
    n_jobs : int or None, default=None
        Threads, used over classes; the result is the same to the last bit for any number.
    warm_start : bool, default=False
        Whether ``fit`` goes on from what was learnt before.
    verbose : int, default=0
        Whether ``fit`` prints a line after every pass.
    """

    constraints: ClassVar[Constraints] = {
        **OnlineClassifier.constraints,
        "alpha": (Number(0, open_low=True),),
        "beta": (Number(0),),
        "l1": (Number(0),),
        "l2": (Number(0),),
    }

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        alpha: float = 1.0,
        beta: float = 1.0,
        l1: float = 1.0,
        l2: float = 0.0,
        max_iter: int = 20,
        tol: float | None = 1e-3,
        fit_intercept: bool = True,
        shuffle: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            loss=loss,
            max_iter=max_iter,
            tol=tol,
            fit_intercept=fit_intercept,
            shuffle=shuffle,
            class_weight=class_weight,
            random_state=random_state,
            n_jobs=n_jobs,
            warm_start=warm_start,
            verbose=verbose,
        )
        self.alpha = alpha
        self.beta = beta
        self.l1 = l1
        self.l2 = l2

    def _learner(self, n_rows: int | None) -> Learner:
        inputs = Schedule(rate=1.0, fit_intercept=self.fit_intercept)
        numbers = (float(one) for one in (self.alpha, self.beta, self.l1, self.l2))
        return FTRL(inputs, LOSSES[self.loss], *numbers)
