"""A classifier that takes longer steps where its rows are nearly explained, and could be better.

Short steps regularise: they keep a selection stable, and where labels are noisy they keep the error
low. Where classes are almost separable (spam, digits) they stop too early: weights are still small
when features are purged, and those that only the last, hard rows need are purged with the others.
So if a fit leaves little of the loss, a held-out comparison decides whether longer steps do better;
if they do by far, the rows are learnt anew with these.
"""

import copy
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from thresher.data.given_rows import GivenRows
from thresher.estimators.asking import at_length, held_out_losses, lost_by
from thresher.estimators.levelling import rarer_of
from thresher.estimators.rarity import MindsRarity
from thresher.estimators.sizing import FOLDS, folds_of, some_of, strata_of
from thresher.files import access
from thresher.train import Sample
from thresher.train.folds import Fold
from thresher.train.unexplained import unexplained_share
from thresher.workers import Workers

# Measured by ``python -m experiments.separable``.
LONGER = 4.0
LITTLE = 0.1  # of the loss without any feature, below which nearly all is explained
# What longer steps must save of the held-out loss: a share, and standard errors of it.
SAVED, ERRORS = 0.05, 2.0
FEWEST = 100  # rows of the rarer class that can tell
MOST_ROWS = 5_000  # that are compared
LOOKED_AT = 2_000  # rows that show how much is explained
FIRST = 2  # folds that are compared before the others


class LengthensSteps(MindsRarity):
    """The part of the flagship that decides how long its steps are."""

    lengthens_steps: ClassVar[bool] = True

    @property
    def step_scale_(self: Any) -> float:
        """How many times as long as usual the steps of ``fit`` were.

        4 where nearly all of the loss was explained, and longer steps lowered the held-out loss by
        far; otherwise 1.
        """
        self._model_fitted()
        return self._step_scale

    def _learns_anew(
        self: Any,
        rows: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Workers,
    ) -> bool:
        """Lengthen steps if held-out rows lose far less by it."""
        if not (self._may_lengthen() and self._has_explained(rows, targets, importance)):
            return False
        some = Sample(rows, targets, importance)
        some = some.only(some_of(self._seed, importance.size, MOST_ROWS))
        folds = folds_of(strata_of(self, some.targets), FOLDS, self._seed)
        fewest = min(int(np.count_nonzero(rarer_of(mine))) for mine in some.targets)
        if len(folds) < FOLDS or fewest < FEWEST:
            return False
        if not self._saved_by_longer(some, folds, run_all):
            return False
        self._step_scale = LONGER
        if self.verbose:
            print(steps_words(self))
        return True

    def _saved_by_longer(self: Any, some: Sample, folds: list[Fold], run_all: Workers) -> bool:
        """Return whether longer steps lower the held-out loss by far.

        The first folds alone mostly show that they do not.
        """
        longer = copy.copy(self)
        longer._step_scale = LONGER

        def losses(some_folds: list[Fold]) -> tuple[np.ndarray, np.ndarray]:
            usual, other = (
                held_out_losses(one, some, some_folds, at_length, run_all) for one in (self, longer)
            )
            return usual, other

        first = losses(folds[:FIRST])
        saved, _ = lost_by(*first, some.importance, folds[:FIRST])
        if not saved > SAVED / 2 * float(np.mean(first[0])):
            return False
        both = zip(first, losses(folds[FIRST:]), strict=True)
        usual, other = (np.concatenate(parts) for parts in both)
        saved, error = lost_by(usual, other, some.importance, folds)
        return saved > max(SAVED * float(np.mean(usual)), ERRORS * error)

    def _may_lengthen(self: Any) -> bool:
        """Return whether nobody said how long steps are, and weights were refitted by them."""
        unsaid = self.lengthens_steps and self.eta0 == "auto"
        settled, states = self._model.learner.has_settled, self._states()
        refitted = not any(paths.stage.few_speak or settled(paths) for paths in states)
        return unsaid and refitted and self.loss == "log_loss" and self.refit > 0

    def _has_explained(
        self: Any, rows: sparse.csr_array, targets: list[np.ndarray], importance: np.ndarray
    ) -> bool:
        """Return whether the model has left next to nothing of the loss unexplained."""
        model, some = self._model, Sample(rows, targets, importance)
        some = some.only(np.arange(0, importance.size, -(-importance.size // LOOKED_AT)))
        given = GivenRows(some.rows, model.vocabulary, model.learner.dtype)
        told = some.targets, some.importance
        left = unexplained_share(model.learner, model.problems, given, *told)
        return left < LITTLE


def scale_of(estimator: Any) -> float:
    """Return how many times as long as usual an estimator's steps were."""
    return float(getattr(estimator, "_step_scale", 1.0))


def set_scale(estimator: Any, scale: float) -> None:
    """Take what a file says of the length of steps, or refuse it."""
    if not (isinstance(estimator, LengthensSteps) and scale in (1.0, LONGER)):
        access.refuse("steps have a length that they cannot have had")
    estimator._step_scale = scale


def steps_words(estimator: Any) -> str | None:
    """Say that steps were longer than usual; None if they were not."""
    scale = scale_of(estimator)
    if scale == 1.0:
        return None
    return f"Steps were {scale:g} times as long as usual: that lowered the held-out loss by far."
