"""What is done to values before they are learnt: raised, brought around zero, and to one unit."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from scipy import sparse

from thresher.data.column_offsets import ColumnOffsets
from thresher.data.column_scales import ColumnScales
from thresher.data.powers import raised
from thresher.data.thawing import thawed
from thresher.estimators.decisions.amounts import warn_of_drowned
from thresher.estimators.decisions.offsets import FarColumns, shifted_words, warn_of_offsets
from thresher.estimators.decisions.units import NOWHERE, Sizes, UnitWatch, rescaled_words
from thresher.estimators.names import NamedColumns
from thresher.train import Model


class PreparedColumns(NamedColumns):
    """The part of a model that knows how the columns it learns differ from those it is given."""

    # whether columns far from zero are learnt as differences from their means
    measures_columns: ClassVar[bool] = False

    n_features_in_: int
    fit_intercept: bool
    verbose: int
    _model: Model
    _power: float = 1.0  # that values are raised to
    _rarity: bool = False  # whether rare columns count for more
    _units_said: str | None = None  # of columns in other units, before rarity changed all scales
    _offsets: ColumnOffsets | None = None
    _scales: ColumnScales | None = None
    _unit_watch: UnitWatch | None = None  # of a stream, as long as it matters

    @abstractmethod
    def _model_fitted(self) -> Model:
        """Return what was learnt, or say that there is nothing."""

    def _begin_columns(self) -> None:
        """Take columns as they are until rows tell more."""
        self._forget_source()
        self._power, self._offsets, self._scales = self._power_at_first(), None, None
        self._unit_watch, self._rarity, self._units_said = UnitWatch(), False, None

    def _power_at_first(self) -> float:
        """Return what values are raised to before rows have told anything."""
        return 1.0

    @property
    def column_scales_(self) -> np.ndarray:
        """What each column is multiplied by before it is learnt; ``coef_`` is for X as it is.

        1 for all, unless the values of some columns are more than 100 times larger or smaller than
        those of most: such columns are brought nearest to the others by a power of 1000. Columns
        that are then still more than 10 times larger or smaller are brought to the size of most,
        and with them all that have a value in most rows. Columns with an offset are brought to the
        deviation of most. Where there are such columns, those that never occurred have 0: nobody
        knows their unit. Where rare columns count for more (``rare_columns_count_more_``), that is
        in the factors, too. Where rows are scaled to unit length, it is that of
        ``(X - column_offsets_) * column_scales_``.
        """
        self._model_fitted()
        if self._scales is None:
            return np.broadcast_to(1.0, self.n_features_in_)  # of millions, too, eight bytes
        return self._scales.spread(self.n_features_in_)

    @property
    def column_offsets_(self) -> np.ndarray:
        """What is taken away from each column before it is learnt.

        0 for all, unless ``ThresherClassifier`` or ``ThresherRegressor`` found columns whose means
        are more than two standard deviations away from zero: of these the mean, and where most
        columns have a value in nearly all rows, of all that have. Where rows are not
        scaled to unit length, ``intercept_`` makes up for it; where they are, decisions are
        ``(X - column_offsets_) @ coef_.T`` over that length, plus ``intercept_``.
        """
        self._model_fitted()
        if self._offsets is None:
            return np.zeros(self.n_features_in_)
        return self._offsets.spread(self.n_features_in_)

    def _settle_columns(self, rows: sparse.csr_array) -> None:
        """Decide from rows which columns are far from zero or in units of their own, and mend it.

        Without an intercept zero has a meaning that no column may lose.
        """
        rows = self._raised(rows)
        sizes, measured = Sizes.in_rows(rows), NOWHERE
        if self.measures_columns and self.fit_intercept:
            far = FarColumns.to_measure(rows, sizes)
            sizes, measured = sizes.around(far.places, far.spreads, rows.shape[0]), far.places
            self._offsets = far.offsets()
        self._scales = sizes.scales(rows.shape, measured)
        self._unit_watch = None
        for words in (shifted_words(self), rescaled_words(self)):
            if self.verbose and words:
                print(words)

    def _next_as_learnt(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Return rows as they are learnt, and remember which columns have occurred."""
        rows = self._brought_to_zero(self._raised(rows))
        if self._scales is None:
            return rows
        self._scales = self._scales.having(rows)
        return self._scales.scaled(rows)

    def _as_learnt(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Return rows as they are learnt: raised, around zero, and in one unit."""
        rows = self._brought_to_zero(self._raised(rows))
        return rows if self._scales is None else self._scales.scaled(rows)

    def _raised(self, rows: sparse.csr_array) -> sparse.csr_array:
        return raised(rows, self._power)

    def _brought_to_zero(self, rows: sparse.csr_array) -> sparse.csr_array:
        return rows if self._offsets is None else self._offsets.taken_from(rows)

    def _watch_columns(self, rows: sparse.csr_array) -> None:
        """Warn, once, if a stream's columns turn out to be far from zero or in other units.

        Or if its values drown each other.
        """
        watch = self._unit_watch = thawed(self._unit_watch)
        if not watch:
            return
        rows = self._raised(rows)
        told = warn_of_offsets(self, rows, True) or warn_of_drowned(self, rows)
        if told or watch.sees_enough(self, rows):
            self._unit_watch = None

    def _for_columns_as_they_are(
        self, weights: np.ndarray, intercepts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return weights by slot, and intercepts, for columns as they are given."""
        columns = self._model.vocabulary["columns"]
        if self._scales is not None:
            weights = weights * self._scales.at(columns)
        if self._offsets is not None and not self._model.vocabulary.normalize:
            intercepts = intercepts - weights @ self._offsets.at(columns)
        return weights, intercepts

    def _offsets_at(self, columns: np.ndarray) -> np.ndarray:
        """Return what is taken away from some columns."""
        return np.zeros(columns.size) if self._offsets is None else self._offsets.at(columns)

    def _strengths(self, weights: np.ndarray) -> np.ndarray:
        """Return how large weights by slot are where all columns are in one unit."""
        if self._scales is None:
            return np.abs(weights)
        factors = self._scales.at(self._model.vocabulary["columns"])
        return np.abs(weights) / np.where(factors == 0, 1.0, factors)
