"""A line's permutations in a few numbers, read from stored cells only."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.lines import Line
from experiments.overlaps import square
from experiments.store import Store
from thresher.stability import Stability, kappa_from_overlaps, stability_from_overlaps


class Moments(NamedTuple):
    """Mean and standard deviation; the deviation of a single value is nan."""

    mean: float
    deviation: float


class Summary(NamedTuple):
    """What the tables show of a line."""

    permutations: int
    error: Moments
    percent: Moments
    seconds: float
    kappa: float
    stability: Stability


def moments(values: Sequence[float]) -> Moments:
    """Return the mean and the standard deviation (n - 1) of some values."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    return Moments(float(np.mean(values)), spread)


def summarize(store: Store, line: Line, columns: int, protocol: str = "final") -> Summary | None:
    """Summarize the permutations of a line, None when they are not all made for its choice."""
    cell, choice = store.read((protocol, *line)), store.read(("choice", *line))
    if cell is None or choice is None or cell["params"] != choice["params"]:
        return None
    kappa, stability = _agreement(cell, columns)
    return Summary(
        len(cell["seeds"]),
        moments(cell["error"]),
        moments(cell["percent"]),
        float(np.mean(cell.get("seconds", np.nan))),
        kappa,
        stability,
    )


def _agreement(cell: dict[str, Any], columns: int) -> tuple[float, Stability]:
    """Return kappa and stability; nan without two sets to compare, as the oracle's are not kept."""
    if "overlaps" not in cell or len(cell["seeds"]) == 1:
        return float("nan"), Stability(*[float("nan")] * 4)
    overlaps = square(cell["overlaps"])
    return kappa_from_overlaps(overlaps, columns), stability_from_overlaps(overlaps, columns)
