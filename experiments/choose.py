"""Choose a setting by cross-validation on training rows: the sparsest within one standard error."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.model_selection import StratifiedKFold

from experiments.datasets import Split

Params = dict[str, Any]
Trial = Callable[[Params, Split], tuple[float, float]]


class Score(NamedTuple):
    """A setting with its error and its share of nonzero weights, in percent, for every fold."""

    params: Params
    errors: list[float]
    percents: list[float]

    @property
    def error(self) -> float:
        """Return the mean error."""
        return float(np.mean(self.errors))

    @property
    def percent(self) -> float:
        """Return the mean share of nonzero weights."""
        return float(np.mean(self.percents))

    @property
    def standard_error(self) -> float:
        """Return the standard error of the mean error."""
        return float(np.std(self.errors, ddof=1) / math.sqrt(len(self.errors)))


def folds_of(X: csr_matrix, y: np.ndarray, n_folds: int, seed: int = 0) -> Iterator[Split]:
    """Yield the folds, each with about the same share of both classes."""
    maker = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    for train, held_out in maker.split(X, y):
        yield Split(X[train], y[train], X[held_out], y[held_out])


def score_all(settings: Sequence[Params], folds: Sequence[Split], trial: Trial) -> list[Score]:
    """Try every setting on every fold."""
    scores = []
    for params in settings:
        results = [trial(params, fold) for fold in folds]
        errors, percents = zip(*results, strict=True)
        scores.append(Score(params, list(errors), list(percents)))
    return scores


def sparsest_within_one_standard_error(scores: Sequence[Score]) -> Score:
    """Return the sparsest setting whose error is within one standard error of the best.

    The standard error is the best setting's own. Of equally sparse ones the more accurate, then
    the earlier, is chosen. A model without any weight is no model and is chosen only if all are.
    """
    usable = [score for score in scores if score.percent > 0] or list(scores)
    best = min(usable, key=lambda score: score.error)
    bound = best.error + best.standard_error
    return min(
        (score for score in usable if score.error <= bound),
        key=lambda score: (score.percent, score.error),
    )
