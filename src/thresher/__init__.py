"""Small, stable, accurate linear models for high-dimensional sparse data, learned online."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from thresher.estimators.online import (
        FOBOSClassifier,
        FTRLClassifier,
        PlainSGDClassifier,
        RDAClassifier,
        TruncatedGradientClassifier,
    )
    from thresher.estimators.saving import load
    from thresher.estimators.stabilized import StabilizedTruncatedSGDClassifier
    from thresher.estimators.thresher import ThresherClassifier, ThresherRegressor
    from thresher.files import ModelFileError
    from thresher.formats.errors import DataError
    from thresher.formats.opening import open_rows

__all__ = [
    "DataError",
    "FOBOSClassifier",
    "FTRLClassifier",
    "ModelFileError",
    "PlainSGDClassifier",
    "RDAClassifier",
    "StabilizedTruncatedSGDClassifier",
    "ThresherClassifier",
    "ThresherRegressor",
    "TruncatedGradientClassifier",
    "load",
    "open_rows",
]

# Where each public name lives; imported when it is first asked for, for Numba and scikit-learn
# take a second.
_HOMES = {
    "DataError": "thresher.formats.errors",
    "FOBOSClassifier": "thresher.estimators.online",
    "FTRLClassifier": "thresher.estimators.online",
    "ModelFileError": "thresher.files",
    "PlainSGDClassifier": "thresher.estimators.online",
    "RDAClassifier": "thresher.estimators.online",
    "StabilizedTruncatedSGDClassifier": "thresher.estimators.stabilized",
    "ThresherClassifier": "thresher.estimators.thresher",
    "ThresherRegressor": "thresher.estimators.thresher",
    "TruncatedGradientClassifier": "thresher.estimators.online",
    "load": "thresher.estimators.saving",
    "open_rows": "thresher.formats.opening",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name in _HOMES:
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what can be imported, loaded or not."""
    return sorted([*globals(), *_HOMES])
