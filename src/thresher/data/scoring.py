"""A model made ready to judge rows: the weights that are not zero, found by column."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from thresher.data.column_offsets import ColumnOffsets
from thresher.data.column_scales import ColumnScales
from thresher.data.matrix import unit_scales
from thresher.data.vocabulary import Vocabulary, as_columns
from thresher.kernels.margins import lengths, margins

FEW = 1 << 20  # weights, zeros included, that may stand by column


@dataclass(frozen=True)
class Scorer:
    """Weights and biases of one problem or several, and the places of their columns.

    Weights stand by column, with a last one, always 0, for all columns beyond the ``n_columns`` of
    training. Where that would be many zeros, ``place_of`` says at which place the weight of each
    column stands; columns without one share the first, where there is a 0. Where rows are given
    unit length, it is that of columns around zero and in one unit; where they are not, biases make
    up for what columns are away from zero.
    """

    n_columns: int
    place_of: np.ndarray | None
    weights: list[np.ndarray]
    biases: np.ndarray
    normalize: bool
    offsets: ColumnOffsets | None = None
    scales: ColumnScales | None = None

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        weights: np.ndarray,
        biases: np.ndarray,
        offsets: ColumnOffsets | None = None,
        scales: ColumnScales | None = None,
    ) -> "Scorer":
        """Return what judges by weights by slot, a row for every problem."""
        n_columns, columns = vocabulary.n_columns, vocabulary["columns"]
        before = vocabulary.normalize, offsets, scales
        if weights.shape[0] * n_columns <= FEW:
            by_column = np.zeros((weights.shape[0], n_columns + 1))
            by_column[:, columns] = weights
            return cls(n_columns, None, list(by_column), biases, *before)
        used = np.flatnonzero(weights.any(axis=0))
        place_of = np.zeros(n_columns + 1, np.uint32)
        place_of[columns[used]] = np.arange(1, used.size + 1)
        by_place = [np.concatenate([[0.0], row[used]]) for row in weights]
        return cls(n_columns, place_of, by_place, biases, *before)

    def margins(self, X: sparse.csr_array) -> np.ndarray:
        """Return the margins of canonical rows: a column per problem if there are several."""
        if self.normalize and self.offsets is not None:
            X = self.offsets.taken_from(X)
        starts = X.indptr.astype(np.int64, copy=False)
        columns = self._columns(X)
        if self.normalize and self.scales is not None:
            units = unit_scales(lengths(starts, X.data * self.scales.at(X.indices)))
            found = [
                margins(starts, columns, X.data, weights, 0.0, False) * units + bias
                for weights, bias in zip(self.weights, self.biases.tolist(), strict=True)
            ]
        else:
            found = [
                margins(starts, columns, X.data, weights, bias, self.normalize)
                for weights, bias in zip(self.weights, self.biases.tolist(), strict=True)
            ]
        return found[0] if len(found) == 1 else np.column_stack(found)

    def _columns(self, X: sparse.csr_array) -> np.ndarray:
        """Return where the weights of the columns stand, those beyond training's at the last."""
        indices = X.indices
        if X.shape[1] > self.n_columns:
            indices = np.minimum(indices, self.n_columns)
        return as_columns(indices) if self.place_of is None else self.place_of[indices]
