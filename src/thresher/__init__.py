"""Small, stable, accurate linear models for high-dimensional sparse data, learned online."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from thresher.data.errors import DataError
    from thresher.data.sources.opening import open_source
    from thresher.estimators import (
        FOBOSClassifier,
        FTRLClassifier,
        PlainSGDClassifier,
        RDAClassifier,
        StabilizedTruncatedSGDClassifier,
        ThresherClassifier,
        ThresherClassifierCV,
        ThresherRegressor,
        ThresherRegressorCV,
        TruncatedGradientClassifier,
    )
    from thresher.estimators.refitting import selection_shares
    from thresher.estimators.storing.loading import load
    from thresher.estimators.unit_scaler import UnitScaler
    from thresher.files.errors import ModelFileError

__all__ = [
    "DataError",
    "FOBOSClassifier",
    "FTRLClassifier",
    "ModelFileError",
    "PlainSGDClassifier",
    "RDAClassifier",
    "StabilizedTruncatedSGDClassifier",
    "ThresherClassifier",
    "ThresherClassifierCV",
    "ThresherRegressor",
    "ThresherRegressorCV",
    "TruncatedGradientClassifier",
    "UnitScaler",
    "load",
    "open_source",
    "selection_shares",
]

# Where to find what is no estimator.
_HOMES = {
    "DataError": "thresher.data.errors",
    "ModelFileError": "thresher.files.errors",
    "UnitScaler": "thresher.estimators.unit_scaler",
    "load": "thresher.estimators.storing.loading",
    "open_source": "thresher.data.sources.opening",
    "selection_shares": "thresher.estimators.refitting",
}


def __getattr__(name: str) -> Any:
    """Import things when they are first asked for: Numba and scikit-learn take a second."""
    if name in __all__:
        return getattr(import_module(_HOMES.get(name, "thresher.estimators")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what can be imported, loaded or not."""
    return sorted([*globals(), *__all__])
