"""The figures, drawn from records; nothing is measured here."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from experiments.data import named
from experiments.records import Key, Record
from experiments.reproduce import traces
from experiments.reproduce.methods import LOSS_TITLES, LOSSES, METHODS

# The same file for the same results: no date, no random names.
FIXED: dict[Any, Any] = {"svg.hashsalt": "thresher", "svg.fonttype": "none", "font.size": 9}
CAPTIONS = {
    "1": "Figure 1: nonzero weights over the last 1,000 updates on Dexter",
    "2": "Figure 2: the annealing function",
    "3": "Figure 3: share of features selected at each level of density",
}


def saved(figure: Figure, path: Path) -> Path:
    """Write a figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(FIXED):
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    return path


def _canvas(columns: int = 1) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(5.2 * columns, 3.6), layout="constrained")
    return figure, [figure.add_subplot(1, columns, place + 1) for place in range(columns)]


def _style(name: str) -> dict[str, Any]:
    """Return a method's colour and line, the same in every figure."""
    line = "-" if METHODS[name].make.startswith("thresher") else "--"
    return {
        "color": f"C{list(METHODS).index(name)}",
        "linestyle": line,
        "label": METHODS[name].title,
    }


def _legend_below(figure: Figure, axes: Axes) -> None:
    lines = axes.get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=3, fontsize=8)


def figure_1(curves: Mapping[str, Any]) -> Figure:
    """Draw the share of nonzero weights over the last updates."""
    figure, both = _canvas(2)
    for axes, scaling in zip(both, traces.SCALINGS_1, strict=True):
        for method in traces.METHODS_1:
            curve = curves[f"{method}/{scaling}"]
            drawn = "default" if method == "truncated-gradient" else "steps-post"
            style = {"drawstyle": drawn, "lw": 1, **_style(method)}
            axes.plot(curve["updates"], curve["percents"], **style)
        axes.set(xlabel="updates before the end", ylabel="nonzero weights, %", yscale="log")
        axes.set_title(f"{named(traces.HOME_1).title}, {scaling}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
    _legend_below(figure, both[1])
    return figure


def figure_2(curves: Mapping[str, Any]) -> Figure:
    """Draw the annealing function."""
    figure, (axes,) = _canvas()
    for rate in curves:
        if rate != "shares":
            axes.plot(curves["shares"], curves[rate], label=f"annealing rate {float(rate):g}")
    axes.set(xlabel="share of stable features d", ylabel="rejection rate", xlim=(1, 0))
    axes.legend()
    return figure


def figure_3(curves: Mapping[str, Any]) -> Figure:
    """Draw the share of features selected at each level of density."""
    figure, both = _canvas(2)
    areas = [400 * count / sum(curves["features"]) for count in curves["features"]]
    for axes, loss in zip(both, LOSSES, strict=True):
        for method in traces.METHODS_3:
            style, shares = _style(method), curves[f"{method}/{loss}"]
            axes.plot(curves["density"], shares, lw=0.7, **style)
            axes.scatter(curves["density"], shares, s=areas, color=style["color"], alpha=0.6)
        axes.set(xscale="log", xlabel="density of a feature, %", ylabel="share selected")
        axes.set_title(f"{named(traces.HOME_3).title}, {LOSS_TITLES[loss].lower()}")
    _legend_below(figure, both[0])
    return figure


def figure_matched(name: str, found: Mapping[Key, Record]) -> Figure:
    """Draw error and stability against the number of features, a line for each method."""
    figure, (left, right) = _canvas(2)
    for method in METHODS:
        one = found.get((name, method), {"sizes": [], "points": []})
        pairs = [(k, p) for k, p in zip(one["sizes"], one["points"], strict=True) if p]
        if not pairs:
            continue
        sizes = [size for size, _ in pairs]
        means = [sum(point["errors"]) / len(point["errors"]) for _, point in pairs]
        left.plot(sizes, means, marker="o", ms=3, **_style(method))
        right.plot(sizes, [p["kappa"] for _, p in pairs], marker="o", ms=3, **_style(method))
    left.set(yscale="log", ylabel="test error, %")
    left.yaxis.set_major_formatter("{x:g}")
    left.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.5)))
    right.set(ylabel="Cohen's kappa")
    for axes in (left, right):
        axes.set(xscale="log", xlabel="features", title=named(name).title)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    _legend_below(figure, left)
    return figure


DRAW: dict[str, Callable[[Mapping[str, Any]], Figure]] = {
    "1": figure_1,
    "2": figure_2,
    "3": figure_3,
}


def draw_all(
    curves: Mapping[Key, Record],
    matched: Mapping[Key, Record],
    sets: Sequence[str],
    folder: Path,
) -> list[tuple[str, Path]]:
    """Draw every figure that can be drawn; return captions and files."""
    drawn = [
        (caption, saved(DRAW[name](curves[name,]["curves"]), folder / f"figure-{name}.svg"))
        for name, caption in CAPTIONS.items()
        if (name,) in curves
    ]
    for name in sets:
        if any(key[0] == name for key in matched):
            path = saved(figure_matched(name, matched), folder / f"matched-{name}.svg")
            drawn.append((f"The same numbers of features: {named(name).title}", path))
    return drawn
