"""The figures, drawn from records; nothing is measured here."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from experiments.data import named
from experiments.records import Key, Record
from experiments.reproduce import theory, traces
from experiments.reproduce.methods import LOSS_TITLES, LOSSES, METHODS

# The same file for the same results: no date, no random names.
FIXED: dict[Any, Any] = {"svg.hashsalt": "thresher", "svg.fonttype": "none", "font.size": 9}
CAPTIONS = {
    "1": "Figure 1: nonzero weights over the last 1,000 updates on Dexter",
    "2": "Figure 2: the annealing function",
    "3": "Figure 3: share of features selected at each level of density",
    "3b": "The same on Dexter, with the scaling of the authors' code",
}
LEMMA_2 = "Lemma 2: truncation by Algorithms 1 and 2"
REGRET = "Theorem 1 and Corollary 1: regret with eta = 1 / sqrt(T)"


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
            axes.plot(curve["updates"], curve["percents"], lw=1, **_style(method))
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


def figure_3(curves: Mapping[str, Any], home: str) -> Figure:
    """Draw the share of features selected at each level of density."""
    figure, both = _canvas(2)
    areas = [400 * count / sum(curves["features"]) for count in curves["features"]]
    for axes, loss in zip(both, LOSSES, strict=True):
        for method in traces.METHODS_1:
            style, shares = _style(method), curves.get(f"{method}/{loss}")
            if not shares:
                continue
            axes.plot(curves["density"], shares, lw=0.7, **style)
            axes.scatter(curves["density"], shares, s=areas, color=style["color"], alpha=0.6)
        axes.set(xscale="log", xlabel="density of a feature, %", ylabel="share selected")
        axes.set_title(f"{named(home).title}, {LOSS_TITLES[loss].lower()}")
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


def figure_lemma_2(one: Record) -> Figure:
    """Draw how much a burst shrinks features, and how much nearer to w* Algorithm 2 comes."""
    figure, (left, right) = _canvas(2)
    half = len(theory.DENSITIES)
    for place, name in enumerate(("first", "second")):
        for side, words in ((slice(half), "with an effect"), (slice(half, None), "without")):
            style = {"color": f"C{place}", "marker": "o", "ms": 3}
            style["linestyle"] = "-" if side.start is None else "--"
            label = f"Algorithm {place + 1}, {words}"
            left.plot(theory.DENSITIES, one[name][side], label=label, **style)
    right.plot(theory.DENSITIES, one["gain"][:half], "C2-o", ms=3, label="with an effect")
    right.plot(theory.DENSITIES, one["gain"][half:], "C2--o", ms=3, label="without")
    right.plot(theory.DENSITIES, one["bound"][:half], "k:", label="printed as its lower bound")
    right.axhline(0, color="0.7", lw=0.7, zorder=0)
    left.set(title="expected truncation in a burst", ylabel="share of the weight", ylim=(0, 1.05))
    right.set(title="how much nearer to w* Algorithm 2 is", ylabel="squared distance")
    for axes in (left, right):
        axes.set(xscale="log", xlabel="share of rows in which the feature occurs")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.legend(fontsize=8)
    return figure


def figure_regret(found: Mapping[Key, Record]) -> Figure:
    """Draw measured regret beside Theorem 1's bound, over the number of updates."""
    figure, both = _canvas(2)
    for axes, name in zip(both, theory.REGRET_SETS, strict=True):
        for place, algorithm in enumerate(theory.PENALTIES):
            runs = found["regret", name, algorithm]["runs"]
            style = {"color": f"C{place}", "ms": 3}
            what = theory.ALGORITHMS[algorithm]
            axes.plot(theory.UPDATES, [r["regret"] for r in runs], "-o", label=what, **style)
            if algorithm != "4":
                axes.plot(theory.UPDATES, [r["bound"] for r in runs], ":", **style)
        roots = 3 * np.sqrt(theory.UPDATES)
        axes.plot(theory.UPDATES, roots, "0.6", lw=0.7, label="a multiple of the root of T")
        axes.plot([], [], "k:", label="bound, without purging")
        axes.set(xscale="log", yscale="log", xlabel="updates T", ylabel="regret")
        axes.set_title(named(name).title)
    _legend_below(figure, both[0])
    return figure


DRAW: dict[str, Callable[[Mapping[str, Any]], Figure]] = {
    "1": figure_1,
    "2": figure_2,
    **{name: partial(figure_3, home=home) for name, (home, _) in traces.HOMES_3.items()},
}


def draw_all(
    curves: Mapping[Key, Record],
    matched: Mapping[Key, Record],
    proved: Mapping[Key, Record],
    sets: Sequence[str],
    folder: Path,
) -> list[tuple[str, Path]]:
    """Draw every figure that can be drawn; return captions and files."""
    drawn = [
        (caption, saved(DRAW[name](curves[name,]["curves"]), folder / f"figure-{name}.svg"))
        for name, caption in CAPTIONS.items()
        if (name,) in curves
    ]
    if len(proved) == len(theory.TASKS):
        burst = proved[tuple(theory.TASKS[0].values())]
        drawn.append((LEMMA_2, saved(figure_lemma_2(burst), folder / "lemma-2.svg")))
        drawn.append((REGRET, saved(figure_regret(proved), folder / "regret.svg")))
    for name in sets:
        if any(key[0] == name for key in matched):
            path = saved(figure_matched(name, matched), folder / f"matched-{name}.svg")
            drawn.append((f"The same numbers of features: {named(name).title}", path))
    return drawn
