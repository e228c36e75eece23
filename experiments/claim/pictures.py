"""The page's pictures, drawn from stored cells."""

from collections.abc import Sequence
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
    """Draw every cell's error ratio, a row for each rival that is not far behind, and the mean."""
    figure = Figure(figsize=(8.6, 4.2), layout="constrained")
    axes = figure.add_subplot()
    rivals = [name for name in reversed(OTHERS) if name not in FAR_BEHIND]
    for place, rival in enumerate(rivals):
        _draw_row(axes, place, standing.duels(store, rival))
    axes.axvline(1.0, color="0.5", lw=0.8)
    axes.set(xscale="log", xlim=(0.36, 1.28), ylim=(-0.6, len(rivals) - 0.4))
    axes.set_xlabel("our error / theirs, logarithmic scale (left of 1: ours is lower)")
    axes.set_yticks(range(len(rivals)), [RIVALS[name].title for name in rivals])
    ticks = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.minorticks_off()
    legend_below(figure, axes)
    return figure


def _draw_row(axes: Axes, place: int, duels: Sequence[standing.Duel]) -> None:
    """Draw a dot for every cell, in its set's colour, and a mark at their geometric mean."""
    lift = np.linspace(0.28, -0.28, max(len(duels), 1))  # so that equal cells can be told apart
    for number, dataset in enumerate(SETS):
        mine = [at for at, duel in enumerate(duels) if duel.ours.dataset == dataset]
        found, heights = [duels[at].ratio for at in mine], place + lift[mine]
        title = named(dataset).title if place == 0 else ""
        axes.scatter(found, heights, s=14, alpha=0.8, color=f"C{number}", label=title)
    if duels:
        centre = standing.geometric_mean(duel.ratio for duel in duels)
        title = "geometric mean" if place == 0 else ""
        axes.vlines(centre, place - 0.4, place + 0.4, color="k", lw=2, label=title)
