"""The methods of the study: how each is built, what it may choose from, how it gets sparser."""

import importlib
import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.errors import StudyError
from experiments.registry import DataSet

LOSSES = ("hinge", "log_loss")
LOSS_TITLES = {"hinge": "Hinge loss", "log_loss": "Logistic loss"}

# The second reading of the paper's scaling has the paper's values too.
SAME_GRID = {"nonzero-rms": "unit-variance"}
BESIDE_PASSES = 20  # of a slow method on a scaling that is beside the point

Params = dict[str, Any]


@dataclass(frozen=True)
class Knob:
    """The parameter that makes a method's models sparser, from its dense to its sparse end."""

    name: str
    dense: float
    sparse: float
    scale: str = "log"


@dataclass(frozen=True, eq=False)
class Method:
    """A method: where it is found, its fixed parameters, and its values by scaling.

    Nobody makes more than ``most_updates``. A slow method chooses on at most ``choice_rows`` rows
    and has fewer permutations off the paper's scaling. The paces, seconds for a million
    nonzeros and for a row, each in a pass, serve the time left.
    """

    name: str
    title: str
    make: str
    grids: Mapping[str, Mapping[str, list[Any]]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    losses: tuple[str, ...] = LOSSES
    knob: Knob | None = None
    in_paper: bool = False
    oracle: bool = False
    choice_rows: int | None = None
    most_updates: int = 400_000
    pace: float = 0.01
    row_pace: float = 0.0

    def settings(self, scaling: str, facts: DataSet) -> list[Params]:
        """Return every combination of the values allowed on a scaled set."""
        grid = dict(self.grids[SAME_GRID.get(scaling, scaling)])
        if "max_iter" in grid:
            most = max(1, self.most_updates // facts.train_rows)
            if self.choice_rows is not None and scaling in SAME_GRID:
                most = min(most, BESIDE_PASSES)
            grid["max_iter"] = [n for n in grid["max_iter"] if n <= most] or [most]
        if "n_features_to_select" in grid:
            wanted = grid["n_features_to_select"]
            grid["n_features_to_select"] = [n for n in wanted if n <= facts.columns]
        combined = itertools.product(*grid.values())
        return [dict(zip(grid, values, strict=True)) for values in combined]

    def seconds(self, facts: DataSet, fits: int, passes: float) -> float:
        """Return about how long some fits take."""
        each = self.pace * facts.millions + self.row_pace * facts.train_rows
        return fits * (0.01 + each * passes)

    def build(self, loss: str, seed: int, params: Params) -> Any:
        """Return an unfitted estimator."""
        made = _found(self.make)(loss=loss)
        chosen = {**self.fixed, **params, "random_state": seed}
        known = made.get_params()
        if "max_iter" in params and "tol" in known:
            # A chosen number of passes is meant: nothing ends a run before.
            chosen["tol"] = None
        return made.set_params(**chosen)


def _found(address: str) -> Any:
    """Import what an address ``module:name`` or ``module:class.method`` names."""
    module, path = address.split(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _method(name: str, facts: dict[str, Any]) -> Method:
    grids = {scaling: facts.pop(scaling) for scaling in ("unit-variance", "row-l2")}
    if "knob" in facts:
        facts["knob"] = Knob(**facts["knob"])
    if "losses" in facts:
        facts["losses"] = tuple(facts["losses"])
    return Method(name, grids=grids, **facts)


def _read() -> dict[str, Method]:
    text = (Path(__file__).parent / "methods.toml").read_text(encoding="utf-8")
    return {name: _method(name, facts) for name, facts in tomllib.loads(text).items()}


METHODS = _read()


def method(name: str) -> Method:
    """Return the method of that name, or say which names there are."""
    if name not in METHODS:
        raise StudyError(f"there is no method {name!r}; known are: {', '.join(METHODS)}")
    return METHODS[name]
