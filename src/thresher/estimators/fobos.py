"""FOBOS: forward-backward splitting (Duchi & Singer 2009)."""

from typing import Any, ClassVar

from thresher.estimators.base import LOSSES, Constraints, OnlineClassifier
from thresher.estimators.rates import ETA0, LEARNING_RATE, schedule_for
from thresher.learners.fobos import FOBOS
from thresher.learners.protocol import Learner
from thresher.validation import Number


class FOBOSClassifier(OnlineClassifier):
    """Linear classifier by forward-backward splitting: an SGD step, then every weight shrinks.

    Parameters
    ----------
    loss : "hinge", "log_loss", "squared_hinge" or "modified_huber", default="log_loss"
        What is minimised.
    l1 : float, default=1e-4
        Every update shrinks every weight by ``l1`` times the step.
    eta0 : float or "auto", default="auto"
        Length of the first step. A number is the absolute rate; "auto" is relative to the rows'
        mean squared norm so far, so that the units of the data do not matter.
    learning_rate : "constant" or "invsqrt", default="invsqrt"
        Whether steps stay as long, or fall with the square root of the number of updates.
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
        "eta0": ETA0,
        "learning_rate": LEARNING_RATE,
    }

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        l1: float = 1e-4,
        eta0: float | str = "auto",
        learning_rate: str = "invsqrt",
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
        self.eta0 = eta0
        self.learning_rate = learning_rate

    def _learner(self, n_rows: int | None) -> Learner:
        return FOBOS(schedule_for(self), LOSSES[self.loss], float(self.l1))
