"""A classifier for which columns that occur in few rows count for more, where that tells more.

Bags of words, or of pixels, are mostly made of what nearly every row has. What few rows have says
more, word by word; who makes texts ready for learning knows that, and multiplies columns by the
logarithm of their rarity: idf, here log(1 + n / the number of rows that have them). Where it was
not done, and rows are too few to set it right by themselves, held-out rows are asked whether it
tells more.
"""

import copy
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from thresher.data.column_scales import ColumnScales
from thresher.data.matrix import count_columns
from thresher.estimators.amounts import are_amounts
from thresher.estimators.asking import held_out_losses, lost_by, with_all_features
from thresher.estimators.gathering import Labelled
from thresher.estimators.lessons import learnt_by, sample_of
from thresher.estimators.levelling import rarer_of
from thresher.estimators.roots import LearnsRoots
from thresher.estimators.sizing import folds_of, some_of, strata_of
from thresher.estimators.units import FEWEST_ROWS, Sizes, rescaled_words
from thresher.train import Sample
from thresher.train.likeliest import MANY_ROWS
from thresher.workers import Workers, workers

# Measured by ``python -m experiments.rarity``.
MOST_ROWS, HALVES = 500, 2  # that are asked, and which judge each other
FEWEST = 50  # rows of the rarer class that can tell
WEIGHTED = 0.25  # power of their rarity that sizes of columns are, from which on they are weighted
WIDEST = 20  # columns for every row, beyond which most are so rare that idf is the same for all


class MindsRarity(LearnsRoots):
    """The part of the flagship that knows whether rare columns count for more."""

    minds_rarity: ClassVar[bool] = True

    @property
    def rare_columns_count_more_(self: Any) -> bool:
        """Whether columns are multiplied by log(1 + rows / rows that have them): idf.

        It is part of ``column_scales_``. ``fit`` does so with fewer than 2,000 rows of amounts, if
        held-out rows are told better.
        """
        self._model_fitted()
        return self._rarity

    def _settle(self: Any, some: Sample, run_all: Workers) -> None:
        self._settle_values(some, run_all)
        self._settle_columns(some.rows)
        self._settle_rarity(some, run_all)

    def _settle_first(self: Any, some: Labelled) -> None:
        sample = sample_of(self, some)
        if sample is None:
            self._settle_columns(some.rows)
            return
        with workers(self.n_jobs) as run_all:
            self._settle_values(sample, run_all)
            self._settle_columns(some.rows)
            self._settle_rarity(sample, run_all)

    def _settle_rarity(self: Any, some: Sample, run_all: Workers) -> None:
        """Let rare columns count for more if held-out rows are told better."""
        if not (self.minds_rarity and self._may_mind_rarity(some.rows, some.targets)):
            return
        rarer = copy.copy(self)
        rarer._scales = scales_by_rarity(some.rows, self._scales)
        some = some.only(some_of(self._seed, some.importance.size, MOST_ROWS))
        folds = folds_of(strata_of(self, some.targets), HALVES, self._seed)
        if len(folds) < 2:
            return
        alike, by_rarity = (
            held_out_losses(one, learnt_by(one, some), folds, with_all_features, run_all)
            for one in (self, rarer)
        )
        saved, _ = lost_by(alike, by_rarity, some.importance, folds)
        if saved > 0:
            self._units_said = rescaled_words(self)
            self._rarity, self._scales = True, rarer._scales
            if self.verbose:
                print(rarity_words(self))

    def _may_mind_rarity(self: Any, rows: sparse.csr_array, targets: list[np.ndarray]) -> bool:
        """Return whether rows are few bags of amounts, of unit length."""
        n_rows = rows.shape[0]
        if n_rows >= MANY_ROWS or not self._model.vocabulary.normalize or not are_amounts(rows):
            return False
        fewest = min(int(np.count_nonzero(rarer_of(mine))) for mine in targets)
        if fewest < FEWEST or count_columns(rows) > WIDEST * n_rows:
            return False
        return not are_weighted(self._raised(rows))


def are_weighted(rows: sparse.csr_array) -> bool:
    """Return whether values are the larger the rarer their columns are, as after tf-idf."""
    sizes = Sizes.in_rows(rows)
    told = sizes.counts >= FEWEST_ROWS
    if not told.any():
        return True
    rarity = np.log(np.log1p(rows.shape[0] / sizes.counts[told]))
    spread = rarity - rarity.mean()
    power = float(np.sum(spread * np.log(sizes.sizes[told])))  # that sizes are of rarity
    return power > WEIGHTED * float(np.sum(spread**2))


def scales_by_rarity(rows: sparse.csr_array, units: ColumnScales | None) -> ColumnScales:
    """Return scales that bring columns to one unit, if any do, times their idf."""
    columns, counts = np.unique(rows.indices, return_counts=True)  # whatever the width
    factors = np.log1p(rows.shape[0] / counts)
    if units is not None:
        factors = factors * units.at(columns)
    return ColumnScales.of(columns, factors, rows.shape[1])


def rarity_words(estimator: Any) -> str | None:
    """Say that rare columns count for more; None if all count alike."""
    if not estimator._rarity:
        return None
    return "Columns count for more the fewer rows have them: held-out rows are told better so."
