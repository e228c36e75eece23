"""A model made ready to judge rows: the weights that are not zero, found by column."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from thresher.data.column_scales import ColumnScales
from thresher.data.matrix import unit_scales
from thresher.data.vocabulary import Vocabulary, as_columns
from thresher.kernels.margins import lengths, margins


@dataclass(frozen=True)
class Scorer:
    """Weights and biases of one problem or several, and the places of their columns.

    ``place_of`` has an entry for every column there was in training, and a last one, always 0, for
    all that lie beyond. Where rows are given unit length, it is that of columns in one unit.
    """

    place_of: np.ndarray
    weights: list[np.ndarray]
    biases: np.ndarray
    normalize: bool
    scales: ColumnScales | None = None

    @classmethod
    def of(
        cls,
        vocabulary: Vocabulary,
        weights: np.ndarray,
        biases: np.ndarray,
        scales: ColumnScales | None = None,
    ) -> "Scorer":
        """Return what judges by weights by slot, a row for every problem."""
        used = np.flatnonzero(weights.any(axis=0))
        place_of = np.zeros(vocabulary.n_columns + 1, np.int32)
        place_of[vocabulary["columns"][used]] = np.arange(1, used.size + 1)
        by_place = [np.concatenate([[0.0], row[used]]) for row in weights]
        return cls(place_of, by_place, biases, vocabulary.normalize, scales)

    def margins(self, X: sparse.csr_array) -> np.ndarray:
        """Return the margins of canonical rows: a column per problem if there are several."""
        starts = X.indptr.astype(np.int64, copy=False)
        columns = self._columns(X)
        if self.normalize and self.scales is not None:
            shrink = unit_scales(lengths(starts, X.data * self.scales.at(X.indices)))
            found = [
                margins(starts, columns, X.data, self.place_of, weights, 0.0, False) * shrink + bias
                for weights, bias in zip(self.weights, self.biases.tolist(), strict=True)
            ]
        else:
            found = [
                margins(starts, columns, X.data, self.place_of, weights, bias, self.normalize)
                for weights, bias in zip(self.weights, self.biases.tolist(), strict=True)
            ]
        return found[0] if len(found) == 1 else np.column_stack(found)

    def _columns(self, X: sparse.csr_array) -> np.ndarray:
        """Return the columns as the kernel knows them, those beyond training's at the last."""
        indices = X.indices
        if X.shape[1] >= self.place_of.size:
            indices = np.minimum(indices, self.place_of.size - 1)
        return as_columns(indices)
