"""Whether rows are to be scaled to unit length, where nobody says.

A long document says no more than a short one, and rows of very different lengths are hard to learn
together. The length of a row of measurements is another matter: it tells how far from the middle
the row lies, and is taken away at a loss.
"""

import numpy as np
from scipy import sparse

from thresher.data.matrix import count_columns

FILLED = 2 / 3  # of the cells of measurements
UNEVEN = 0.5  # of their mean, the deviation of lengths that are too different


def have_most_values(rows: sparse.csr_array) -> bool:
    """Return whether columns that occur have values in most rows, as measurements do."""
    enough = rows.nnz / (FILLED * rows.shape[0])  # columns, or fewer
    if np.diff(rows.indptr).max() > enough:  # so many occur in one row: no need to count
        return False
    return count_columns(rows) <= enough


def have_even_lengths(rows: sparse.csr_array) -> bool:
    """Return whether rows are about as long as each other."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        return bool(lengths.std() < UNEVEN * lengths.mean())
