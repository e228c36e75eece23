"""How a prediction is computed from weights and intercept, for whoever does it without us.

Values are raised before anything else, if at all; all that follows is said of their powers. Where
rows are not scaled to unit length, the weights are for columns as they are, and whatever was
done to those is in the intercept. Where they are, the length is of prepared columns, all of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor


@dataclass(frozen=True)
class Preparation:
    """Offset and scale of every column that occurred; others do not count."""

    columns: np.ndarray
    offsets: np.ndarray
    scales: np.ndarray


def computation(model: Any) -> str:
    """Say how to compute what a fitted model predicts."""
    score = "prediction" if is_regressor(model) else "score"
    return raised_first(model) + _from_values(model, score)


def _from_values(model: Any, score: str) -> str:
    """Say how to compute a score from values that are raised, if they are."""
    if not model._model.vocabulary.normalize:
        return f"A {score} is the sum of a row's values times their weights, plus the intercept."
    if prepared_columns(model) is None:
        return (
            f"Rows are scaled to unit length first: a {score} is the sum of a row's values times "
            "their weights, divided by the row's length (the root of the sum of its squared "
            "values), plus the intercept."
        )
    values = "values" if model._offsets is None else "values less their columns' offsets"
    return (
        f"Rows are scaled to unit length first, with all columns in one unit: a {score} is the sum "
        f"of a row's {values} times their weights, divided by the row's length (the root of the "
        f"sum of the squares of its {values} times their columns' scales), plus the intercept."
    )


def raised_first(model: Any) -> str:
    """Say that all is about roots, or powers, of values; nothing, if it is about values."""
    if model._power == 1.0:
        return ""
    what = "square roots" if model._power == 0.5 else f"powers of {model._power:g}"
    return f"Before anything else values are replaced by their {what}, with their signs. "


def prepared_columns(model: Any) -> Preparation | None:
    """Return what is done to columns before rows get unit length; None if it is nothing."""
    if not model._model.vocabulary.normalize or model._scales is None:
        return None
    columns = np.flatnonzero(model._scales.factors)
    return Preparation(columns, model._offsets_at(columns), model._scales.at(columns))
