"""The numbers that the paper prints, to stand beside ours."""

import tomllib
from pathlib import Path
from typing import NamedTuple

_TABLES = tomllib.loads((Path(__file__).parent / "paper.toml").read_text(encoding="utf-8"))

# Sets that stand in for the paper's, whose numbers they are compared with.
STANDS_FOR = {"rcv1-sample": "rcv1", "gisette-mini": "gisette"}
TITLES = {"rcv1": "RCV1", "gisette": "Gisette"}

_KAPPA_METHODS = ("truncated-gradient", "stabilized-paper")
_TABLE_OF = {"error": "table2", "percent": "table3", "kappa": "table4"}


class Printed(NamedTuple):
    """A printed mean, and its standard deviation if there is one."""

    mean: float
    deviation: float = float("nan")


class PrintedSize(NamedTuple):
    """A row of Table 1."""

    columns: int
    density: float
    train: int
    test: int


def size(name: str) -> PrintedSize | None:
    """Return a set's row of Table 1; None if the set is not in the paper."""
    row = _TABLES["table1"].get(STANDS_FOR.get(name, name))
    return PrintedSize(*row) if row else None


def printed(measure: str, name: str, method: str, loss: str) -> Printed | None:
    """Return the printed ``error`` (Table 2), ``percent`` (3) or ``kappa`` (4) of a method."""
    row = _TABLES[_TABLE_OF[measure]][loss].get(STANDS_FOR.get(name, name))
    methods = _KAPPA_METHODS if measure == "kappa" else tuple(_TABLES["methods"])
    if row is None or method not in methods:
        return None
    cell = row[methods.index(method)]
    return Printed(cell) if measure == "kappa" else Printed(*cell)
