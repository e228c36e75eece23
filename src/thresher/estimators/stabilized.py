"""The paper's algorithm as a scikit-learn classifier."""

import warnings
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from thresher.estimators.base import LOSSES, Constraints, OnlineClassifier
from thresher.estimators.paths import PATH_CONSTRAINTS, PATH_RATES, PathsClassifier
from thresher.estimators.rates import ETA0, LEARNING_RATE, schedule_for
from thresher.kernels.units import EVERY, INFORMATIVE, LINEAR, SQRT
from thresher.learners.protocol import Learner
from thresher.learners.stabilized import StabilizedTruncatedSGD
from thresher.validation import Number, OneOf, Whole

SELECTIONS = {"informative": INFORMATIVE, "every": EVERY}
SHRINKAGES = {"linear": LINEAR, "sqrt": SQRT}


class StabilizedTruncatedSGDClassifier(PathsClassifier):
    """Stabilized truncated SGD, Algorithm 4 of Ma & Zheng with its Practical Remarks.

    Several SGD paths run in bursts. After each burst the weights it touched are shrunk by the
    information they received; after each stage of bursts, features that were too rarely nonzero are
    purged for good, and the shrinkage adapts to how many are left. The defaults give a sane model
    on text; ``from_paper`` gives the paper's own settings, which do not (see the documentation).

    Parameters
    ----------
    loss : "hinge", "log_loss", "squared_hinge" or "modified_huber", default="log_loss"
        What is minimised.
    n_paths : int, default=8
        Parallel SGD paths, M.
    burst_size : int, default=100
        Updates in a burst, K.
    bursts_per_stage : int, default=5
        Bursts in a stage, n_K.
    rejection_rate : float, default=0.7
        Share of updates that the first shrinkage cancels, beta_0.
    annealing_rate : float, default=0.0
        How fast the rejection rate falls as features are purged, gamma: 0 linearly, positive
        faster, negative slower.
    purge_threshold : float, default=0.7
        Selection probability below which a feature is purged, pi_0.
    min_evidence : int, default=0
        Bursts a feature must have more of before it is judged, delta_K.
    burst_growth : float or None, default=None
        Bursts lengthen to K log(1 / (alpha d)) as the share d of stable features falls; this is
        alpha, and None keeps bursts as long as they are.
    selection : "informative" or "every", default="every"
        Whether a feature is judged by the bursts that touched it, as in the paper's estimator, or
        by every burst, as in its Definition 1.
    shrinkage : "linear" or "sqrt", default="sqrt"
        Whether gravity grows with the touches of a feature in a burst, as in the paper, or with
        their square root, which is fair to features that say nothing.
    paths : "permutation" or "shared", default="permutation"
        Whether every path reads the rows in its own order, or all share one stream of which each
        takes random bursts. ``partial_fit`` always shares.
    normalize : bool, default=True
        Whether rows are scaled to unit length, in training and prediction: long documents then
        count no more than short ones, and steps suit all data sets.
    eta0 : float or "auto", default="auto"
        Length of the steps. A number is the absolute rate; "auto" is relative to the rows' mean
        squared norm.
    learning_rate : "constant" or "invsqrt", default="constant"
        Whether steps stay as long, or fall with the square root of the number of updates.
    max_iter : int, default=20
        Passes over the rows in ``fit``.
    tol : float or None, default=1e-3
        ``fit`` ends early after a pass in which no averaged weight changed by more than this share
        of the largest; None never ends early.
    fit_intercept : bool, default=True
        Whether to learn an intercept; it is never shrunk.
    shuffle : bool, default=True
        Whether orders are random.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes; "balanced" counts the rows in ``fit``, and the rows so far in
        ``partial_fit``.
    random_state : int, RandomState or None, default=None
        Seed of all that is random.
    n_jobs : int or None, default=None
        Threads, used over paths or classes; the result is the same for any number.
    warm_start : bool, default=False
        Whether ``fit`` goes on from what was learnt before.
    verbose : int, default=0
        Whether ``fit`` prints a line after every pass.
    """

    constraints: ClassVar[Constraints] = {
        **OnlineClassifier.constraints,
        **PATH_CONSTRAINTS,
        "burst_size": (Whole(1),),
        "bursts_per_stage": (Whole(1),),
        "rejection_rate": (Number(0, 1),),
        "annealing_rate": (Number(),),
        "purge_threshold": (Number(0, 1),),
        "min_evidence": (Whole(0),),
        "burst_growth": (Number(0, open_low=True), OneOf(None)),
        "selection": (OneOf(*SELECTIONS),),
        "shrinkage": (OneOf(*SHRINKAGES),),
        "eta0": ETA0,
        "learning_rate": LEARNING_RATE,
    }

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        n_paths: int = 8,
        burst_size: int = 100,
        bursts_per_stage: int = 5,
        rejection_rate: float = 0.7,
        annealing_rate: float = 0.0,
        purge_threshold: float = 0.7,
        min_evidence: int = 0,
        burst_growth: float | None = None,
        selection: str = "every",
        shrinkage: str = "sqrt",
        paths: str = "permutation",
        normalize: bool = True,
        eta0: float | str = "auto",
        learning_rate: str = "constant",
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
        self.n_paths = n_paths
        self.burst_size = burst_size
        self.bursts_per_stage = bursts_per_stage
        self.rejection_rate = rejection_rate
        self.annealing_rate = annealing_rate
        self.purge_threshold = purge_threshold
        self.min_evidence = min_evidence
        self.burst_growth = burst_growth
        self.selection = selection
        self.shrinkage = shrinkage
        self.paths = paths
        self.normalize = normalize
        self.eta0 = eta0
        self.learning_rate = learning_rate

    @classmethod
    def from_paper(
        cls, loss: str = "log_loss", **parameters: Any
    ) -> "StabilizedTruncatedSGDClassifier":
        """Return a classifier with the paper's own settings, for columns of unit variance.

        K = n_K = 5, M = 16, beta_0 = 0.7, selection over informative bursts, gravity g_0 k. The
        paper tunes ``annealing_rate`` in {-7, -5, -3, -1, 0, 1, 3}, ``purge_threshold`` in
        {0.5, ..., 0.9} and ``eta0`` between 0.1 and 0.5; pass your choice as keywords.
        """
        settings: dict[str, Any] = {
            "n_paths": 16,
            "burst_size": 5,
            "bursts_per_stage": 5,
            "selection": "informative",
            "shrinkage": "linear",
            "normalize": False,
            "eta0": 0.1,
            "tol": None,
        }
        return cls(loss=loss, **{**settings, **parameters})

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "StabilizedTruncatedSGDClassifier":
        """Learn from rows that are all at hand, and warn if no feature survived it."""
        super().fit(X, y, sample_weight)
        if any(paths.n_slots and not paths.stable.any() for paths in self._states()):
            warnings.warn(
                "All features were purged, so the model is its intercept alone. Lower "
                "purge_threshold or rejection_rate, or raise burst_size.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _unseen_kept(self) -> list[bool]:
        return [not paths.stage.closed for paths in self._states()]

    def _learner(self, n_rows: int | None) -> Learner:
        return StabilizedTruncatedSGD(
            loss=LOSSES[self.loss],
            n_paths=self.n_paths,
            shared=self.paths == "shared" or n_rows is None,
            seed=self._seed,
            shrinkage=SHRINKAGES[self.shrinkage],
            rejection_rate=float(self.rejection_rate),
            pace=schedule_for(self, PATH_RATES[self.loss]),
            burst_size=int(self.burst_size),
            bursts_per_stage=int(self.bursts_per_stage),
            annealing_rate=float(self.annealing_rate),
            purge_threshold=self.purge_threshold,
            min_evidence=self.min_evidence,
            burst_growth=self.burst_growth,
            selection=SELECTIONS[self.selection],
        )
