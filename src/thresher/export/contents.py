"""What there is to export: a fitted model, the names of its columns, and how it predicts."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np

from thresher.estimators.base import LinearModel
from thresher.fitted import CLIPPED, LOGISTIC, SOFTMAX, Fitted


class Contents(NamedTuple):
    """A fitted model as exports need it.

    ``names_of`` gives the names of columns, ``feature_names_in`` those of all columns, if
    scikit-learn knows them. ``facts`` are what else is known of the model's columns, such as how
    often each was selected: an entry for each of ``fitted.columns``.
    """

    fitted: Fitted
    names_of: Callable[[np.ndarray], list[str]]
    feature_names_in: np.ndarray | None = None
    facts: Mapping[str, np.ndarray] = MappingProxyType({})

    @classmethod
    def of(cls, model: LinearModel) -> Self:
        """Return the contents of a fitted estimator."""
        known = vars(model).get("feature_names_in_")
        return cls(model.fitted_, model.column_names, known, model.selection_facts())

    @property
    def of_numbers(self) -> bool:
        """Return whether it predicts numbers, not classes."""
        return self.fitted.labels is None

    @property
    def apart(self) -> np.ndarray:
        """Return a mask of the model's columns: those that have no part in a row's length."""
        return np.isin(self.fitted.columns, self.fitted.preparation.measured)

    def class_of(self, output: int) -> Any:
        """Return the class that a positive margin of an output stands for."""
        labels = self.fitted.labels
        if labels is None:
            return None
        label = labels[1] if self.fitted.n_outputs == 1 else labels[output]
        return label.item() if isinstance(label, np.generic) else label


def formula(contents: Contents) -> list[str]:
    """Return how a prediction is computed from weights and intercepts, in sentences."""
    fitted = contents.fitted
    if fitted.labels is None:
        return [_score(fitted, "prediction")]
    if fitted.n_outputs > 1:
        class_line = "each class has a score, and the class with the largest is predicted"
    else:
        class_line = f"class = {fitted.labels[1]} if score > 0, else {fitted.labels[0]}"
    return [_score(fitted, "score"), class_line, *_probability(fitted, fitted.labels)]


def _score(fitted: Fitted, result: str) -> str:
    if not fitted.preparation.unit:
        return f"{result} = intercept + sum of weight * value"
    length = "square root of the sum of value^2"
    if not fitted.preparation.measured.size:
        if fitted.preparation.kept_length:
            length += " over the features below"
        return f"{result} = intercept + (sum of weight * value) / length, length = {length}"
    over = "over all columns but those where scaled is false"
    if fitted.preparation.kept_length:
        over = "where scaled is true"
    return (
        f"{result} = intercept + (sum of weight * value where scaled is true) / length + "
        f"(sum of weight * value where scaled is false), length = {length} {over}"
    )


def _probability(fitted: Fitted, labels: np.ndarray) -> list[str]:
    several = fitted.n_outputs > 1
    which = "of each class" if several else f"of {labels[1]}"
    shares = ", divided by their sum over the classes" if several else ""
    formulas = {
        LOGISTIC: "1 / (1 + exp(-score))",
        CLIPPED: "(min(max(score, -1), 1) + 1) / 2",
        SOFTMAX: "exp(score)",
    }
    known = formulas.get(fitted.link)
    return [] if known is None else [f"probability {which} = {known}{shares}"]
