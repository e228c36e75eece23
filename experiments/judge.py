"""The judge: computes every metric from a fitted model's weights, whatever the model says."""

import base64
import zlib
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, diags, issparse
from scipy.sparse.linalg import norm
from sklearn.preprocessing import normalize


class Verdict(NamedTuple):
    """Test error in percent, nonzero weights as a count and in percent, and which they are."""

    error: float
    nonzero: int
    percent: float
    support: np.ndarray


def weights(model: Any) -> tuple[np.ndarray, float]:
    """Return a model's weight vector and intercept."""
    coef = model.coef_.toarray() if issparse(model.coef_) else np.asarray(model.coef_)
    return coef.ravel(), float(np.ravel(model.intercept_)[0])


def misses(model: Any, X: csr_matrix, y: np.ndarray) -> np.ndarray:
    """Return which rows a model gets wrong.

    A row is positive when its margin is above 0, after its values were raised to a power and it was
    scaled to length 1, where that is part of the model: the length it has with all columns around
    zero and in one unit.
    """
    coef, intercept = weights(model)
    X = _raised(X, getattr(model, "value_power_", 1.0))
    rows = _of_unit_length(X, model) if getattr(model, "rows_normalized_", False) else X
    return np.where(rows @ coef + intercept > 0, 1, -1) != y


def _raised(X: csr_matrix, power: float) -> csr_matrix:
    values = np.sign(X.data) * np.abs(X.data) ** power
    return csr_matrix((values, X.indices, X.indptr), shape=X.shape)


def _of_unit_length(X: csr_matrix, model: Any) -> csr_matrix:
    offsets = getattr(model, "column_offsets_", np.zeros(1))
    scales = getattr(model, "column_scales_", np.ones(1))
    if offsets.any():
        X = csr_matrix(X - csr_matrix(np.ones((X.shape[0], 1))) @ csr_matrix(offsets))
    if (scales == 1).all():
        return normalize(X)
    lengths = norm(X @ diags(scales), axis=1)
    return diags(np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)) @ X


def judge(model: Any, X: csr_matrix, y: np.ndarray) -> Verdict:
    """Judge a model on rows that did not train it.

    The share of nonzero weights is of all columns, also of those that never occur.
    """
    coef, _ = weights(model)
    support = np.flatnonzero(coef)
    error = 100 * float(np.mean(misses(model, X, y)))
    return Verdict(error, len(support), 100 * len(support) / len(coef), support)


def pack(support: np.ndarray) -> str:
    """Return sorted feature numbers as short text: gaps, deflated, base 64."""
    gaps = np.diff(np.asarray(support, dtype="<u4"), prepend=np.uint32(0))
    return base64.b64encode(zlib.compress(gaps.tobytes(), 9)).decode("ascii")


def unpack(text: str) -> np.ndarray:
    """Return the feature numbers of ``pack``."""
    gaps = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<u4")
    return np.cumsum(gaps, dtype=np.int64)
