"""How a learner declares what a user may set: estimators and the command line are made of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from thresher.validation import Constraint


@dataclass(frozen=True)
class Parameter:
    """A parameter: its default, what it may be, its type in words, and one line of what it does."""

    name: str
    default: Any
    allowed: tuple[Constraint, ...]
    kind: str
    doc: str


Parameters = tuple[Parameter, ...]


def with_defaults(parameters: Parameters, **defaults: Any) -> Parameters:
    """Return the parameters, some with other defaults."""
    return tuple(
        Parameter(p.name, defaults.get(p.name, p.default), p.allowed, p.kind, p.doc)
        for p in parameters
    )


def defaults_of(parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return the default of each parameter, by name."""
    return {parameter.name: parameter.default for parameter in parameters}
