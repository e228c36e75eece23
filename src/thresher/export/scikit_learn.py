"""A fitted model as a plain scikit-learn estimator, which needs no Thresher to predict."""

from typing import Any

import numpy as np
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import Normalizer

from thresher.export.contents import Contents
from thresher.fitted import CLIPPED, LOGISTIC, SOFTMAX, Fitted


def to_scikit_learn(contents: Contents) -> Any:
    """Return a fitted estimator, or a pipeline where rows are scaled to unit length.

    Where some columns stand apart from a row's length, the pipeline splits rows into the columns
    that are scaled and those that are not, and puts the latter after the former.
    """
    fitted = contents.fitted
    columns = np.arange(fitted.n_columns)
    used = np.ones_like(columns, bool)
    if fitted.preparation.kept_length:  # the others count for nothing
        used = np.isin(columns, fitted.columns)
    apart = np.isin(columns, fitted.preparation.measured)
    scaled, rest = used & ~apart, used & apart
    if not fitted.preparation.unit or not scaled.any():
        return _expecting(_linear(fitted, columns), contents)
    scale = _expecting(Normalizer(), contents)
    if not scaled.all():
        columns = np.concatenate([columns[scaled], columns[rest]])
        scale = Pipeline([("pick", _picker(scaled, contents)), ("normalizer", Normalizer())])
    if rest.any():
        scale = FeatureUnion([("scaled", scale), ("apart", _picker(rest, contents))])
    name = "regressor" if contents.of_numbers else "classifier"
    return Pipeline([("scale", scale), (name, _linear(fitted, columns))])


def _picker(mask: np.ndarray, contents: Contents) -> Any:
    """Return a step that picks columns, of rows of any kind: scikit-learn has no plainer one."""
    picker = VarianceThreshold(threshold=0.5)
    picker.variances_ = mask.astype(float)
    return _expecting(picker, contents)


def _expecting(step: Any, contents: Contents) -> Any:
    """Return a first step that knows which columns rows must have."""
    step.n_features_in_ = contents.fitted.n_columns
    if contents.feature_names_in is not None:
        step.feature_names_in_ = contents.feature_names_in.copy()
    return step


def _linear(fitted: Fitted, columns: np.ndarray) -> Any:
    """Return the linear model of columns in this order."""
    coef = fitted.dense_weights()[:, columns]
    if fitted.labels is None:
        model = LinearRegression()
        model.coef_, model.intercept_ = coef[0], float(fitted.intercepts[0])
    else:
        model = _classifier(fitted)
        model.coef_, model.intercept_ = coef, fitted.intercepts.copy()
        model.classes_ = fitted.labels.copy()
    model.n_features_in_ = columns.size
    return model


def _classifier(fitted: Fitted) -> Any:
    """Return a classifier with the same probabilities; the hinge has none."""
    if fitted.link == SOFTMAX or (fitted.link == LOGISTIC and fitted.n_outputs == 1):
        return LogisticRegression()
    losses = {LOGISTIC: "log_loss", CLIPPED: "modified_huber"}
    return SGDClassifier(loss=losses.get(fitted.link, "hinge"))
