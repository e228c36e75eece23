"""How long the steps of a selection are: short at first, and all the shorter where rows are few.

Short steps regularise: stability over resampled rows is bought with them. Few rows are visited
often, and steps that many rows bear learn them by heart, by features that hardly any other row has.
Measurements are another matter: all rows have all features, and what they have in common leaves
little to tell them apart by, which takes longer steps.
"""

import math
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.matrix import count_columns, unit_scales
from thresher.estimators.decisions.decision import Decision
from thresher.estimators.gathering import Labelled
from thresher.kernels.margins import lengths
from thresher.learners.selection import wanted_features
from thresher.train import Sample
from thresher.workers import Workers

# Shares of the refit's steps: in the first stage and in the last.
USUAL = 1 / 30, 1.0
MANY_ROWS = 6000  # of which none is learnt by heart
MANY_UPDATES = 80_000  # with which fewer rows are; with fewer updates even fewer rows
# So few features are told from each other by long steps only, in the first stage and in the last.
FEW_FEATURES = 10, 50


class SuitedSteps(Decision):
    """How long the steps of the selection are, as suits the rows at hand.

    Those of a source are not: it has usual steps.
    """

    def prepare(self, estimator: Any, learnt: Sample, run_all: Workers) -> None:
        """Look at rows as they are learnt."""
        estimator._own = own_of(estimator, learnt.rows)

    def prepare_source(self, estimator: Any, some: Labelled | None) -> None:
        """Have usual steps."""
        estimator._own = None


def own_of(estimator: Any, rows: sparse.csr_array) -> float | None:
    """Return how much of the rows, as an estimator learns them, is their own; None of many."""
    if rows.shape[0] >= MANY_ROWS:
        return None
    return own_share(rows, estimator._model.vocabulary.normalize)


def step_shares(estimator: Any, n_rows: int, updates: float) -> tuple[float, float]:
    """Return the shares of the refit's steps in the first stage and in the last."""
    if estimator._own is None:
        return USUAL
    wanted, columns = estimator._wanted(), estimator.n_features_in_
    if wanted is not None:
        wanted = wanted_features(wanted, columns, columns)
    return shares_for(n_rows, updates, estimator._own, wanted)


def shares_for(
    n_rows: int, updates: float, own: float, n_features: int | None
) -> tuple[float, float]:
    """Return the shares in the first and the last stage, for rows that are ``own`` to a degree.

    ``n_features`` are wanted; None if that is still to be seen.
    """
    many = n_rows / MANY_ROWS * max(MANY_UPDATES / updates, 1.0)
    enough = math.sqrt(min(many, 1.0))
    shorter = enough / own if enough < own else 1.0
    first, last = (min(few / (n_features or few), 1.0) for few in FEW_FEATURES)
    return USUAL[0] * max(shorter**2, first), USUAL[1] * max(shorter, last)


def own_share(rows: sparse.csr_array, normalize: bool) -> float:
    """Return how much of the rows is their own: 1 where no two of many have anything in common.

    It is little where rows look much alike, and where most have values in most columns.
    """
    filled = rows.nnz / max(rows.shape[0] * count_columns(rows), 1)
    return (1.0 - common_share(rows, normalize)) ** 2 * (1.0 - filled)


@np.errstate(over="ignore", invalid="ignore")  # what overflows is for others to refuse
def common_share(rows: sparse.csr_array, normalize: bool) -> float:
    """Return the share of the rows' squared lengths that is common to all of them."""
    lengths_of_rows = lengths(rows.indptr.astype(np.int64, copy=False), rows.data)
    scales = unit_scales(lengths_of_rows) if normalize else np.ones(rows.shape[0])
    squares, whole = rows.T @ scales, np.mean((lengths_of_rows * scales) ** 2)
    # only where there is something: zeros that are never written take no memory
    squares[rows.indices] = (squares[rows.indices] / rows.shape[0]) ** 2
    # no product of vectors: the linear algebra's own threads would go on spinning beside ours
    common = float(np.sum(squares) / whole) if whole > 0 else 0.0
    return min(common, 1.0) if math.isfinite(common) else 0.0
