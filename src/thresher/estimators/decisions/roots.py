"""Roots of amounts are learnt where these tell more than the amounts themselves.

Where few amounts drown the others of their row, roots bring them nearer to each other, and mostly
tell far more. Held-out rows may speak against it: folds learn both in short, and judge rows that
they have not learnt.
"""

import copy
from dataclasses import replace
from typing import Any

from scipy import sparse

from thresher.data.vocabulary import Vocabulary
from thresher.estimators.decisions.amounts import drown_each_other
from thresher.estimators.decisions.asking import (
    held_out_losses,
    in_short,
    lost_by,
    rows_of_rarer_class,
)
from thresher.estimators.decisions.decision import Decision
from thresher.estimators.decisions.selecting_steps import own_of
from thresher.estimators.decisions.sizing import FOLDS, folds_of, some_of, strata_of
from thresher.estimators.lessons import learnt_by
from thresher.train import Sample
from thresher.workers import Workers

# Measured by ``python -m experiments.roots``.
ROOT = 0.5
DOUBT = 1.0  # standard errors that rows must lose by roots to speak against them
FEWEST = 20  # rows of the rarer class that can tell
MOST_ROWS = 5_000  # that are asked


class Roots(Decision):
    """Which power of their values rows are learnt by, if nobody says."""

    def settle(
        self, estimator: Any, rows: sparse.csr_array, told: Sample | None, run_all: Workers
    ) -> None:
        """Take roots if amounts drown each other, unless held-out rows speak against it."""
        if told is None or estimator.value_power != "auto" or not drown_each_other(told.rows):
            return
        some = told.only(some_of(estimator._seed, told.importance.size, MOST_ROWS))
        folds = folds_of(strata_of(estimator, some.targets), FOLDS, estimator._seed)
        if len(folds) < 2 or rows_of_rarer_class(some.targets) < FEWEST:
            return
        as_they_are, by_roots = (
            held_out_losses(draft, learnt_by(draft, some), folds, in_short, run_all)
            for draft in (_raising(estimator, power, some.rows) for power in (1.0, ROOT))
        )
        lost, error = lost_by(by_roots, as_they_are, some.importance, folds)
        if lost <= DOUBT * error:
            estimator._power = ROOT
        if estimator.verbose and (words := roots_words(estimator)):
            print(words)


def _raising(estimator: Any, power: float, rows: sparse.csr_array) -> Any:
    """Return a copy that knows how to learn some power of the values, and nothing else."""
    draft, model = copy.copy(estimator), estimator._model
    empty = Vocabulary(rows.shape[1], model.vocabulary.normalize)
    draft._model, draft._power, draft.verbose = replace(model, vocabulary=empty), power, 0
    draft._choice = None  # what was chosen in an earlier fit says nothing of this one
    draft._settle_columns(rows)
    draft._own = own_of(draft, draft._as_learnt(rows))
    return draft


def roots_words(estimator: Any) -> str | None:
    """Say that values are learnt as roots since these tell more; None if that was not decided."""
    if estimator._power == 1.0 or getattr(estimator, "value_power", 1.0) != "auto":
        return None
    return "Square roots are learnt: as they are, a few values in each row drown the others."
