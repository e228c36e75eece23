"""A classifier that learns roots of amounts where these tell more than the amounts themselves.

Where few amounts drown the others of their row, roots bring them nearer to each other, and mostly
tell far more. Held-out rows may speak against it: folds learn both in short, and judge rows that
they have not learnt.
"""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.vocabulary import Vocabulary
from thresher.estimators.amounts import drown_each_other
from thresher.estimators.asking import held_out_losses, in_short, lost_by
from thresher.estimators.lessons import learnt_by
from thresher.estimators.levelling import LevelsClasses, rarer_of
from thresher.estimators.sizing import FOLDS, folds_of, some_of, strata_of
from thresher.train import Sample
from thresher.workers import Workers

# Measured by ``python -m experiments.roots``.
ROOT = 0.5
DOUBT = 1.0  # standard errors that rows must lose by roots to speak against them
FEWEST = 20  # rows of the rarer class that can tell
MOST_ROWS = 5_000  # that are asked


class LearnsRoots(LevelsClasses):
    """The part of the flagship that knows which power of their values its rows are learnt by."""

    value_power: float | str

    @property
    def value_power_(self: Any) -> float:
        """The power that values are raised to before anything else is done to them.

        What ``value_power`` says; if that is "auto", what was decided. ``coef_``,
        ``column_scales_`` and ``column_offsets_`` are for values that are raised.
        """
        self._model_fitted()
        return self._power

    def _power_at_first(self: Any) -> float:
        return 1.0 if self.value_power == "auto" else float(self.value_power)

    def _settle_values(self: Any, some: Sample, run_all: Workers) -> None:
        """Take roots if amounts drown each other, unless held-out rows speak against it."""
        if self.value_power != "auto" or not drown_each_other(some.rows):
            return
        some = some.only(some_of(self._seed, some.importance.size, MOST_ROWS))
        folds = folds_of(strata_of(self, some.targets), FOLDS, self._seed)
        fewest = min(int(np.count_nonzero(rarer_of(mine))) for mine in some.targets)
        if len(folds) < 2 or fewest < FEWEST:
            return
        as_they_are, by_roots = (
            held_out_losses(draft, learnt_by(draft, some), folds, in_short, run_all)
            for draft in (self._raising(power, some.rows) for power in (1.0, ROOT))
        )
        lost, error = lost_by(by_roots, as_they_are, some.importance, folds)
        if lost <= DOUBT * error:
            self._power = ROOT
        if self.verbose and (words := roots_words(self)):
            print(words)

    def _raising(self: Any, power: float, rows: sparse.csr_array) -> Any:
        """Return a copy that knows how to learn some power of the values, and nothing else."""
        draft = copy.copy(self)
        empty = Vocabulary(rows.shape[1], self._model.vocabulary.normalize)
        draft._model, draft._power, draft.verbose = replace(self._model, vocabulary=empty), power, 0
        draft._choice = None  # what was chosen in an earlier fit says nothing of this one
        draft._settle_columns(rows)
        draft._look_at(draft._as_learnt(rows))
        return draft


def roots_words(estimator: Any) -> str | None:
    """Say that values are learnt as roots since these tell more; None if that was not decided."""
    if estimator._power == 1.0 or getattr(estimator, "value_power", 1.0) != "auto":
        return None
    return "Square roots are learnt: as they are, a few values in each row drown the others."
