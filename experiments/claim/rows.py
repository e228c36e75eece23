"""The rows of the bar that are not duels, read from stored cells only."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments import paper
from experiments.claim import oracle
from experiments.claim.rivals import DENSE, OURS
from experiments.claim.tasks import KINDS
from experiments.methods import LOSSES
from experiments.registry import named
from experiments.store import Store


def found_by_band(points: Sequence[dict[str, Any]]) -> list[float]:
    """Return how many planted features of each band are found, mean over drawings."""
    return np.mean([point["found"] for point in points], axis=0).round(1).tolist()


def false_share(points: Sequence[dict[str, Any]]) -> float:
    """Return the share of selected features that are not planted, in percent."""
    return 100 * float(np.mean([point["false"] / max(point["size"], 1) for point in points]))


def mean_size(points: Sequence[dict[str, Any]]) -> float:
    """Return the mean number of features."""
    return float(np.mean([point["size"] for point in points]))


class Gap(NamedTuple):
    """The untuned default beside the best dense model: errors, and the share of columns kept."""

    dataset: str
    ours: float
    dense: float
    percent: float

    @property
    def points(self) -> float:
        """By how much the default's error is higher."""
        return self.ours - self.dense


def untuned_gaps(store: Store) -> list[Gap]:
    """Return the gaps of all text sets measured."""
    gaps = []
    for dataset in KINDS["untuned"].sets:
        ours = store.read(("untuned", dataset, OURS))
        dense = store.read(("dense", dataset, DENSE.name))
        if ours and dense:
            percent = 100 * float(np.mean(ours["sizes"])) / named(dataset).columns
            errors = (float(np.mean(cell["errors"])) for cell in (ours, dense))
            gaps.append(Gap(dataset, *errors, percent))
    return gaps


class Stream(NamedTuple):
    """One pass beside ten at the same size."""

    dataset: str
    size: int
    once: float
    ten: float

    @property
    def ratio(self) -> float:
        """The error of one pass over that of ten."""
        return self.once / self.ten


def streams(store: Store) -> list[Stream]:
    """Return all streams measured."""
    found = []
    for dataset in KINDS["stream"].sets:
        cell = store.read(("stream", dataset, OURS))
        for point in cell["points"] if cell else []:
            errors = (float(np.mean(point[passes]["errors"])) for passes in ("once", "ten"))
            found.append(Stream(dataset, point["size"], *errors))
    return found


class Units(NamedTuple):
    """Errors of rows as they were, in mixed units, and by remedy; and whether a warning came."""

    dataset: str
    size: int
    raw: float
    mixed: float
    mended: dict[str, float]
    warned: bool


def unit_cases(store: Store) -> list[Units]:
    """Return all sets measured in mixed units."""
    found = []
    for dataset in KINDS["units"].sets:
        cell = store.read(("units", dataset, OURS))
        if cell:
            raw, mixed = (float(np.mean(cell[name]["errors"])) for name in ("raw", "mixed"))
            mended = {name: float(np.mean(each["errors"])) for name, each in cell["mended"].items()}
            warned = bool(cell["mixed"]["warnings"])
            found.append(Units(dataset, cell["size"], raw, mixed, mended, warned))
    return found


class Meeting(NamedTuple):
    """Our oracles beside the paper's: errors and shares of nonzero weights, in percent.

    One chooses among models that fits end with, the other among all on the way there.
    """

    dataset: str
    loss: str
    end_error: float
    error: float
    printed_error: float
    end_percent: float
    percent: float
    printed_percent: float


def oracle_meetings(store: Store) -> list[Meeting]:
    """Return our oracles' results beside the paper's."""
    found = []
    for dataset in KINDS["oracle"].sets:
        cell = store.read(("oracle", dataset, OURS))
        for loss in LOSSES if cell else ():
            ends, ways = (oracle.chosen(cell[loss], which) for which in ("end", "way"))
            theirs = [
                paper.printed(what, dataset, "stabilized-paper", loss).mean
                for what in ("error", "percent")
            ]
            errors, percents = zip(ends, ways, theirs, strict=True)
            found.append(Meeting(dataset, loss, *errors, *percents))
    return found
