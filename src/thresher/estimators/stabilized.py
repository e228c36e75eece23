"""The paper's algorithm as a scikit-learn classifier."""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thresher.estimators.classifier import OnlineClassifier
from thresher.estimators.parameters import COMMON
from thresher.losses import LOSSES
from thresher.online.paths import PathState
from thresher.online.stabilized import StabilizedTruncatedSGD
from thresher.prepare import Preparation
from thresher.rows import Rows
from thresher.validation import FLAG, Parameter, Parameters

# The paper's settings, for columns of unit variance; its model has no intercept.
PAPER: dict[str, Any] = {
    "n_paths": 16,
    "burst_size": 5,
    "bursts_per_stage": 5,
    "selection": "informative",
    "shrinkage": "linear",
    "normalize": False,
    "fit_intercept": False,
    "eta0": 0.1,
    "tol": None,
}


class StabilizedTruncatedSGDClassifier(OnlineClassifier):
    """Stabilized truncated SGD (Ma & Zheng): Algorithm 4 with its Practical Remarks.

    Several SGD paths run in bursts. After each burst the weights it touched are shrunk by the
    information they received; after each stage of bursts, features that were too rarely selected
    are purged for good, and the shrinkage adapts to how many are left. The defaults give a sane
    model on text; ``from_paper`` gives the paper's own settings, which do not. With a ``gravity``,
    one path and a ``purge_threshold`` of 0, it is Algorithm 2. Its selection probabilities (of
    bursts) are not the selection frequencies (of folds) of ``ThresherClassifier``.

    Attributes
    ----------
    selection_probabilities_ : array of shape (n_features,)
        How often each feature was selected at the ends of bursts, when it was last examined. With
        more than two classes there is a row for each.
    stable_ : bool array of the same shape
        Which features were never purged.
    history_ : list of dict
        A record for each stage; with more than two classes a list of such for each class.

    References
    ----------
    Ma, Y., & Zheng, T. (2016). Stabilized sparse online learning for sparse data. arXiv:1604.06498.
    """

    parameters: ClassVar[Parameters] = (
        *StabilizedTruncatedSGD.parameters,
        Parameter(
            "normalize",
            True,
            FLAG,
            "bool",
            "Whether rows are scaled to unit length, in training and prediction: long documents "
            "then count no more than short ones, and steps suit all data sets.",
        ),
        *COMMON,
    )
    fixed: ClassVar[tuple[str, ...]] = ("n_paths", "normalize")

    @classmethod
    def from_paper(cls, loss: str = "log_loss", **parameters: Any) -> Self:
        """Return a classifier with the paper's own settings, for columns of unit variance.

        K = n_K = 5, M = 16, beta_0 = 0.7, selection over informative bursts, gravity g_0 k, and no
        intercept. The paper tunes ``annealing_rate`` in {-7, -5, -3, -1, 0, 1, 3},
        ``purge_threshold`` in {0.5, ..., 0.9} and ``eta0`` between 0.1 and 0.5; pass your choice
        as keywords.
        """
        return cls(**{"loss": loss, **PAPER, **parameters})

    def _fit_rows(self, rows: Rows, targets: np.ndarray, weights: np.ndarray) -> None:
        """Learn rows at hand, and warn if no feature is left."""
        super()._fit_rows(rows, targets, weights)
        learner, states = self._learned()
        if any(state.n_slots and not learner.stable(state).any() for state in states):
            warnings.warn(
                "All features were purged, so the model is its intercept alone. Lower "
                "purge_threshold or rejection_rate, or raise burst_size.",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def selection_probabilities_(self) -> np.ndarray:
        """How often each feature was selected when it was last examined."""
        learner, _ = self._learned()
        return self._by_column(learner.probabilities, 1.0)

    @property
    def stable_(self) -> np.ndarray:
        """Which features were never purged."""
        learner, _ = self._learned()
        return self._by_column(learner.stable, True)

    @property
    def history_(self) -> Any:
        """A record for each stage; with more than two classes a list of such for each class."""
        learner, states = self._learned()
        histories = [learner.history(state) for state in states]
        return histories[0] if len(histories) == 1 else histories

    def _learner(self) -> StabilizedTruncatedSGD:
        return StabilizedTruncatedSGD.of(
            LOSSES[self.loss], self.fit_intercept, vars(self), self.seed_
        )

    def _stream_learner(self) -> StabilizedTruncatedSGD:
        return StabilizedTruncatedSGD.of(
            LOSSES[self.loss], self.fit_intercept, vars(self), self.seed_, stream=True
        )

    def _preparation(self) -> Preparation:
        return Preparation.none(unit=self.normalize)

    def _selection_facts(self) -> dict[str, np.ndarray]:
        """Return the selection probabilities of the features; with several classes the largest."""
        probabilities = np.atleast_2d(self.selection_probabilities_).max(axis=0)
        return {"probability": probabilities[self.fitted_.columns]}

    def _learned(self) -> tuple[StabilizedTruncatedSGD, list[PathState]]:
        """Return the learner and the states of all problems."""
        if self.fitted_ and "training_" not in vars(self):
            raise AttributeError(
                "This model was loaded from a file that has only what prediction needs. Save "
                "models with training_state=True to keep what was purged, and when."
            )
        states = [problem.state for problem in self.training_.problems]
        return cast(StabilizedTruncatedSGD, self.training_.learner), cast(list[PathState], states)

    def _by_column(self, by_slot: Callable[[PathState], np.ndarray], unseen: float) -> np.ndarray:
        """Return what is known by slot as an array over columns, a row per problem if many.

        Columns that never occurred have ``unseen`` as long as they are not purged, then 0.
        """
        (learner, states), spread = self._learned(), self.training_.vocabulary.spread
        fills = [unseen if learner.keeps_unseen(state) else 0 for state in states]
        rows = [
            spread(by_slot(state), self.n_features_in_, fill)
            for state, fill in zip(states, fills, strict=True)
        ]
        return rows[0] if len(rows) == 1 else np.array(rows)
