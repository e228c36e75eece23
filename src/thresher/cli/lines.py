"""Predictions as lines of text, one for every row."""

import json
from collections.abc import Callable
from typing import Any

import click
import numpy as np
from sklearn.base import is_regressor

from thresher.estimators.wording import printable

Lines = Callable[[np.ndarray], list[str]]


def lines_of(model: Any, kind: str, as_json: bool) -> Lines:
    """Return what makes lines of margins."""
    if is_regressor(model):
        if kind == "probability":
            raise click.UsageError("A regression gives no probabilities: its labels are numbers.")
        return _predictions if as_json else _numbers
    if as_json:
        return lambda margins: _objects(model, margins)
    if kind == "label":
        words = {label: printable(str(label)) for label in model.classes_.tolist()}
        return lambda margins: [words[label] for label in model._classes_for(margins).tolist()]
    if kind == "margin":
        return _numbers
    if not gives_probabilities(model):
        raise click.UsageError(
            f"A model with loss={model.loss} gives no probabilities: ask for label or margin, or "
            "train with --loss log_loss."
        )
    return lambda margins: _numbers(_second_of_two(model._probabilities(margins)))


def _predictions(numbers: np.ndarray) -> list[str]:
    """Return a JSON object for every number."""
    return [json.dumps({"prediction": number}) for number in numbers.tolist()]


def gives_probabilities(model: Any) -> bool:
    """Return whether the model's margins stand for probabilities."""
    return hasattr(model, "predict_proba")


def _second_of_two(shares: np.ndarray) -> np.ndarray:
    return shares[:, 1] if shares.shape[1] == 2 else shares


def _numbers(numbers: np.ndarray) -> list[str]:
    """Return numbers as the shortest text that reads as the same number, tabs between columns."""
    if numbers.ndim == 1:
        return [repr(number) for number in numbers.tolist()]
    return ["\t".join(map(repr, row)) for row in numbers.tolist()]


def _objects(model: Any, margins: np.ndarray) -> list[str]:
    """Return a JSON object for every row, with everything the model says of it."""
    names = [str(label) for label in model.classes_.tolist()]
    columns: dict[str, list[Any]] = {
        "label": model._classes_for(margins).tolist(),
        "margin": _by_class(names, margins),
    }
    if gives_probabilities(model):
        columns["probability"] = _by_class(names, model._probabilities(margins))
    keys = list(columns)
    return [
        json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=False)
        for row in zip(*columns.values(), strict=True)
    ]


def _by_class(names: list[str], numbers: np.ndarray) -> list[Any]:
    if numbers.ndim == 1:
        return numbers.tolist()
    return [dict(zip(names, row, strict=True)) for row in numbers.tolist()]
