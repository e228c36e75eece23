"""A model made ready to judge rows whose columns are prepared before they get unit length."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from thresher.data.column_offsets import ColumnOffsets
from thresher.data.column_scales import ColumnScales
from thresher.data.matrix import unit_scales
from thresher.data.scoring import Scorer
from thresher.kernels.margins import lengths
from thresher.kernels.prepared_margins import often_prepared, seldom_prepared

LEFT = 1e-6  # of a square, after a subtraction that has not cost too many digits
FEW = 50  # if one column of so many, or fewer, is prepared, most rows hardly meet any

MOST_KINDS = 1 << 8  # of columns, left alone and without a scale included, that a byte tells apart

Judgement = tuple[np.ndarray, np.ndarray]  # margins, and which of them are none
Judge = Callable[[np.ndarray, np.ndarray, np.ndarray, float], Judgement]


@dataclass(frozen=True)
class PreparedScorer:
    """Weights and biases for columns as they are, and what prepares those.

    Rows have the length that they have with columns around zero and in one unit.
    """

    plain: Scorer
    offsets: ColumnOffsets | None
    scales: ColumnScales

    def margins(self, X: sparse.csr_array) -> np.ndarray:
        """Return the margins of canonical rows: a column per problem if there are several."""
        starts, columns = X.indptr.astype(np.int64, copy=False), self.plain.columns(X)
        judged = [
            judge(starts, columns, X.data, bias)
            for judge, bias in zip(self._judges, self.plain.biases.tolist(), strict=True)
        ]
        found = np.column_stack([mine for mine, _ in judged])
        strange = np.flatnonzero(judged[0][1])  # lengths are the same for all problems
        if strange.size:
            found[strange] = self._careful_margins(X[strange])
        return found[:, 0] if found.shape[1] == 1 else found

    def _careful_margins(self, X: sparse.csr_array) -> np.ndarray:
        """Return the same by way of prepared rows, a column per problem."""
        rows = X if self.offsets is None else self.offsets.taken_from(X)
        starts = rows.indptr.astype(np.int64, copy=False)
        units = unit_scales(lengths(starts, self.scales.scaled(rows).data))
        plain = replace(self.plain, biases=np.zeros(self.plain.biases.size), normalize=False)
        sums = plain.margins(rows).reshape(X.shape[0], -1)
        return sums * units[:, None] + self.plain.biases

    @cached_property
    def _judges(self) -> list[Judge]:
        """Return, by problem, the kernel that suits the columns, with what it has to know."""
        plain, columns = self.plain, np.arange(self.plain.n_columns + 1)
        scales = self.scales.at(columns)
        offsets = np.zeros(columns.size) if self.offsets is None else self.offsets.at(columns)
        lines = np.column_stack([scales**2, 2 * scales**2 * offsets])
        square = float(lines[:, 0] @ offsets**2)
        prepared = (scales != 0) & ((scales != 1) | (offsets != 0))
        kinds, kind_of = np.unique(lines[prepared], axis=0, return_inverse=True)
        dots = [-float(one[plain.places(columns)] @ offsets) for one in plain.weights]
        pairs = list(zip(plain.weights, dots, strict=True))
        if FEW * np.count_nonzero(prepared) <= np.count_nonzero(scales):
            table = np.vstack([[[1.0, 0.0], [0.0, 0.0]], kinds])
            if len(table) <= MOST_KINDS:
                by_column = (scales == 0).astype(np.uint8)
                by_column[prepared] = 2 + kind_of.ravel()
                return [Seldom(plain, one, by_column, table, dot, square) for one, dot in pairs]
        elif plain.place_of is None:
            tables = [np.column_stack([one, -lines[:, 1], lines[:, 0]]) for one in plain.weights]
            padded = [np.append(table.ravel(), 0.0) for table in tables]
            return [Often(one, dot, square) for one, dot in zip(padded, dots, strict=True)]
        return [Never() for _ in plain.weights]


@dataclass(frozen=True)
class Seldom:
    """Judges rows that hardly meet a column that is prepared; ``table`` tells of its kind."""

    plain: Scorer
    weights: np.ndarray
    kinds: np.ndarray
    table: np.ndarray
    dot: float
    square: float

    def __call__(
        self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, bias: float
    ) -> Judgement:
        """Return margins, and which of them are none."""
        told = self.weights, self.kinds, self.table, self.dot, self.square, LEFT * self.square
        places = self.plain.places(columns)
        return seldom_prepared(starts, columns, places, values, *told, bias)


@dataclass(frozen=True)
class Often:
    """Judges rows in which many columns are prepared; ``table`` tells of each."""

    table: np.ndarray
    dot: float
    square: float

    def __call__(
        self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, bias: float
    ) -> Judgement:
        """Return margins, and which of them are none."""
        told = self.table, self.dot, self.square, LEFT * self.square
        return often_prepared(starts, columns, values, *told, bias)


class Never:
    """Leaves all rows to those who take care: there is more than a table has room for."""

    def __call__(
        self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, bias: float
    ) -> Judgement:
        """Return no margins, and that they are none."""
        return np.zeros(starts.size - 1), np.ones(starts.size - 1, np.bool_)
