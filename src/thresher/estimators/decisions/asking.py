"""What held-out rows lose by models that learnt the others, to choose between two ways of learning.

Models may have all features, or select as many as are wanted: in short, or for as long as a fit.
The longer, the more faithfully they show what a fit would come to.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thresher.estimators.decisions.sizing import REFIT_UPDATES, trial_on, trying_learner
from thresher.learners.selection import wanted_features
from thresher.learners.thresher import Thresher
from thresher.train import Passes, Sample
from thresher.train.folds import Fold
from thresher.train.shrinking import Plan
from thresher.train.size_rule import mean_and_error
from thresher.train.sizing import Trial, losses_at, see_folds
from thresher.workers import Workers

N_PATHS = 4
FEWEST_UPDATES = 300  # of a model that has all features: a pass, or more where rows are few
# In short: stages, and updates as shares of a fit's or in passes, whichever is more; never more
# than a fit's.
STAGES = 6
SELECTING, REFITTING = (1 / 7, 5), (0.2, 2)

# From an estimator, what it is tried on and how many rows a fold trains on: the learner, and how it
# comes to a model of one size.
Way = Callable[[Any, Trial, int], tuple[Thresher, Plan]]


def with_all_features(estimator: Any, trial: Trial, n_rows: int) -> tuple[Thresher, Plan]:
    """Learn all features, in a pass or little more."""
    plan = Plan([len(trial.vocabulary)], 1, max(n_rows, FEWEST_UPDATES))
    return trying_learner(estimator, n_rows, 1, N_PATHS, plan.n_stages), plan


def in_short(estimator: Any, trial: Trial, n_rows: int) -> tuple[Thresher, Plan]:
    """Select, in few stages and updates."""
    learner, plan = short_run(estimator, n_rows, [_size(estimator, trial)])
    updates = max(trial.judge.refit_passes * n_rows, REFIT_UPDATES)
    return learner, replace(plan, refit_updates=updates)


def at_length(estimator: Any, trial: Trial, n_rows: int) -> tuple[Thresher, Plan]:
    """Select and refit for as long as a fit does."""
    updates = estimator._trial_updates(n_rows)
    refit_updates = max(1, round(estimator.refit * updates))
    plan = Plan([_size(estimator, trial)], estimator.n_stages, refit_updates)
    return trying_learner(estimator, n_rows, updates, N_PATHS, plan.n_stages), plan


def short_run(estimator: Any, n_rows: int, sizes: Sequence[int]) -> tuple[Thresher, Plan]:
    """Return a learner for folds of so many rows, and how it comes to models of some sizes."""
    planned = estimator._planned_updates(n_rows)
    selecting, refitting = (
        min(max(share * planned, passes * n_rows), planned)
        for share, passes in (SELECTING, REFITTING)
    )
    plan = Plan(sorted(set(sizes)), min(STAGES, estimator.n_stages), round(refitting))
    return trying_learner(estimator, n_rows, selecting, N_PATHS, plan.n_stages), plan


def _size(estimator: Any, trial: Trial) -> int:
    vocabulary = trial.vocabulary
    return wanted_features(estimator._wanted(), len(vocabulary), vocabulary.n_columns)


def held_out_losses(
    estimator: Any, some: Sample, folds: Sequence[Fold], way: Way, run_all: Workers
) -> np.ndarray:
    """Return what rows lose, one by one, by models of the folds that do not hold them.

    The rows are as they are learnt.
    """
    trial = trial_on(estimator, some.rows, some.targets, some.importance, list(folds))
    learner, plan = way(estimator, trial, min(fold.training.size for fold in folds))
    passes = Passes(None, 0.0, estimator.shuffle, estimator._seed)
    sights = see_folds(learner, plan, trial, passes, run_all)
    (size,) = plan.sizes
    return losses_at(trial, [one[size] for one in sights])


def lost_by(
    one: np.ndarray, other: np.ndarray, importance: np.ndarray, folds: Sequence[Fold]
) -> tuple[float, float]:
    """Return how much more rows lose in one way than in another, and the standard error of that."""
    weights = np.concatenate([importance[fold.held] for fold in folds])
    return mean_and_error(one - other, weights)


def rows_of_rarer_class(targets: Sequence[np.ndarray]) -> int:
    """Return how many rows of the rarer class there are, in the problem that has the fewest."""
    return min(int(np.count_nonzero(rarer_of(mine))) for mine in targets)


def rarer_of(targets: np.ndarray) -> np.ndarray:
    """Return the mask of the rows of the rarer class."""
    positive = targets > 0
    return positive if 2 * np.count_nonzero(positive) <= targets.size else ~positive
