"""The paper's algorithm as a scikit-learn classifier."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sklearn.exceptions import ConvergenceWarning

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.parameters import CLASSIFYING, LOSSES, PATHS, STEPS, Constraints
from thresher.estimators.paths import PATH_RATES, PathsModel
from thresher.estimators.rates import schedule_for
from thresher.kernels.units import EVERY, INFORMATIVE, LINEAR, SQRT
from thresher.learners.protocol import Learner
from thresher.learners.stabilized import StabilizedTruncatedSGD
from thresher.validation import Number, OneOf, Whole

SELECTIONS = {"informative": INFORMATIVE, "every": EVERY}
SHRINKAGES = {"linear": LINEAR, "sqrt": SQRT}


@dataclass(kw_only=True, eq=False, repr=False)
class StabilizedTruncatedSGDClassifier(PathsModel, OnlineClassifier):
    """Stabilized truncated SGD, Algorithm 4 of Ma & Zheng with its Practical Remarks.

    Several SGD paths run in bursts. After each burst the weights it touched are shrunk by the
    information they received; after each stage of bursts, features that were too rarely nonzero are
    purged for good, and the shrinkage adapts to how many are left. The defaults give a sane model
    on text; ``from_paper`` gives the paper's own settings, which do not (see the documentation).

    Parameters
    ----------
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
    """

    constraints: ClassVar[Constraints] = {
        **CLASSIFYING,
        **STEPS,
        **PATHS,
        "burst_size": (Whole(1),),
        "bursts_per_stage": (Whole(1),),
        "rejection_rate": (Number(0, 1),),
        "annealing_rate": (Number(),),
        "purge_threshold": (Number(0, 1),),
        "min_evidence": (Whole(0),),
        "burst_growth": (Number(0, open_low=True), OneOf(None)),
        "selection": (OneOf(*SELECTIONS),),
        "shrinkage": (OneOf(*SHRINKAGES),),
    }

    n_paths: int = 8
    burst_size: int = 100
    bursts_per_stage: int = 5
    rejection_rate: float = 0.7
    annealing_rate: float = 0.0
    purge_threshold: float = 0.7
    min_evidence: int = 0
    burst_growth: float | None = None
    selection: str = "every"
    shrinkage: str = "sqrt"
    paths: str = "permutation"
    normalize: bool = True
    eta0: float | str = "auto"
    learning_rate: str = "constant"

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
