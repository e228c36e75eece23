"""How long the steps of a selection are: short at first, and all the shorter where rows are few.

Short steps regularise: stability over resampled rows is bought with them. Few rows are visited
often, and steps that many rows bear learn them by heart. Rows that look much alike are another
matter: only what is not common to all of them tells them apart, and that takes longer steps.
"""

import math
from typing import Any

import numpy as np
from scipy import sparse

from thresher.data.matrix import unit_scales
from thresher.estimators.sizing import SizesItself
from thresher.kernels.margins import lengths
from thresher.learners.selection import wanted_features
from thresher.workers import Workers

# Shares of the refit's steps: in the first stage and in the last.
USUAL = 1 / 30, 1.0
MANY_ROWS = 6000  # of which none is learnt by heart
MANY_UPDATES = 80_000  # with which fewer rows are; with fewer updates even fewer rows
FEW_FEATURES = 50  # are told from each other by the long steps of the last stages only


class SuitsRows(SizesItself):
    """The part of the flagship that suits the steps of its selection to the rows at hand."""

    _apart = None  # the share of the rows that is not common to all of them, if they are few

    def _prepare_rows(
        self: Any,
        rows: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Workers,
    ) -> None:
        """Look at rows as they are learnt."""
        few = rows.shape[0] < MANY_ROWS
        self._apart = share_apart(rows, self._model.vocabulary.normalize) if few else None
        super()._prepare_rows(rows, targets, importance, run_all)

    def _step_shares(self: Any, n_rows: int, updates: float) -> tuple[float, float]:
        if self._apart is None:
            return USUAL
        wanted, columns = self._wanted(), self.n_features_in_
        if wanted is not None:
            wanted = wanted_features(wanted, columns, columns)
        return shares_for(n_rows, updates, self._apart, wanted)


def shares_for(
    n_rows: int, updates: float, apart: float, n_features: int | None
) -> tuple[float, float]:
    """Return the shares in the first and the last stage, for rows of which a share is ``apart``.

    ``n_features`` are wanted; None if that is still to be seen.
    """
    many = n_rows / MANY_ROWS * max(MANY_UPDATES / updates, 1.0)
    enough, apart = math.sqrt(min(many, 1.0)), apart**2
    shorter = enough / apart if enough < apart else 1.0
    fine = 1.0 if n_features is None else min(FEW_FEATURES / n_features, 1.0)
    first, last = USUAL
    return first * shorter**2, last * max(shorter, fine)


@np.errstate(over="ignore", invalid="ignore")  # what overflows is for others to refuse
def share_apart(rows: sparse.csr_array, normalize: bool) -> float:
    """Return the share of the rows' squared lengths that is not common to all of them."""
    lengths_of_rows = lengths(rows.indptr.astype(np.int64, copy=False), rows.data)
    scales = unit_scales(lengths_of_rows) if normalize else np.ones(rows.shape[0])
    mean, whole = rows.T @ scales / rows.shape[0], np.mean((lengths_of_rows * scales) ** 2)
    common = float(mean @ mean / whole) if whole > 0 else 0.0
    return 1.0 - min(common, 1.0) if math.isfinite(common) else 1.0
