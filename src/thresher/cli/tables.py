"""A model's description for a terminal: what it is, what it selected, how it got there."""

from collections.abc import Iterator
from typing import Any

import click
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from thresher.cli.chart import bar, log_bars
from thresher.estimators.describing import Description, Feature, Selection
from thresher.estimators.wording import (
    facts_of,
    false_selections_of,
    meaning_of,
    printable,
    provenance_of,
)

BAR = 12  # signs of the longest weight
WIDEST = 100  # columns of the chart
FOR, AGAINST = "cyan", "yellow"  # colours of weights above and below 0


def show(description: Description, top: int | None) -> None:
    """Print a description, with so many features of each selection; None is all."""
    console = Console(highlight=False)
    with console.capture() as captured:
        for part in _parts(description, top, min(console.width, WIDEST)):
            console.print(part)
    # tables are padded to their full width, which no reader of a file or a pipe has any use for
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _parts(description: Description, top: int | None, width: int) -> Iterator[RenderableType]:
    yield _header(description)
    several = len(description.selections) > 1
    for selection in description.selections:
        yield Text()
        if several:
            positive = printable(str(selection.positive))
            yield Text(f"Class {positive} against the rest", style="bold")
        yield _selected(selection, top)
        if selection.history:
            yield Text()
            yield _history(selection, width)


def _header(description: Description) -> Group:
    """Return what the model is, in a few lines."""
    facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    facts.add_column(style="dim")
    facts.add_column(overflow="fold")
    for name, words in {**facts_of(description), **provenance_of(description)}.items():
        facts.add_row(name, Text(words))
    return Group(Text(description.method, style="bold"), facts)


def _selected(selection: Selection, top: int | None) -> RenderableType:
    """Return the selected features, the strongest first."""
    features = selection.features[:top]
    if not selection.features:
        return Text("No feature has a weight.")
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("feature", overflow="fold")
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("", width=BAR, no_wrap=True)
    if features[0].probability is not None:
        table.add_column("probability", justify="right", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    most = max(abs(feature.weight) for feature in features)
    for feature in features:
        table.add_row(*_cells(feature, most))
    notes = [_legend(selection, len(features)), *false_selections_of(selection)]
    return Group(table, *(Text(note, style="dim") for note in notes))


def _cells(feature: Feature, most: float) -> list[Text]:
    """Return a feature as cells of the table."""
    colour = FOR if feature.weight > 0 else AGAINST
    cells = [
        Text(printable(feature.name)),
        Text(f"{feature.weight:+.4g}", style=colour),
        Text(bar(abs(feature.weight) / most, BAR), style=colour),
    ]
    if feature.probability is not None:
        cells.append(Text(f"{feature.probability:.2f}"))
    return [*cells, Text(f"{feature.rows:,}")]


def _legend(selection: Selection, shown: int) -> str:
    words = meaning_of(selection)
    left = len(selection.features) - shown
    return f"{words} {left:,} more features: --all shows them." if left else words


def _history(selection: Selection, width: int) -> Group:
    """Return how many features were left after each stage."""
    stable: list[Any] = [record["stable"] for record in selection.history]
    words = f"Features still stable after each stage: {stable[0]:,} to {stable[-1]:,}"
    chart = (Text(line) for line in log_bars(stable, width))
    return Group(Text(words, style="bold"), Text("on a logarithmic scale", style="dim"), *chart)
