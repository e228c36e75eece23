"""scikit-learn's classes around the learners."""

from thresher.estimators.fobos import FOBOSClassifier
from thresher.estimators.ftrl import FTRLClassifier
from thresher.estimators.plain_sgd import PlainSGDClassifier
from thresher.estimators.rda import RDAClassifier
from thresher.estimators.stabilized import StabilizedTruncatedSGDClassifier
from thresher.estimators.thresher import ThresherClassifier, ThresherRegressor
from thresher.estimators.thresher_cv import ThresherClassifierCV, ThresherRegressorCV
from thresher.estimators.truncated_gradient import TruncatedGradientClassifier

__all__ = [
    "FOBOSClassifier",
    "FTRLClassifier",
    "PlainSGDClassifier",
    "RDAClassifier",
    "StabilizedTruncatedSGDClassifier",
    "ThresherClassifier",
    "ThresherClassifierCV",
    "ThresherRegressor",
    "ThresherRegressorCV",
    "TruncatedGradientClassifier",
]
