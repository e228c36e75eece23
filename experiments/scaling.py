"""The scalings of the study. What is learned from rows is learned from training rows only."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.preprocessing import StandardScaler, normalize

from experiments.datasets import Split
from experiments.errors import StudyError


def unit_variance(train: csr_matrix, *others: csr_matrix) -> tuple[csr_matrix, ...]:
    """Divide each column by its standard deviation in ``train``, as the paper does.

    The deviation is about the column's mean and over all rows, zeros too (divided by n, not
    n - 1). The mean is not subtracted: zeros stay zeros. A constant column is left as it is.
    """
    scaler = StandardScaler(with_mean=False).fit(train)
    return tuple(scaler.transform(rows) for rows in (train, *others))


def nonzero_rms(train: csr_matrix, *others: csr_matrix) -> tuple[csr_matrix, ...]:
    """Divide each column by the root mean square of its nonzero entries in ``train``.

    A rare column keeps its size, where unit variance makes it large. Not what the paper's text
    says, but under it plain SGD comes near the errors printed for the sparse sets.
    """
    squares = np.asarray(train.multiply(train).sum(axis=0)).ravel()
    sizes = np.sqrt(squares / np.maximum(train.getnnz(axis=0), 1))
    shrink = diags(1 / np.where(sizes > 0, sizes, 1.0))
    return tuple((rows @ shrink).tocsr() for rows in (train, *others))


def row_l2(train: csr_matrix, *others: csr_matrix) -> tuple[csr_matrix, ...]:
    """Divide each row by its Euclidean length, our default; an empty row stays empty."""
    return tuple(normalize(rows) for rows in (train, *others))


def row_rarity(train: csr_matrix, *others: csr_matrix) -> tuple[csr_matrix, ...]:
    """Multiply each column by log(1 + rows / rows that have it), then give rows unit length.

    Columns that do not occur in ``train`` become 0: nobody knows how rare they are.
    """
    counts = train.getnnz(axis=0)
    factors = np.where(counts > 0, np.log1p(train.shape[0] / np.maximum(counts, 1)), 0.0)
    return row_l2(*((rows @ diags(factors)).tocsr() for rows in (train, *others)))


SCALINGS: dict[str, Callable[..., tuple[csr_matrix, ...]]] = {
    "unit-variance": unit_variance,
    "nonzero-rms": nonzero_rms,
    "row-l2": row_l2,
    "row-rarity": row_rarity,
}


def scaled(data: Split, scaling: str) -> Split:
    """Scale both parts of a split by what the training part tells."""
    if scaling not in SCALINGS:
        raise StudyError(f"there is no scaling {scaling!r}; known are: {', '.join(SCALINGS)}")
    X_train, X_test = SCALINGS[scaling](data.X_train, data.X_test)
    return Split(X_train, data.y_train, X_test, data.y_test)
