"""Variants beside the default, read from stored cells only."""

import math
from typing import NamedTuple

import numpy as np

from experiments.ablation.measuring import PLANTED, SETS
from experiments.ablation.variants import DEFAULT
from experiments.claim.standing import geometric_mean, mean
from experiments.overlaps import square
from experiments.registry import named
from experiments.store import Store
from thresher.stability import kappa_from_overlaps

TEXT = ("dexter", "reuters_moneyfx", "farm_ads", "rcv1-sample")
REAL = tuple(name for name in SETS if name != PLANTED)


class Summary(NamedTuple):
    """A variant in a few numbers; nan where nothing was measured."""

    ratio: float  # error over the default's, all sets
    text_ratio: float
    kappa: float  # over seeds
    halves: float
    found: list[float]
    planted_error: float


def summarize(store: Store, name: str) -> Summary:
    """Return a variant's numbers."""
    cells = {dataset: store.read((dataset, name)) for dataset in SETS}
    real = {dataset: cell for dataset, cell in cells.items() if cell and dataset != PLANTED}
    ratios = {dataset: _ratio(store, dataset, cell) for dataset, cell in real.items()}
    kappas = [
        _kappa(point["overlaps"], dataset)
        for dataset, cell in real.items()
        for point in cell["points"]
    ]
    planted = cells[PLANTED]["found"] if cells[PLANTED] else []
    return Summary(
        geometric_mean(ratios.values()),
        geometric_mean(ratios[dataset] for dataset in TEXT if dataset in ratios),
        mean(kappas),
        mean(_kappa(cell["halves"], dataset) for dataset, cell in real.items()),
        np.mean([each["bands"] for each in planted], axis=0).round(1).tolist() if planted else [],
        mean(each["error"] for each in planted),
    )


def error(cell: dict) -> float:
    """Return the geometric mean over sizes and re-splits of a cell's error in percent."""
    return geometric_mean(
        100 * max(float(np.mean(point["missed"])), 0.5) / point["rows"] for point in cell["points"]
    )


def _ratio(store: Store, dataset: str, cell: dict) -> float:
    default = store.read((dataset, DEFAULT))
    return error(cell) / error(default) if default else math.nan


def _kappa(overlaps: list[int], dataset: str) -> float:
    return kappa_from_overlaps(square(overlaps), named(dataset).columns)
