"""Which features are kept: how many, and the two rules by which a stage purges."""

import math
from collections.abc import Callable
from numbers import Integral

import numpy as np

from thresher.kernels.masks import highest
from thresher.kernels.quantile import kth_smallest

Columns = Callable[[np.ndarray], np.ndarray]


FEWEST, SHARE = 100, 0.01  # features wanted when the user does not say


def wanted_features(n_features: int | float | None, seen: int, columns: int) -> int:
    """Return how many features to keep: a number, a share of all columns, or one per cent."""
    if n_features is None:
        wanted = max(FEWEST, math.ceil(SHARE * seen))
    elif isinstance(n_features, Integral):
        wanted = int(n_features)
    else:
        wanted = max(1, round(n_features * columns))
    return min(wanted, seen)


def judge(
    evidence: np.ndarray, selected: np.ndarray, stable: np.ndarray, min_evidence: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return which features have enough evidence, and the selection probability of those."""
    judged = stable & (evidence > min_evidence)
    return judged, selected[judged] / evidence[judged]


def strongest(scores: np.ndarray, stable: np.ndarray, columns: Columns, n: int) -> np.ndarray:
    """Return the mask of the n stable features with the highest scores, ties to earlier columns.

    ``columns`` says which columns the features of some places are.
    """
    keep, tied, places = highest(scores, stable, n)
    if tied.size:
        keep[tied[np.argsort(columns(tied))[:places]] if places < tied.size else tied] = True
    return keep


def bar_at(saliency: np.ndarray, n: int) -> float:
    """Return the n-th largest saliency: what stands above it is among the strongest n."""
    if n < 1 or saliency.size < n:
        return 0.0
    return float(kth_smallest(np.ascontiguousarray(saliency), saliency.size - n + 1))


def shrinking_size(start: int, end: int, stage: int, n_stages: int) -> int:
    """Return how many features remain after a stage, on a geometric way from start to end."""
    share = min(stage / n_stages, 1.0)
    return round(start ** (1.0 - share) * end**share)
