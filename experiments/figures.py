"""The figures, drawn from stored results; nothing is measured here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from experiments.methods import LOSS_TITLES, METHODS
from experiments.registry import named
from experiments.store import Store

# The same file for the same results: no date, no random names.
FIXED: dict[Any, Any] = {"svg.hashsalt": "thresher", "svg.fonttype": "none", "font.size": 9}


def saved(figure: Figure, path: Path) -> Path:
    """Write a figure, the same bytes for the same results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(FIXED):
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    return path


def _canvas(columns: int = 1) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(5.2 * columns, 3.6), layout="constrained")
    return figure, [figure.add_subplot(1, columns, place + 1) for place in range(columns)]


def _style(name: str) -> dict[str, Any]:
    """Return a method's colour and line: the same in every figure."""
    place = list(METHODS).index(name)
    line = "-" if METHODS[name].make.startswith("thresher") else "--"
    return {"color": f"C{place}", "linestyle": line, "label": METHODS[name].title}


def legend_below(figure: Figure, axes: Axes) -> None:
    """Name the lines below all panels: inside them lines cross everywhere."""
    lines = axes.get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=3, fontsize=8)


def figure_1(trace: dict[str, Any]) -> Figure:
    """Draw the share of nonzero weights over the last updates, on both scalings."""
    figure, both = _canvas(2)
    home = named(trace["dataset"]).title
    for axes, scaling in zip(both, ("unit-variance", "row-l2"), strict=True):
        for key, curve in trace["curves"].items():
            name, its_scaling = key.split("/")
            if its_scaling == scaling:
                drawn = "steps-post" if len(curve["updates"]) < 500 else "default"
                style = {"drawstyle": drawn, "lw": 1, **_style(name)}
                axes.plot(curve["updates"], curve["percents"], **style)
        axes.set(xlabel="updates before the end", title=f"{home}, {scaling}")
        axes.set(ylabel="nonzero weights, %", yscale="log")
        axes.yaxis.set_major_formatter("{x:g}")
    legend_below(figure, both[1])
    return figure


def figure_2(trace: dict[str, Any]) -> Figure:
    """Draw the annealing function."""
    figure, (axes,) = _canvas()
    for gamma, rates in trace["rates"].items():
        axes.plot(trace["shares"], rates, label=f"annealing rate {float(gamma):g}")
    axes.set(xlabel="share of stable features d", ylabel="rejection rate", xlim=(1, 0))
    axes.legend()
    return figure


def figure_3(trace: dict[str, Any]) -> Figure:
    """Draw the share of features selected at each level of density."""
    figure, both = _canvas(2)
    total = sum(trace["features"]) or 1
    sizes = [400 * count / total for count in trace["features"]]
    for axes, loss in zip(both, ("hinge", "log_loss"), strict=True):
        for key, shares in trace["curves"].items():
            name, its_loss = key.split("/")
            if its_loss == loss:
                style = _style(name)
                axes.plot(trace["density"], shares, lw=0.7, **style)
                axes.scatter(trace["density"], shares, s=sizes, color=style["color"], alpha=0.6)
        title = f"{named(trace['dataset']).title}, {LOSS_TITLES[loss].lower()}"
        axes.set(xscale="log", xlabel="density of a feature, %", title=title)
        axes.set_ylabel("share selected")
    legend_below(figure, both[0])
    return figure


def figure_regret(trace: dict[str, Any]) -> Figure:
    """Draw cumulative regret beside the square root of the number of rows."""
    figure, (axes,) = _canvas()
    rows = trace["rows"]
    for name, regret in trace["curves"].items():
        axes.plot(rows, [value if value > 0 else float("nan") for value in regret], **_style(name))
    level = max(1e-3, max(max(curve) for curve in trace["curves"].values()) / rows[-1] ** 0.5)
    root = [level * row**0.5 for row in rows]
    axes.plot(rows, root, color="0.6", linestyle=":", label="proportional to √T")
    title = f"{named(trace['dataset']).title}, one pass, logistic loss"
    axes.set(xscale="log", yscale="log", xlabel="rows T", ylabel="cumulative regret", title=title)
    legend_below(figure, axes)
    return figure


def figure_matched(store: Store, name: str, scaling: str, loss: str) -> Figure | None:
    """Draw error and stability against the number of features, one line per method."""
    figure, (left, right) = _canvas(2)
    sizes: set[int] = set()
    for method in METHODS:
        cell = store.read(("matched", name, scaling, method, loss))
        points = [] if cell is None else cell["targets"]
        for axes, measure in ((left, "error"), (right, "kappa")):
            seen = [(p["features"], p[measure]) for p in points if p[measure] is not None]
            if seen:
                axes.plot(*zip(*seen, strict=True), marker="o", ms=3, **_style(method))
                sizes.update(size for size, _ in seen)
    if not sizes:
        return None
    title = f"{named(name).title}, {LOSS_TITLES[loss].lower()}"
    left.set(yscale="log", ylabel="test error, %", title=title)
    left.yaxis.set_major_formatter("{x:g}")
    left.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.5)))
    right.set(ylabel="Cohen's kappa", title=title)
    for axes in (left, right):
        axes.set(xscale="log", xlabel="features", xticks=sorted(sizes), xticklabels=sorted(sizes))
        axes.xaxis.minorticks_off()
    legend_below(figure, left)
    return figure


DRAW: dict[str, Callable[[dict[str, Any]], Figure]] = {
    "figure-1": figure_1,
    "figure-2": figure_2,
    "figure-3": figure_3,
    "regret": figure_regret,
}


def draw(store: Store, name: str, folder: Path) -> Path | None:
    """Draw a trace's figure into a folder, None when it has not been taken."""
    trace = store.read(("trace", name))
    return None if trace is None else saved(DRAW[name](trace), folder / f"{name}.svg")


def draw_matched(store: Store, name: str, scaling: str, loss: str, folder: Path) -> Path | None:
    """Draw a set's figure at matched sparsity, None when nothing was measured."""
    figure = figure_matched(store, name, scaling, loss)
    return None if figure is None else saved(figure, folder / f"matched-{name}.svg")
