"""Columns that occur in few rows count for more, where that tells more.

Bags of words, or of pixels, are mostly made of what nearly every row has. What few rows have says
more, word by word; who makes texts ready for learning knows that, and multiplies columns by the
logarithm of their rarity: idf, here log(1 + n / the number of rows that have them). Where it was
not done, and rows are too few to set it right by themselves, held-out rows are asked whether it
tells more.
"""

import copy
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.column_scales import ColumnScales
from thresher.data.matrix import count_columns
from thresher.estimators.decisions.amounts import are_amounts
from thresher.estimators.decisions.asking import (
    held_out_losses,
    lost_by,
    rows_of_rarer_class,
    with_all_features,
)
from thresher.estimators.decisions.decision import Decision
from thresher.estimators.decisions.sizing import folds_of, some_of, strata_of
from thresher.estimators.decisions.units import FEWEST_ROWS, Sizes, rescaled_words
from thresher.estimators.lessons import learnt_by
from thresher.train import Sample
from thresher.train.likeliest import MANY_ROWS
from thresher.workers import Workers

# Measured by ``python -m experiments.rarity``.
MOST_ROWS, HALVES = 500, 2  # that are asked, and which judge each other
FEWEST = 50  # rows of the rarer class that can tell
WEIGHTED = 0.25  # power of their rarity that sizes of columns are, from which on they are weighted
WIDEST = 20  # columns for every row, beyond which most are so rare that idf is the same for all


class Rarity(Decision):
    """Whether rare columns count for more."""

    def settle(
        self, estimator: Any, rows: sparse.csr_array, told: Sample | None, run_all: Workers
    ) -> None:
        """Let rare columns count for more if held-out rows are told better."""
        sizes = None if told is None else _of_few_bags(estimator, told)
        if told is None or sizes is None or are_weighted(sizes, told.rows.shape[0]):
            return
        rarer = copy.copy(estimator)
        rarer._scales = scales_by_rarity(sizes, told.rows.shape, estimator._scales)
        some = told.only(some_of(estimator._seed, told.importance.size, MOST_ROWS))
        folds = folds_of(strata_of(estimator, some.targets), HALVES, estimator._seed)
        if len(folds) < 2:
            return
        alike, by_rarity = (
            held_out_losses(one, learnt_by(one, some), folds, with_all_features, run_all)
            for one in (estimator, rarer)
        )
        saved, _ = lost_by(alike, by_rarity, some.importance, folds)
        if saved > 0:
            estimator._units_said = rescaled_words(estimator)
            estimator._rarity, estimator._scales = True, rarer._scales
            if estimator.verbose:
                print(rarity_words(estimator))


def _of_few_bags(estimator: Any, told: Sample) -> Sizes | None:
    """Return what columns of rows are like, if rows are few bags of amounts, of unit length."""
    rows, n_rows = told.rows, told.rows.shape[0]
    if n_rows >= MANY_ROWS or not estimator._model.vocabulary.normalize:
        return None
    if rows_of_rarer_class(told.targets) < FEWEST:
        return None
    n_columns = count_columns(rows)
    if n_columns > WIDEST * n_rows or not are_amounts(rows, n_columns):
        return None
    return Sizes.in_rows(estimator._raised(rows))


def are_weighted(sizes: Sizes, n_rows: int) -> bool:
    """Return whether values are the larger the rarer their columns are, as after tf-idf."""
    told = sizes.counts >= FEWEST_ROWS
    if not told.any():
        return True
    rarity = np.log(np.log1p(n_rows / sizes.counts[told]))
    spread = rarity - rarity.mean()
    power = float(np.sum(spread * np.log(sizes.sizes[told])))  # that sizes are of rarity
    return power > WEIGHTED * float(np.sum(spread**2))


def scales_by_rarity(
    sizes: Sizes, shape: tuple[int, int], units: ColumnScales | None
) -> ColumnScales:
    """Return scales that bring a table's columns to one unit, if any do, times their idf."""
    factors = np.log1p(shape[0] / sizes.counts)
    if units is not None:
        factors = factors * units.at(sizes.columns)
    return ColumnScales.of(sizes.columns, factors, shape[1])


def rarity_words(estimator: Any) -> str | None:
    """Say that rare columns count for more; None if all count alike."""
    if not estimator._rarity:
        return None
    return "Columns count for more the fewer rows have them: held-out rows are told better so."
