"""The page's pictures, drawn from stored cells."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.claim import standing
from experiments.claim.rivals import OURS, RIVALS
from experiments.claim.tables import OTHERS, SETS
from experiments.figures import legend_below, saved
from experiments.registry import named
from experiments.store import Store

FAR_BEHIND = [name for name, rival in RIVALS.items() if rival.far_behind]


def draw(store: Store, folder: Path) -> list[Path]:
    """Draw all pictures; return their files."""
    pictures = {"errors": errors(store), "ratios": ratios(store)}
    return [saved(figure, folder / f"{name}.svg") for name, figure in pictures.items()]


def errors(store: Store) -> Figure:
    """Draw error against size, a panel for each set; those far behind would flatten the rest."""
    figure = Figure(figsize=(13, 6.4), layout="constrained")
    panels = [figure.add_subplot(2, 4, place + 1) for place in range(len(SETS))]
    for axes, dataset in zip(panels, SETS, strict=True):
        for place, name in enumerate(RIVALS):
            points = standing.points(store, dataset, name).values()
            seen = [(point.size, point.error) for point in points if point.reached]
            if seen and name not in FAR_BEHIND:
                style = (
                    {"lw": 2.2, "color": "k"} if name == OURS else {"lw": 1, "color": f"C{place}"}
                )
                axes.plot(
                    *zip(*seen, strict=True), marker="o", ms=3, label=RIVALS[name].title, **style
                )
        axes.set(title=named(dataset).title, xscale="log", xlabel="features")
    for axes in panels[::4]:
        axes.set_ylabel("test error, %")
    legend_below(figure, panels[0])
    return figure


def ratios(store: Store) -> Figure:
    """Draw every cell's error ratio, a row for each rival, with the geometric mean."""
    figure = Figure(figsize=(8, 3.8), layout="constrained")
    axes = figure.add_subplot()
    for place, rival in enumerate(reversed(OTHERS)):
        values = [duel.ratio for duel in standing.duels(store, rival)]
        _draw_row(axes, place, values)
    axes.axvline(1.0, color="0.5", lw=0.8)
    axes.set(
        xscale="log", xlabel="our error / theirs, each cell; bar: geometric mean", xlim=(0.15, 3)
    )
    axes.set_yticks(range(len(OTHERS)), [RIVALS[name].title for name in reversed(OTHERS)])
    axes.set_xticks([0.2, 0.5, 0.8, 1, 1.25, 2], ["0.2", "0.5", "0.8", "1", "1.25", "2"])
    axes.xaxis.minorticks_off()
    return figure


def _draw_row(axes: Axes, place: int, values: list[float]) -> None:
    lift = np.linspace(-0.25, 0.25, max(len(values), 1))  # so that equal cells can be told apart
    axes.scatter(values, place + lift[: len(values)], s=12, alpha=0.6, color="C0")
    if values:
        centre = standing.geometric_mean(values)
        axes.vlines(centre, place - 0.38, place + 0.38, color="C3", lw=2)
