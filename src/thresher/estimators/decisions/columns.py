"""The decision that every estimator takes: columns are brought to one unit, and maybe to zero."""

from typing import Any

from scipy import sparse

from thresher.estimators.decisions.decision import Decision
from thresher.train import Sample
from thresher.workers import Workers


class Columns(Decision):
    """Which columns are in units of their own, or far from zero: see ``PreparedColumns``."""

    def settle(
        self, estimator: Any, rows: sparse.csr_array, told: Sample | None, run_all: Workers
    ) -> None:
        """Look at the rows that there are, whatever their labels say."""
        estimator._settle_columns(rows)
