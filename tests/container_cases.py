"""A small file of arrays, and whether two trees are the same."""

import math

import numpy as np

from thresher.files import container

HEADER = {"kind": "test", "words": ["ä", "b"], "number": 0.1}
ARRAYS = {
    "weights": np.linspace(0, 1, 7),
    "mask": np.array([True, False, True]),
    "empty": np.zeros((0, 3), np.int32),
    "single": np.array(2.5),
    "table": np.arange(6, dtype=np.uint32).reshape(2, 3),
}
DATA = container.dumps(HEADER, ARRAYS)


def same(one, other):
    """Return whether two trees are equal in values, types and bits."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and (one.tolist() == other.tolist() or one.tobytes() == other.tobytes())
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float | np.floating):
        nans = math.isnan(one) and math.isnan(other)
        return nans or (one == other and math.copysign(1, one) == math.copysign(1, other))
    return one == other
