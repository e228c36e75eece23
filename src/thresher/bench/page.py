"""A record as tables: for a terminal, and as a page of the documentation."""

from collections.abc import Sequence

from thresher.bench.bars import Bar, bar_of
from thresher.bench.clock import LEAST_ROUNDS, PATIENCE
from thresher.bench.record import Measured, Record

TITLES = {
    "shared": "Sixteen shared paths, 20 passes, over scikit-learn's SGD with L1, 20 passes",
    "liblinear": "Sixteen shared paths over liblinear's L1 (C = 1)",
    "independent": "Sixteen independent paths, 20 passes, over scikit-learn's SGD with L1",
    "c": "One independent path over the same loop in C, time per nonzero",
    "classics": "Learners with one path over scikit-learn's SGD with L1, time per nonzero",
    "vw": "Learners with one path over Vowpal Wabbit, cached passes, time per nonzero",
    "river": "Learners with one path over river, time per nonzero",
    "threads": "One thread over two: how many times as fast two are",
    "width": "The same rows declared with 10,000,000 columns over 100,000",
    "rows": "Sixteen times the rows over the rows",
    "reader": "scikit-learn's svmlight loader over ours: how many times as fast ours is",
    "predict": "Predicting sparse rows over scipy's `X @ coef`",
    "features": "Bytes per feature that occurs, sixteen paths",
    "peak": "Peak memory of `fit` beyond its input, over the input",
    "stream": "Peak memory of `thresher train` on ten times the rows over once",
    "start": "Seconds in a new process, kernels compiled before",
}
PICTURE = (
    "A bar for every figure, as a share of its acceptance threshold on a logarithmic scale; bars "
    "left of 1 reach it, black marks are the targets"
)
HEADS = ["what", "data", "measured", "threshold", "target", ""]


def cells(one: Measured) -> list[str]:
    """Return a figure as a row of a table."""
    bar = bar_of(one)
    met = "yes" if bar.met(one.value) else "**no**"
    return [one.what, one.data, _number(one.value), *_bar_words(bar), met]


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _bar_words(bar: Bar) -> list[str]:
    sign, unit = "≥" if bar.higher else "≤", f" {bar.unit}" if bar.unit else ""
    return [f"{sign} {bar.must:g}{unit}", f"{bar.aim:g}{unit}"]


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns line up: two to the left, the others to the right."""
    table = [list(heads), *map(list, rows)]
    widths = [max(len(row[place]) for row in table) for place in range(len(heads))]
    lines = []
    for row in table:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join([*left, *right]).rstrip())
    return "\n".join([lines[0], "-" * (sum(widths) + 2 * len(widths) - 2), *lines[1:]])


def terminal_table(measured: Sequence[Measured]) -> str:
    """Return all figures for a terminal."""
    rows = [[one.replace("**", "") for one in cells(figure)] for figure in measured]
    return aligned(HEADS, rows)


def made_by(record: Record) -> str:
    """Return versions and machine in one line."""
    known = ", ".join(f"{name} {number}" for name, number in record.versions.items())
    return f"{record.machine['processor']}, {record.machine['cores']} cores; {known}"


def page(record: Record, chart: str | None = None) -> str:
    """Return the page of the documentation, with a picture if there is one beside it."""
    settings = record.settings
    met = sum(bar_of(one).met(one.value) for one in record.measured)
    parts = [
        "# Benchmarks",
        f"{met} of {len(record.measured)} figures reach the acceptance threshold that the project "
        "set itself (column *threshold*); *target* is what it aims for. Next to other libraries, "
        "below 1 means that ours is faster, unless the title says how many times as fast ours is.",
        "Ratios are of two things measured in turn in one run: no time of one machine is compared "
        "with that of another. Times are the best of "
        f"{settings['rounds']} rounds ({PATIENCE} times as many for threads and for rows, "
        f"{LEAST_ROUNDS} for calls that take milliseconds), on one thread unless it says "
        "otherwise. `ThresherClassifier` is given its number of features: choosing one is extra. "
        "*Shared* paths read one stream of rows side by side, *independent* ones have an order "
        "of their own. Measured with `thresher bench` on "
        f"{made_by(record)}.",
        "This page is made from a run's record, by `thresher bench --from RECORD --page PAGE`.",
        *([f"![{PICTURE}]({chart})"] if chart else []),
    ]
    for name, title in TITLES.items():
        mine = [one for one in record.measured if one.measure == name]
        if mine:
            parts += [f"## {title}", _markdown(mine)]
    return "\n\n".join(parts) + "\n"


def _markdown(measured: Sequence[Measured]) -> str:
    """Return figures as a table, with the numbers they were made from."""
    lines = [
        "| what | data | measured | threshold | target | reached | from |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    for one in measured:
        made = ", ".join(f"{name} {_part(value)}" for name, value in one.parts.items())
        lines.append(f"| {' | '.join(cells(one))} | {made} |")
    return "\n".join(lines)


def _part(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
