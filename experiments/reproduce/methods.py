"""The methods of the study: how each is built, what it may choose from, how it gets sparser."""

import importlib
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOSSES = ("hinge", "log_loss")
LOSS_TITLES = {"hinge": "Hinge loss", "log_loss": "Logistic loss"}

Params = dict[str, Any]


@dataclass(frozen=True)
class Knob:
    """The parameter that makes a method's models sparser, from its dense to its sparse end."""

    name: str
    dense: float
    sparse: float
    scale: str = "log"

    def at(self, share: float) -> float:
        """Return the value at a share of the way from the dense to the sparse end."""
        if self.scale == "linear":
            return self.dense + share * (self.sparse - self.dense)
        if self.scale == "complement":  # a rate near 1: what it leaves falls geometrically
            return 1 - (1 - self.dense) * ((1 - self.sparse) / (1 - self.dense)) ** share
        return self.dense * (self.sparse / self.dense) ** share


@dataclass(frozen=True, eq=False)
class Method:
    """A method: where it is found, its fixed parameters, and its values by scaling."""

    name: str
    title: str
    make: str
    grids: Mapping[str, Mapping[str, list[Any]]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    losses: tuple[str, ...] = LOSSES
    knob: Knob | None = None
    in_paper: bool = False
    oracle: bool = False

    def settings(self, scaling: str) -> list[Params]:
        """Return every combination of the values allowed on a scaling."""
        return combinations(self.grids["row-l2" if scaling == "row-l2" else "paper"])

    def build(self, loss: str, seed: int, params: Params) -> Any:
        """Return an unfitted estimator."""
        made = _found(self.make)()
        known = made.get_params()
        chosen = {"loss": loss, **self.fixed, **params, "random_state": seed}
        if "max_iter" in params and self.name != "liblinear-l1":
            chosen["tol"] = None  # so many passes, whatever happens
        return made.set_params(**{name: one for name, one in chosen.items() if name in known})


def combinations(grid: Mapping[str, list[Any]]) -> list[Params]:
    """Return every combination of the values in a grid."""
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _found(address: str) -> Any:
    """Import what an address ``module:name`` or ``module:class.method`` names."""
    module, path = address.split(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _method(name: str, facts: dict[str, Any]) -> Method:
    grids = {grid: facts.pop(grid) for grid in ("paper", "row-l2")}
    if "knob" in facts:
        facts["knob"] = Knob(**facts["knob"])
    if "losses" in facts:
        facts["losses"] = tuple(facts["losses"])
    return Method(name, grids=grids, **facts)


def _read() -> dict[str, Method]:
    text = (Path(__file__).parent / "methods.toml").read_text(encoding="utf-8")
    return {name: _method(name, facts) for name, facts in tomllib.loads(text).items()}


METHODS = _read()
