"""How much the weights of numbers cost, where rows are few for the features that they have.

Features that were selected from few rows fit these rows' noise. Fits without some of the rows show,
by these, whether weights had better cost their size, and how much of it.
"""

import copy
from itertools import takewhile
from typing import Any

import numpy as np

from thresher.data.given_rows import GivenRows
from thresher.data.matrix import unit_scales
from thresher.estimators.decisions.decision import Decision
from thresher.estimators.decisions.sizing import FOLDS, folds_of, strata_of
from thresher.kernels.margins import lengths
from thresher.train import Passes, Sample
from thresher.train.folds import Fold
from thresher.train.judges import number_losses
from thresher.train.likeliest import MANY_ROWS
from thresher.train.restraint import restrain, restrained
from thresher.train.settling import lesson_of
from thresher.train.size_rule import mean_and_error
from thresher.train.sparing import COSTS, MOST_FEATURES
from thresher.workers import Workers

# Measured by ``python -m experiments.few_numbers``.
ROWS_PER_FEATURE = 50  # below which so many rows are few, however many they are
MOST_ROWS = 50_000  # that are asked
FEWEST_ROWS, MORE_FOLDS = 500, 10  # fewer rows are not to lose a quarter in every fold
DOUBT = 1.0  # standard errors of what a cost must save


class Sparing(Decision):
    """Whether weights cost their size, and how much."""

    def complete(self, estimator: Any, learnt: Sample, run_all: Workers) -> None:
        """Let the weights be those at the cost that held-out rows advise, if they advise one."""
        model, learner = estimator._model, estimator._model.learner
        (problem,), (targets,) = model.problems, learnt.targets
        size = int(np.count_nonzero(problem.state.stable))
        if not (estimator.refit and may_fit_noise(targets.size, size)):
            return
        n_folds = MORE_FOLDS if targets.size < FEWEST_ROWS else FOLDS
        folds = folds_of(strata_of(estimator, learnt.targets), n_folds, estimator._seed)
        cost = advised(estimator.loss, folds, learnt, _seen(estimator, folds, learnt, run_all))
        if cost is not None:
            given = GivenRows(learnt.rows, model.vocabulary, learner.dtype)
            restrain(learner, problem, given, targets, learnt.importance, cost)
            if estimator.verbose:
                print(f"weights cost their size, {cost:g} of what is too much")


def may_fit_noise(n_rows: int, size: int) -> bool:
    """Return whether so many rows are few for a number of features."""
    few = n_rows < max(MANY_ROWS, ROWS_PER_FEATURE * size)
    return few and n_rows <= MOST_ROWS and 0 < size <= MOST_FEATURES


def advised(
    loss: str, folds: list[Fold], learnt: Sample, seen: list[list[np.ndarray]]
) -> float | None:
    """Return the cost whose weights lose least, unless those that cost nothing do as well.

    What was seen are each fold's margins by weights that cost nothing, then by those at each cost.
    """
    if len(folds) < 2:
        return None
    held = np.concatenate([fold.held for fold in folds])
    targets, weights = learnt.targets[0][held], learnt.importance[held]
    each = (np.concatenate(some) for some in zip(*seen, strict=True))
    finite = takewhile(lambda margins: np.isfinite(margins).all(), each)
    losses = [number_losses(loss, margins, targets) for margins in finite]
    if not losses:
        return None
    best = int(np.argmin([np.average(mine, weights=weights) for mine in losses]))
    saved, error = mean_and_error(losses[0] - losses[best], weights)
    return COSTS[best - 1] if saved > DOUBT * error else None


def _seen(
    estimator: Any, folds: list[Fold], learnt: Sample, run_all: Workers
) -> list[list[np.ndarray]]:
    """Return the margins of every fold's held rows, by fits of the others."""
    passes = Passes(
        estimator._most_passes(), estimator.tol or 0.0, estimator.shuffle, estimator._seed
    )
    normalize, learner = estimator._model.vocabulary.normalize, estimator._model.learner
    seen = []
    for fold in folds:
        draft = copy.copy(estimator)
        draft._model, draft.verbose = estimator._empty_model(normalize, learner), 0
        some = learnt.only(fold.training)
        draft._learn_all(some, passes, run_all)
        seen.append(_margins(draft, some, learnt.only(fold.held)))
    return seen


def _margins(draft: Any, some: Sample, held: Sample) -> list[np.ndarray]:
    """Return held rows' margins by a fit's weights of others, and by those at each cost."""
    model, learner = draft._model, draft._model.learner
    (problem,), (targets,), vocabulary = model.problems, some.targets, model.vocabulary
    start = learner.shown(problem.state, problem.pace, vocabulary)
    slots = np.flatnonzero(problem.state.stable)
    rows = GivenRows(some.rows, vocabulary, learner.dtype).with_slots(slots)
    lesson = lesson_of(learner, some.importance, 1.0, targets)
    found = [start, *restrained(lesson, rows, start, COSTS)]
    parts = held.rows.indptr.astype(np.int64), held.rows.data
    scales = unit_scales(lengths(*parts)) if vocabulary.normalize else 1.0
    by_slot, margins = np.zeros(len(vocabulary)), []
    for weights in found:
        by_slot[slots] = weights[:-1]
        margins.append(scales * (held.rows @ vocabulary.spread(by_slot)) + weights[-1])
    return margins
