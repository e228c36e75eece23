"""Tables 1 to 4, the seconds and the matched sparsity, as Markdown from stored results."""

import math
from collections.abc import Callable, Sequence
from itertools import product

from experiments import paper
from experiments.lines import Line
from experiments.matched import TARGETS
from experiments.methods import LOSS_TITLES, METHODS
from experiments.registry import named
from experiments.store import Store
from experiments.summary import Moments, Summary, summarize

NOTHING = "-"
Show = Callable[[Summary], str]


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    ruled = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in ruled)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number, or a dash where there is none."""
    return NOTHING if value is None or math.isnan(value) else f"{value:.{digits}f}"


def spread(value: Moments | paper.Printed) -> str:
    """Return a mean and its deviation."""
    if value.deviation is None or math.isnan(value.deviation):
        return number(value.mean)
    return f"{number(value.mean)} ± {number(value.deviation)}"


def table_1(store: Store, sets: Sequence[str]) -> str:
    """Return the data sets, and the paper's row of each where it differs."""
    header = ["Data set", "Domain", "Columns", "Density %", "Training rows", "Test rows", "Note"]
    rows = []
    for name in sets:
        facts, measured, printed = named(name), store.read(("data", name)), paper.size(name)
        if measured is None:
            continue
        sizes = [measured["columns"], measured["density"], measured["train"], measured["test"]]
        rows.append([facts.title, facts.domain, *_sizes(sizes), facts.note])
        if printed:
            title = paper.STANDS_FOR.get(name, name).capitalize().replace("Rcv1", "RCV1")
            rows.append([f"*paper: {title}*", "", *_sizes(printed), ""])
    return markdown(header, rows)


def _sizes(sizes: Sequence[float]) -> list[str]:
    columns, density, train, test = sizes
    return [f"{columns:,}", number(density), f"{train:,}", f"{test:,}"]


def _error(summary: Summary) -> str:
    return spread(summary.error)


def _percent(summary: Summary) -> str:
    return spread(summary.percent)


def _kappa(summary: Summary) -> str:
    if math.isnan(summary.kappa):
        return NOTHING
    measured = summary.stability
    interval = f"{number(measured.low)} to {number(measured.high)}"
    return f"{number(summary.kappa)} ({number(measured.stability)}, {interval})"


def _seconds(summary: Summary) -> str:
    return number(summary.seconds, 3)


MEASURES: dict[str, Show] = {
    "error": _error,
    "percent": _percent,
    "kappa": _kappa,
    "seconds": _seconds,
}


def comparison(store: Store, sets: Sequence[str], scaling: str, loss: str, measure: str) -> str:
    """Return one measure: a row for each method, a column for each set, the paper in brackets."""
    makers = [maker for maker in METHODS.values() if loss in maker.losses]
    if scaling == "nonzero-rms":
        makers = [maker for maker in makers if maker.in_paper]
    table = []
    for maker in makers:
        lines = [Line(name, scaling, maker.name, loss) for name in sets]
        table.append([maker.title, *(_cell(store, line, measure) for line in lines)])
    return markdown(["Method", *(named(name).title for name in sets)], table)


def _cell(store: Store, line: Line, measure: str) -> str:
    ours = _measured(store, line, "final", measure)
    # The paper's numbers stand beside its own scaling, in both readings.
    beside = measure != "seconds" and line.scaling != "row-l2"
    printed = paper.printed(measure, line.dataset, line.method, line.loss) if beside else None
    return f"{ours} [{spread(printed)}]" if printed else ours


def _measured(store: Store, line: Line, protocol: str, measure: str) -> str:
    summary = summarize(store, line, named(line.dataset).columns, protocol)
    return MEASURES[measure](summary) if summary else NOTHING


def oracle_table(store: Store, sets: Sequence[str], scalings: Sequence[str]) -> str:
    """Return the final model, the best iterate by test error, and the paper, side by side."""
    sides = ("final", "best iterate (oracle)", "paper")
    header = ["Data set", "Scaling", "Loss", *(f"error %: {side}" for side in sides)]
    header += [f"nonzero %: {side}" for side in sides]
    rows = []
    for maker in (maker for maker in METHODS.values() if maker.oracle):
        for name, scaling, loss in product(sets, scalings, maker.losses):
            line = Line(name, scaling, maker.name, loss)
            if summarize(store, line, named(name).columns, "best-iterate"):
                about = [named(name).title, scaling, LOSS_TITLES[loss]]
                errors, sizes = (_sides(store, line, each) for each in ("error", "percent"))
                rows.append([*about, *errors, *sizes])
    return markdown(header, rows)


def _sides(store: Store, line: Line, measure: str) -> list[str]:
    """Return one measure of a line as the final model, the oracle and the paper have it."""
    ours = [_measured(store, line, side, measure) for side in ("final", "best-iterate")]
    printed = paper.printed(measure, line.dataset, line.method, line.loss)
    return [*ours, spread(printed) if printed else NOTHING]


def matched_table(store: Store, name: str, scaling: str, loss: str, measure: str) -> str:
    """Return error or kappa of every method at the same numbers of features."""
    header = ["Method", *(f"{target:,}" for target in TARGETS)]
    rows = []
    for maker in METHODS.values():
        cell = store.read(("matched", name, scaling, maker.name, loss))
        if cell is not None:
            rows.append([maker.title, *(number(point[measure]) for point in cell["targets"])])
    return markdown(header, rows)


def settings_table(store: Store, sets: Sequence[str], scaling: str) -> str:
    """Return what cross-validation chose."""
    rows = []
    for name in sets:
        for maker in METHODS.values():
            for loss in maker.losses:
                choice = store.read(("choice", name, scaling, maker.name, loss))
                if choice is not None:
                    words = ", ".join(f"{key} {value}" for key, value in choice["params"].items())
                    title = LOSS_TITLES[loss].lower()
                    rows.append([named(name).title, maker.title, title, words or "defaults"])
    return markdown(["Data set", "Method", "Loss", "Chosen"], rows)
