"""One canonical form for every container, so that the same numbers give the same model."""

import numpy as np
from scipy import sparse

from thresher.kernels.margins import ends_within


def canonical_csr(X: object) -> sparse.csr_array:
    """Return float64 CSR rows with sorted columns, no repeats and no stored zeros.

    The input is never changed: arrays are shared with it where nothing needs changing, else copied.
    """
    rows = sparse.csr_array(X, dtype=np.float64)
    _refuse_strays(rows)
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


def _refuse_strays(rows: sparse.csr_array) -> None:
    """Raise a ValueError if entries stand beside all columns or rows: kernels trust them."""
    # seen as unsigned, what is below 0 is beyond the width too
    columns = rows.indices.view(np.uint32 if rows.indices.itemsize == 4 else np.uint64)
    if columns.size and columns.max() >= rows.shape[1]:
        place = int(np.flatnonzero(columns >= rows.shape[1])[0])
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        raise ValueError(
            f"The sparse matrix has an entry at row {row}, column {rows.indices[place]}, but its "
            f"shape is {rows.shape}: its indices, or its shape, are wrong."
        )
    if (np.diff(rows.indptr) < 0).any():
        raise ValueError("The sparse matrix has rows that end before they begin: indptr is wrong.")


def stay_within(rows: sparse.csr_array) -> bool:
    """Return whether entries whose columns ascend in every row stand beside none: kernels trust it.

    The first and the last of each row tell.
    """
    if rows.indices.itemsize > 4:
        return not rows.nnz or bool(rows.indices.min() >= 0 and rows.indices.max() < rows.shape[1])
    starts, columns = rows.indptr.astype(np.int64, copy=False), rows.indices.view(np.uint32)
    return bool(ends_within(starts, columns, rows.shape[1]))


@np.errstate(over="ignore")  # what is too short to be scaled is refused where it is learnt
def unit_scales(lengths: np.ndarray) -> np.ndarray:
    """Return the factors that give rows unit length; an empty row keeps its zeros."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def count_columns(rows: sparse.csr_array) -> int:
    """Return how many columns occur."""
    return int(column_counts(rows)[0].size)


def column_counts(rows: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return which columns occur, and how often, at a cost that follows the entries."""
    if rows.shape[1] > rows.nnz:  # too wide to have a place for every column
        columns, counts = np.unique(rows.indices, return_counts=True)
        return columns, counts
    counts = np.bincount(rows.indices, minlength=1)
    columns = np.flatnonzero(counts)
    return columns, counts[columns]
