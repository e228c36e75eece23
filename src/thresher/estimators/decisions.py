"""What an estimator may decide for itself before, while and after rows are learnt.

Here nothing is decided that every estimator would not: columns are brought to one unit.
"""

from typing import Any

import numpy as np
from scipy import sparse

from thresher.estimators.gathering import Labelled
from thresher.train import Sample
from thresher.workers import Workers


class Decisions:
    """The places at which estimators with more to decide say so."""

    def _settle(self: Any, some: Sample, run_all: Workers) -> None:
        """Decide how values and columns are learnt, from rows as they are."""
        self._settle_columns(some.rows)

    def _settle_first(self: Any, some: Labelled) -> None:
        """Decide the same from a source's first rows."""
        self._settle_columns(some.rows)

    def _prepare_rows(
        self,
        rows: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Workers,
    ) -> None:
        """Decide what only rows that are all at hand can tell, before they are learnt."""

    def _learns_anew(
        self,
        rows: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Workers,
    ) -> bool:
        """Return whether rows that have just been learnt show that they had better be learnt anew.

        How, has then been decided.
        """
        return False

    def _level(
        self,
        rows: sparse.csr_array,
        targets: list[np.ndarray],
        importance: np.ndarray,
        run_all: Workers,
    ) -> None:
        """Set right what rows that are all at hand, once learnt, can tell of the model."""

    def _prepare_source(self, some: Labelled | None) -> None:
        """Decide the same from a source's first rows; None if nobody has seen them."""

    def _asks_first_rows(self) -> bool:
        """Return whether a stream's first rows have to be looked at before any is learnt."""
        return False

    def _wants_all(self) -> bool:
        """Return whether a source had better be at hand, if it is small."""
        return False
