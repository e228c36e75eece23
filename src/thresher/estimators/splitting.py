"""The splits of a splitter of scikit-learn's, or those given, as folds of the rows that count."""

from typing import Any

import numpy as np
from scipy import sparse

from thresher.train.folds import Fold


def split_rows(cv: Any, rows: sparse.csr_array, labels: np.ndarray) -> list[Fold]:
    """Return the splits of rows as they were given; sizes are compared by two or more."""
    splits = cv.split(rows, labels) if hasattr(cv, "split") else cv
    folds = [_fold(parts, number, labels.size) for number, parts in enumerate(splits, 1)]
    if len(folds) < 2:
        given = f"cv={cv!r} splits" if hasattr(cv, "split") else "The splits of cv split"
        times = "once" if folds else "not at all"
        raise ValueError(
            f"{given} the rows {times}: sizes are compared by what two or more splits select. Set "
            "cv to a splitter of more, or to a number of folds."
        )
    return folds


def _fold(parts: Any, number: int, n_rows: int) -> Fold:
    """Return a split that is a pair of the numbers of rows, or of masks."""
    try:
        training, held = (np.arange(n_rows)[np.asarray(part)] for part in parts)
    except (TypeError, ValueError, IndexError):
        raise ValueError(
            f"Split {number} of cv is not a pair of numbers of rows, (training, held out), each "
            f"below {n_rows:,}."
        ) from None
    return Fold(training, held)


def among(folds: list[Fold], importance: np.ndarray) -> list[Fold]:
    """Return the folds by the numbers rows have where those without importance are left out."""
    place = np.where(importance > 0, np.cumsum(importance > 0) - 1, -1)
    kept = [Fold(_known(place[fold.training]), _known(place[fold.held])) for fold in folds]
    for number, fold in enumerate(kept, 1):
        if not (fold.training.size and fold.held.size):
            what = "judge by" if fold.training.size else "learn from"
            raise ValueError(f"Split {number} of cv has no row with a weight to {what}.")
    return kept


def _known(places: np.ndarray) -> np.ndarray:
    return places[places >= 0]
