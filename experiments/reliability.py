"""Predicted probabilities against measured shares: tables and a picture; measures nothing."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from experiments.figures import FIXED

EDGES = np.array([0.0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98, 1.0])

GROUP_EDGES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


class Pairs(NamedTuple):
    """What was predicted of a fit's features, and the share of refits that selected them."""

    title: str
    size: int
    predicted: np.ndarray
    share: np.ndarray


class Bin(NamedTuple):
    """Features whose predicted probabilities are about the same."""

    low: float
    high: float
    features: int
    predicted: float
    measured: float


def bins(pairs: list[Pairs]) -> list[Bin]:
    """Return all features sorted into bins of predicted probability."""
    predicted = np.concatenate([one.predicted for one in pairs])
    share = np.concatenate([one.share for one in pairs])
    places = np.clip(np.searchsorted(EDGES, predicted, side="right") - 1, 0, EDGES.size - 2)
    found = []
    for place in np.unique(places):
        here = places == place
        edges = float(EDGES[place]), float(EDGES[place + 1])
        means = float(predicted[here].mean()), float(share[here].mean())
        found.append(Bin(*edges, int(here.sum()), *means))
    return found


def table_of_bins(pairs: Mapping[str, list[Pairs]]) -> str:
    """Return the reliability as a table of text, with columns for each kind of data."""
    names = "".join(f" {kind}: features | predicted | refits |" for kind in pairs)
    lines = [f"| probability |{names}", "|---" * (1 + 3 * len(pairs)) + "|"]
    by_kind = [{one.low: one for one in bins(some)} for some in pairs.values()]
    for low, high in pairwise(EDGES.tolist()):
        cells = [_cells(found.get(low)) for found in by_kind]
        lines.append(f"| {low:.2f}-{high:.2f} |{''.join(cells)}")
    return "\n".join(lines)


def _cells(one: Bin | None) -> str:
    if one is None:
        return " | | |"
    return f" {one.features:,} | {one.predicted:.3f} | {one.measured:.3f} |"


def table_of_fits(pairs: list[Pairs]) -> str:
    """Return, fit by fit, what was promised of the strongest features and what came."""
    lines = ["| set, size | predicted of the selected | measured | mean error of a feature |"]
    lines.append("|---|---|---|---|")
    for one in pairs:
        first = np.argsort(-one.predicted, kind="stable")[: one.size]
        promised, came = one.predicted[first], one.share[first]
        error = np.abs(promised - came).mean()
        lines.append(f"| {one.title} | {promised.mean():.2f} | {came.mean():.2f} | {error:.2f} |")
    return "\n".join(lines)


def table_of_groups(groups: list[tuple[float, float]]) -> str:
    """Return what was told of groups of features, and how often refits selected a member."""
    told, came = np.array(groups).reshape(-1, 2).T
    lines = ["| probability of the group | groups | mean told | refits |", "|---|---|---|---|"]
    for low, high in pairwise(GROUP_EDGES):
        here = (told >= low) & ((told < high) | (high == 1))
        if here.any():
            means = f"{told[here].mean():.2f} | {came[here].mean():.2f}"
            lines.append(f"| {low:.2f}-{high:.2f} | {here.sum()} | {means} |")
    return "\n".join(lines)


def draw(pairs: Mapping[str, list[Pairs]], path: Path) -> Path:
    """Draw what was measured over what was predicted, a line for each kind of data."""
    figure = Figure(figsize=(4.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for kind, some in pairs.items():
        found = bins(some) if some else []
        axes.plot([b.predicted for b in found], [b.measured for b in found], "o-", label=kind)
    axes.legend(frameon=False)
    axes.set(
        xlabel="selection probability, constants from the other sets",
        ylabel="share of refits on halves that selected",
        xlim=(-0.03, 1.08),
        ylim=(-0.03, 1.03),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(FIXED):
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    return path
