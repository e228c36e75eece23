"""What held-out rows lose by models that learnt the others in short, to choose between two ways."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thresher.estimators.sizing import REFIT_UPDATES, trial_on, trying_learner
from thresher.learners.selection import wanted_features
from thresher.train import Passes, Sample
from thresher.train.folds import Fold
from thresher.train.shrinking import Plan
from thresher.train.size_rule import mean_and_error
from thresher.train.sizing import judge_size, see_folds
from thresher.workers import Workers

N_PATHS = 4
FEWEST_UPDATES = 300  # of a model that has all features: a pass, or more where rows are few


def held_out_losses(
    estimator: Any,
    some: Sample,
    folds: Sequence[Fold],
    run_all: Workers,
    select: bool,
) -> np.ndarray:
    """Return what rows lose, one by one, by models of the folds that do not hold them.

    Such models ``select`` as many features as are wanted, or have them all.
    """
    rows = estimator._as_learnt(some.rows)
    trial = trial_on(estimator, rows, some.targets, some.importance, list(folds))
    seen, n_rows = len(trial.vocabulary), min(fold.training.size for fold in folds)
    if select:
        size = wanted_features(estimator._wanted(), seen, rows.shape[1])
        learner, plan = estimator._in_short(n_rows, [size])
        updates = max(trial.judge.refit_passes * n_rows, REFIT_UPDATES)
        plan = replace(plan, refit_updates=updates)
    else:
        size, plan = seen, Plan([seen], 1, max(n_rows, FEWEST_UPDATES))
        learner = trying_learner(estimator, n_rows, 1, N_PATHS, plan.n_stages)
    passes = Passes(None, 0.0, estimator.shuffle, estimator._seed)
    sights = see_folds(learner, plan, trial, passes, run_all)
    return judge_size(trial, [one[size] for one in sights], size)[1]


def lost_by(
    one: np.ndarray, other: np.ndarray, importance: np.ndarray, folds: Sequence[Fold]
) -> tuple[float, float]:
    """Return how much more rows lose in one way than in another, and the standard error of that."""
    weights = np.concatenate([importance[fold.held] for fold in folds])
    return mean_and_error(one - other, weights)
