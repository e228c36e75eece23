"""Values raised to a power of 1 or less, which brings large ones nearer to the others."""

from typing import Any

import numpy as np
from scipy import sparse


def raised(rows: Any, power: float) -> Any:
    """Return rows, sparse or dense, of the values' powers; signs stay."""
    if power == 1.0:
        return rows
    if not sparse.issparse(rows):
        return _raised_values(rows, power)
    parts = _raised_values(rows.data, power), rows.indices, rows.indptr
    return sparse.csr_array(parts, shape=rows.shape)


def _raised_values(values: np.ndarray, power: float) -> np.ndarray:
    sizes = np.abs(values)
    # square roots are the same bits on every machine
    return np.copysign(np.sqrt(sizes) if power == 0.5 else sizes**power, values)
