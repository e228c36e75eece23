"""A model made ready to judge rows: the weights that are not zero, found by column."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from thresher.data.vocabulary import Vocabulary, as_columns
from thresher.kernels.margins import margins

FEW = 1 << 20  # weights, zeros included, that may stand by column


@dataclass(frozen=True)
class Scorer:
    """Weights and biases of one problem or several, and the places of their columns.

    Weights stand by column, with a last one, always 0, for all columns beyond the ``n_columns`` of
    training. Where that would be many zeros, ``place_of`` says at which place the weight of each
    column stands; columns without one share the first, where there is a 0.
    """

    n_columns: int
    place_of: np.ndarray | None
    weights: list[np.ndarray]
    biases: np.ndarray
    normalize: bool

    @classmethod
    def of(cls, vocabulary: Vocabulary, weights: np.ndarray, biases: np.ndarray) -> "Scorer":
        """Return what judges by weights by slot, a row for every problem."""
        n_columns, columns = vocabulary.n_columns, vocabulary["columns"]
        if weights.shape[0] * n_columns <= FEW:
            by_column = np.zeros((weights.shape[0], n_columns + 1))
            by_column[:, columns] = weights
            return cls(n_columns, None, list(by_column), biases, vocabulary.normalize)
        used = np.flatnonzero(weights.any(axis=0))
        place_of = np.zeros(n_columns + 1, np.uint32)
        place_of[columns[used]] = np.arange(1, used.size + 1)
        by_place = [np.concatenate([[0.0], row[used]]) for row in weights]
        return cls(n_columns, place_of, by_place, biases, vocabulary.normalize)

    def margins(self, X: sparse.csr_array) -> np.ndarray:
        """Return the margins of canonical rows: a column per problem if there are several."""
        starts = X.indptr.astype(np.int64, copy=False)
        places = self.places(self.columns(X))
        found = [
            margins(starts, places, X.data, weights, bias, self.normalize)
            for weights, bias in zip(self.weights, self.biases.tolist(), strict=True)
        ]
        return found[0] if len(found) == 1 else np.column_stack(found)

    def columns(self, X: sparse.csr_array) -> np.ndarray:
        """Return the columns of rows, those beyond training's as the last."""
        indices = X.indices
        if X.shape[1] > self.n_columns:
            indices = np.minimum(indices, self.n_columns)
        return as_columns(indices)

    def places(self, columns: np.ndarray) -> np.ndarray:
        """Return where the weights of columns stand."""
        return columns if self.place_of is None else self.place_of[columns]
