"""Longer steps where rows are nearly explained, and could be explained better.

Short steps regularise: they keep a selection stable, and where labels are noisy they keep the error
low. Where classes are almost separable (spam, digits) they stop too early: weights are still small
when features are purged, and those that only the last, hard rows need are purged with the others.
So if a fit leaves little of the loss, a held-out comparison decides whether longer steps do better;
if they do by far, the rows are learnt anew with these.
"""

import copy
from typing import Any

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.estimators.decisions.asking import (
    at_length,
    held_out_losses,
    lost_by,
    rows_of_rarer_class,
)
from thresher.estimators.decisions.decision import Decision
from thresher.estimators.decisions.sizing import FOLDS, folds_of, some_of, strata_of
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


class LongerSteps(Decision):
    """Whether steps had better be longer."""

    def revises(self, estimator: Any, learnt: Sample, run_all: Workers) -> bool:
        """Lengthen steps if held-out rows lose far less by it."""
        if not (_may_lengthen(estimator) and _has_explained(estimator, learnt)):
            return False
        some = learnt.only(some_of(estimator._seed, learnt.importance.size, MOST_ROWS))
        folds = folds_of(strata_of(estimator, some.targets), FOLDS, estimator._seed)
        if len(folds) < FOLDS or rows_of_rarer_class(some.targets) < FEWEST:
            return False
        if not _save_by_longer(estimator, some, folds, run_all):
            return False
        estimator._step_scale = LONGER
        if estimator.verbose:
            print(steps_words(estimator))
        return True


def _may_lengthen(estimator: Any) -> bool:
    """Return whether nobody said how long steps are, and weights were refitted by them."""
    settled, states = estimator._model.learner.has_settled, estimator._states()
    refitted = not any(paths.stage.few_speak or settled(paths) for paths in states)
    asked = estimator.eta0 == "auto" and estimator.loss == "log_loss" and estimator.refit > 0
    return refitted and asked


def _has_explained(estimator: Any, learnt: Sample) -> bool:
    """Return whether the model has left next to nothing of the loss unexplained."""
    model, n_rows = estimator._model, learnt.importance.size
    some = learnt.only(np.arange(0, n_rows, -(-n_rows // LOOKED_AT)))
    given = GivenRows(some.rows, model.vocabulary, model.learner.dtype)
    told = some.targets, some.importance
    return unexplained_share(model.learner, model.problems, given, *told) < LITTLE


def _save_by_longer(estimator: Any, some: Sample, folds: list[Fold], run_all: Workers) -> bool:
    """Return whether longer steps lower the held-out loss by far.

    The first folds alone mostly show that they do not.
    """
    longer = copy.copy(estimator)
    longer._step_scale = LONGER

    def losses(some_folds: list[Fold]) -> tuple[np.ndarray, np.ndarray]:
        usual, other = (
            held_out_losses(one, some, some_folds, at_length, run_all)
            for one in (estimator, longer)
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


def scale_of(estimator: Any) -> float:
    """Return how many times as long as usual an estimator's steps were."""
    return float(getattr(estimator, "_step_scale", 1.0))


def set_scale(estimator: Any, scale: float) -> None:
    """Take what a file says of the length of steps, or refuse it."""
    lengthens = any(isinstance(one, LongerSteps) for one in estimator.decisions)
    if not (lengthens and scale in (1.0, LONGER)):
        access.refuse("steps have a length that they cannot have had")
    estimator._step_scale = scale


def steps_words(estimator: Any) -> str | None:
    """Say that steps were longer than usual; None if they were not."""
    scale = scale_of(estimator)
    if scale == 1.0:
        return None
    return f"Steps were {scale:g} times as long as usual: that lowered the held-out loss by far."
