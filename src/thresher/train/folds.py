"""Rows split into those that train and those that judge."""

from dataclasses import dataclass

import numpy as np

from thresher.randomness import permutation

STREAM = 1 << 20  # of random numbers, that no path reads


@dataclass(frozen=True)
class Fold:
    """Numbers of the rows that train, and of those that are held out to judge."""

    training: np.ndarray
    held: np.ndarray


def stratified_folds(labels: np.ndarray, n_folds: int, seed: int) -> list[Fold]:
    """Return random folds in which every class has its share, as far as its rows go round."""
    fold_of = np.empty(labels.size, np.int64)
    dealt = 0
    for number, label in enumerate(np.unique(labels)):
        members = np.flatnonzero(labels == label)
        members = members[permutation(seed, STREAM, number, members.size)]
        fold_of[members] = (dealt + np.arange(members.size)) % n_folds
        dealt += members.size
    return [
        Fold(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))
        for fold in range(n_folds)
    ]
