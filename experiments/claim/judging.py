"""What a model got wrong and what it selected; how often each row was missed, as short text."""

import base64
import zlib
from typing import Any

import numpy as np

from experiments.datasets import Split
from experiments.judge import misses, weights


def missed(model: Any, data: Split) -> np.ndarray:
    """Return which test rows are missed: all of them by a model that overflowed."""
    if model is None:
        return np.ones(len(data.y_test), dtype=bool)
    return misses(model, data.X_test, data.y_test)


def support(model: Any, data: Split) -> np.ndarray:
    """Return a model's features; a model that overflowed has them all."""
    if model is None:
        return np.arange(data.X_train.shape[1])
    return np.flatnonzero(weights(model)[0])


def pack_counts(counts: np.ndarray) -> str:
    """Return small whole numbers as short text: bytes, deflated, base 64."""
    return base64.b64encode(zlib.compress(counts.astype(np.uint8).tobytes(), 9)).decode("ascii")


def unpack_counts(text: str) -> np.ndarray:
    """Return the numbers of ``pack_counts``."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).astype(np.int64)
