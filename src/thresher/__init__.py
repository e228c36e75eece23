"""Small, stable, accurate linear models for high-dimensional sparse data, learned online."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from thresher.estimators import (
        FOBOSClassifier,
        FTRLClassifier,
        PlainSGDClassifier,
        RDAClassifier,
        StabilizedTruncatedSGDClassifier,
        ThresherClassifier,
        TruncatedGradientClassifier,
    )

__all__ = [
    "FOBOSClassifier",
    "FTRLClassifier",
    "PlainSGDClassifier",
    "RDAClassifier",
    "StabilizedTruncatedSGDClassifier",
    "ThresherClassifier",
    "TruncatedGradientClassifier",
]


def __getattr__(name: str) -> Any:
    """Import the estimators when they are first asked for: Numba and scikit-learn take a second."""
    if name in __all__:
        return getattr(import_module("thresher.estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what can be imported, loaded or not."""
    return sorted([*globals(), *__all__])
