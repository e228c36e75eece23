"""Regularized dual averaging (Xiao 2010)."""

from typing import Any, ClassVar

from thresher.estimators.base import LOSSES, Constraints, OnlineClassifier
from thresher.estimators.rates import AUTO_RATES
from thresher.learners.pace import Schedule
from thresher.learners.protocol import Learner
from thresher.learners.rda import RDA
from thresher.validation import Number, OneOf


class RDAClassifier(OnlineClassifier):
    """Linear classifier whose weights are a thresholded multiple of the mean gradient so far.

    Parameters
    ----------
    loss : "hinge", "log_loss", "squared_hinge" or "modified_huber", default="log_loss"
        What is minimised.
    l1 : float, default=1e-4
        A feature whose mean gradient is no larger has weight 0.
    gamma : float or "auto", default="auto"
        The larger, the shorter the steps, which are 1 / (gamma sqrt(t)). A number is absolute;
        "auto" is relative to the rows' mean squared norm so far.
    rho : float, default=0.0
        Strength of the enhanced penalty ``gamma * rho / sqrt(t)``, which fades.
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
        "l1": (Number(0),),
        "gamma": (OneOf("auto"), Number(0, open_low=True)),
        "rho": (Number(0),),
    }

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        l1: float = 1e-4,
        gamma: float | str = "auto",
        rho: float = 0.0,
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
        self.l1 = l1
        self.gamma = gamma
        self.rho = rho

    def _learner(self, n_rows: int | None) -> Learner:
        steps = Schedule(
            rate=AUTO_RATES["invsqrt"][self.loss],
            eta0=None if self.gamma == "auto" else 1.0 / float(self.gamma),
            fit_intercept=self.fit_intercept,
        )
        return RDA(steps, LOSSES[self.loss], float(self.l1), float(self.rho))
