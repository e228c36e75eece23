"""How often a feature is selected from random halves of the rows: counted, not modelled."""

import numpy as np

from thresher.draws import permutation
from thresher.threads import Threads
from thresher.winnow.eliminate import Field, eliminate
from thresher.winnow.sample import Sample
from thresher.winnow.screen import Sums


def half_sample_counts(
    sample: Sample,
    size: int,
    screened: int,
    strength: float,
    n_resamples: int,
    seed: int,
    threads: Threads,
) -> np.ndarray:
    """Return for each column how many random halves of the rows select it."""
    n_rows = sample.targets.size

    def select(number: int) -> np.ndarray:
        half = np.sort(permutation(seed, 1, number, n_rows)[: n_rows // 2])
        rows = sample.at(half)
        field = Field.of(rows, Sums.of(rows), screened)
        wanted = min(size, field.columns.size)
        if not wanted:
            return field.columns
        *_, (left, _) = eliminate(field, strength, [wanted])
        return left.columns

    selected = threads.map(select, list(range(n_resamples)))
    return np.bincount(np.concatenate(selected), minlength=sample.n_columns)
