"""The paper's own numbers, to stand beside ours."""

import tomllib
from pathlib import Path
from typing import NamedTuple

_TABLES = tomllib.loads((Path(__file__).parent / "paper.toml").read_text(encoding="utf-8"))

# Our stand-ins are compared with the full sets' printed numbers, and named so in every table.
STANDS_FOR = {"rcv1-sample": "rcv1", "gisette-mini": "gisette"}

_KAPPA_METHODS = ("truncated-gradient", "stabilized-paper")


class Printed(NamedTuple):
    """A printed mean and, where there is one, its standard deviation."""

    mean: float
    deviation: float | None = None


class PrintedSize(NamedTuple):
    """A row of Table 1."""

    columns: int
    density: float
    train: int
    test: int


def size(dataset: str) -> PrintedSize | None:
    """Return a set's row of Table 1, None for a set that is not in the paper."""
    row = _TABLES["table1"].get(STANDS_FOR.get(dataset, dataset))
    return PrintedSize(*row) if row else None


def printed(measure: str, dataset: str, method: str, loss: str) -> Printed | None:
    """Return the printed ``error`` (Table 2), ``percent`` (3) or ``kappa`` (4) of a method."""
    table = _TABLES[{"error": "table2", "percent": "table3", "kappa": "table4"}[measure]]
    row = table[loss].get(STANDS_FOR.get(dataset, dataset))
    methods = _KAPPA_METHODS if measure == "kappa" else tuple(_TABLES["methods"])
    if row is None or method not in methods:
        return None
    cell = row[methods.index(method)]
    return Printed(cell) if measure == "kappa" else Printed(*cell)
