"""One canonical form for every container, so that the same numbers give the same model."""

import numpy as np
from scipy import sparse


def canonical_csr(X: object) -> sparse.csr_array:
    """Return float64 CSR rows with sorted columns, no repeats and no stored zeros.

    The input is never changed: arrays are shared with it where nothing needs changing, else copied.
    """
    rows = sparse.csr_array(X, dtype=np.float64)
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    # kernels are compiled for arrays that can be written to; those that cannot are copied
    rows.data, rows.indices, rows.indptr = (
        np.require(array, requirements=["C", "W"])
        for array in (rows.data, rows.indices, rows.indptr)
    )
    return rows


def unit_scales(lengths: np.ndarray) -> np.ndarray:
    """Return the factors that give rows unit length; an empty row keeps its zeros."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
