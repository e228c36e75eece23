"""What a fitted model is and has selected, in plain values: for tables, pages and other programs.

Nothing here needs pandas. Everything is JSON as it stands, once dataclasses are made dicts.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from thresher.estimators.decisions.levelling import line_of
from thresher.estimators.decisions.step_lengths import steps_words
from thresher.estimators.exporting.computing import computation
from thresher.estimators.false_selections import false_selections, meaning_of_probabilities
from thresher.estimators.findings import is_weighed
from thresher.estimators.names import names_of
from thresher.estimators.sized import choice_tree
from thresher.estimators.storing.provenance import provenance


@dataclass(frozen=True)
class Feature:
    """A feature with a weight. ``rows`` are those of training in which it occurred."""

    name: str
    weight: float
    probability: float | None  # of selection; None where the method has none
    rows: int


@dataclass(frozen=True)
class Selection:
    """What one problem selected, strongest first, and how it got there.

    ``positive`` is the class that positive weights speak for, None where labels are numbers;
    ``false_selections`` bounds how many of the surely selected features are expected to be false.
    ``margins`` says by how much held-out rows stretched and shifted them, if they did; ``weighed``
    whether features were weighed against each other, since only few columns say anything.
    """

    positive: str | None
    intercept: float
    features: list[Feature]
    history: list[dict[str, Any]]
    false_selections: list[dict[str, Any]]
    margins: dict[str, float] | None = None
    weighed: bool = False


@dataclass(frozen=True)
class Description:
    """A fitted model. With two classes, or none, there is one selection, otherwise one for each."""

    method: str
    parameters: dict[str, Any]
    classes: list[str]  # none where labels are numbers
    width: int
    kept: int  # features with a weight, for whichever class
    passes: int
    provenance: dict[str, Any]
    selections: list[Selection]
    size_choice: dict[str, Any] | None = None  # of methods that can choose how many features
    steps: str | None = None  # that they were longer than usual, and why
    value_power: float = 1.0  # that values are raised to, before anything else
    rows_normalized: bool = False  # to unit length, before they meet the weights
    computation: str = ""  # of a prediction, from weights and intercept
    probability: str | None = None  # what it means; None where the method has none

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON knows it."""
        return asdict(self)


def describe(model: Any) -> Description:
    """Return what there is to say about a fitted model."""
    weights, intercepts = model._settled()
    return Description(
        method=type(model).__name__,
        parameters={name: _plain(value) for name, value in model.get_params(deep=False).items()},
        classes=[str(label) for label in getattr(model, "classes_", ())],
        width=int(model.n_features_in_),
        kept=int((weights != 0).any(axis=0).sum()),
        passes=int(model.n_iter_),
        size_choice=_plain(choice_tree(model)),
        steps=steps_words(model),
        value_power=model._power,
        rows_normalized=model._model.vocabulary.normalize,
        computation=computation(model),
        probability=meaning_of_probabilities(model._model).get("selection_probability"),
        provenance={name: _plain(value) for name, value in _provenance(model).items()},
        selections=[
            _selection(model, problem, row, float(intercept))
            for problem, (row, intercept) in enumerate(zip(weights, intercepts, strict=True))
        ],
    )


def _selection(model: Any, problem: int, weights: np.ndarray, intercept: float) -> Selection:
    """Return what one problem selected."""
    vocabulary, state = model._model.vocabulary, model._model.problems[problem].state
    known = model._model.probabilities(model._model.problems[problem])
    used = np.flatnonzero(weights)
    columns = vocabulary["columns"][used]
    rank = np.lexsort((columns, -model._strengths(weights)[used]))
    used, columns = used[rank], columns[rank]
    parts = zip(
        names_of(model, columns),
        weights[used].tolist(),
        [None] * used.size if known is None else known[used].tolist(),
        vocabulary["occurrences"][used].tolist(),
        strict=True,
    )
    positive = model._positive(problem)
    words = None if positive is None else str(positive)
    history = [_plain(record) for record in getattr(state, "history", [])]
    bounds = false_selections(model._model, model._model.problems[problem], weights)
    line = line_of(model, problem)
    margins = None if line is None else line._asdict()
    features = [Feature(*part) for part in parts]
    weighed = is_weighed(state)
    return Selection(words, intercept, features, history, bounds, margins, weighed)


def _provenance(model: Any) -> dict[str, Any]:
    """Return where a model comes from: what its file says, or what a file would say."""
    return getattr(model, "provenance_", None) or provenance(model)


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it, in words where it does not."""
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
