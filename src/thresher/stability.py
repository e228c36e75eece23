"""How much sets of selected features agree: Cohen's kappa (the paper's Eq. 17), and Nogueira's.

Masks are over the same p features: true where a feature is selected. A table of masks has one row
per fit, dense or sparse. Work follows the number of selected features, not p. Both measures need no
more of the sets than how many features each two of them share.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import ndtri


class Stability(NamedTuple):
    """Nogueira's stability, its confidence interval and its variance."""

    stability: float
    low: float
    high: float
    variance: float


def cohen_kappa(a: ArrayLike, b: ArrayLike) -> float:
    """Return Cohen's kappa of two masks: agreement beyond what their sizes give by chance.

    Identical sets have kappa 1; when only one of them is empty or everything, it is 0. Two empty
    sets, or two that both select everything, agree by chance alone: kappa is 0/0, returned as nan.

    Examples
    --------
    >>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """
    if np.shape(a) != np.shape(b) or np.ndim(a) != 1:
        raise ValueError(
            f"cohen_kappa compares two masks over the same features, got shapes {np.shape(a)} "
            f"and {np.shape(b)}"
        )
    return mean_pairwise_kappa(np.array([a, b], dtype=bool))


def mean_pairwise_kappa(masks: Any) -> float:
    """Return Cohen's kappa averaged over all pairs of rows.

    Pairs without a kappa (both empty, or both selecting everything) are left out; nan when no
    pair is left.
    """
    return kappa_from_overlaps(*_overlaps(masks))


def kappa_from_overlaps(overlaps: ArrayLike, n_features: int) -> float:
    """Return the mean pairwise kappa of sets of which only the overlaps are known.

    ``overlaps[i, j]`` is the number of features that sets i and j share, ``overlaps[i, i]`` the
    size of set i.
    """
    both, p = _as_square(overlaps), n_features
    size = both.diagonal()
    first, second = np.triu_indices(len(size), k=1)
    shared, here, there = both[first, second], size[first], size[second]
    # Over all p^2 pairs of features, with observed = p11 + p22 and the margins' products:
    # kappa = (p observed - expected) / (p^2 - expected).
    expected = here * there + (p - here) * (p - there)
    gain = p * (p - here - there + 2 * shared) - expected
    room = p * p - expected
    defined = room > 0
    return float(np.mean(gain[defined] / room[defined])) if defined.any() else float("nan")


def nogueira_stability(masks: Any, level: float = 0.95) -> Stability:
    """Return the stability of Nogueira, Sechidis and Brown (2018), defined for any set sizes.

    One minus the features' mean selection variance, over the variance of a random choice of the
    same mean size: 1 when all sets are the same, 0 in expectation for random ones. The interval is
    their normal approximation, its upper end cut at 1. When every set is empty, or every set
    selects everything, nothing can be said and all fields are nan.

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown. On the stability of feature selection algorithms.
    Journal of Machine Learning Research 18(174), 2018.
    """
    return stability_from_overlaps(*_overlaps(masks), level)


def stability_from_overlaps(overlaps: ArrayLike, n_features: int, level: float = 0.95) -> Stability:
    """Return Nogueira's stability of sets of which only the overlaps are known.

    With a feature's share of sets, the shares' sum is the mean size, the sum of their squares the
    mean overlap, and their sum over set i its mean overlap with all sets, itself included.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level!r}")
    both, p = _as_square(overlaps), n_features
    runs, size = len(both), both.diagonal()
    if min(size.max(), (p - size).max()) == 0:
        return Stability(*[float("nan")] * 4)
    mean_size = size.mean() / p
    spread = mean_size * (1 - mean_size)
    stability = 1 - runs / (runs - 1) * (mean_size - both.mean() / p) / spread
    # Each run's influence on the estimate; their spread gives the estimate's variance.
    own = size / p
    shift = 2 * own * mean_size - own - mean_size + 1
    influence = (both.mean(axis=1) / p - own * mean_size + stability / 2 * shift) / spread
    variance = 4 / runs**2 * np.sum((influence - influence.mean()) ** 2)
    reach = ndtri((1 + level) / 2) * np.sqrt(variance)
    low, high = stability - reach, min(stability + reach, 1.0)
    return Stability(float(stability), float(low), float(high), float(variance))


def _as_square(overlaps: ArrayLike) -> NDArray[np.float64]:
    square = np.asarray(overlaps, dtype=np.float64)
    if square.ndim != 2 or square.shape[0] != square.shape[1] or len(square) < 2:
        raise ValueError(
            "overlaps are a square table with two rows or more, one row and one column per fit; "
            f"got shape {square.shape}"
        )
    return square


def _overlaps(masks: Any) -> tuple[NDArray[np.float64], int]:
    """Return how many features each two rows share, and the number of features."""
    table = _as_counts(masks)
    return (table @ table.T).toarray(), table.shape[1]


def _as_counts(masks: Any) -> sparse.csr_array:
    """Return the masks as a sparse table of zeros and ones that can be multiplied."""
    if not sparse.issparse(masks):
        masks = np.asarray(masks)
    if masks.ndim != 2 or masks.shape[0] < 2 or masks.shape[1] < 1:
        raise ValueError(
            "stability needs a table of masks with two rows or more, one per fit, and a column "
            f"per feature; got shape {masks.shape}"
        )
    table = sparse.csr_array(masks != 0)
    counts: NDArray[np.float64] = np.ones(table.nnz)
    return sparse.csr_array((counts, table.indices, table.indptr), shape=table.shape)
