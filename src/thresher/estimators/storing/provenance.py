"""Where a model comes from: libraries, seed and data."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

LIBRARIES = ("thresher", "numpy", "scipy", "scikit-learn", "numba")


def provenance(estimator: Any) -> dict[str, Any]:
    """Return where a model comes from; no time, so that the same model gives the same bytes."""
    return {
        **{name: version(name) for name in LIBRARIES},
        "python": platform.python_version(),
        "seed": estimator._seed,
        "data_fingerprint": getattr(estimator, "data_fingerprint_", None),
        "random_state": _random_state_note(estimator),
    }


def _random_state_note(estimator: Any) -> str | None:
    if isinstance(estimator.random_state, np.random.RandomState):
        return "was a numpy.random.RandomState: the seed it gave stands for it"
    return None
