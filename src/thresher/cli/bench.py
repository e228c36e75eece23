"""``thresher bench``: times and memory against peers."""

from pathlib import Path
from typing import Any

import click

from thresher.cli.failing import UNEXPECTED, fails_well
from thresher.cli.output import writing
from thresher.cli.places import keep_apart
from thresher.cli.words import examples, quiet_option, say

# in the order of the page; imported with the package they are of no use to --help
NAMES = [
    "shared", "liblinear", "independent", "c", "classics", "vw", "river", "threads", "width",
    "rows", "reader", "predict", "features", "peak", "stream", "start",
]  # fmt: skip


@click.command(
    short_help="Measure times and memory against peers.",
    epilog=examples(
        "thresher bench --small --check",
        "thresher bench shared classics --data rows.svm --save record.json",
        "thresher bench --from record.json --page benchmarks.md --chart benchmarks.svg",
    ),
)
@click.argument("names", nargs=-1, type=click.Choice(NAMES), metavar="[NAME]...")
@click.option("--data", "files", multiple=True, metavar="FILE",
              help="Measure on the rows of a file; may be given several times.")  # fmt: skip
@click.option("--small", is_flag=True,
              help="Few rows, one round: shows that everything runs, and no more.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=1), default=5, show_default=True, metavar="N",
              help="Take the best of N rounds.")  # fmt: skip
@click.option("--check", is_flag=True,
              help="Afterwards, check that what is compared computes the same.")  # fmt: skip
@click.option("--save", metavar="FILE", help="Write the figures and what made them, as JSON.")
@click.option("--from", "source", metavar="FILE", type=click.Path(exists=True, dir_okay=False),
              help="Measure nothing: take figures that were saved.")  # fmt: skip
@click.option("--page", metavar="FILE", help="Write the figures as a page of Markdown.")
@click.option("--chart", metavar="FILE", help="Draw the figures, as SVG.")
@quiet_option
@fails_well
def bench(
    names: tuple[str, ...],
    files: tuple[str, ...],
    small: bool,
    rounds: int,
    check: bool,
    save: str | None,
    source: str | None,
    page: str | None,
    chart: str | None,
    quiet: bool,
) -> None:
    """Measure training, reading, predicting and memory, side by side with peers.

    Without a NAME everything is measured: shared and independent paths, the classics, vw, river and
    liblinear (whoever is installed), c (where there is a compiler), threads, width, rows, reader,
    predict, features, peak, stream and start. Rows are generated, or come from --data, or from the
    known sets in the folder THRESHER_DATA. Figures are ratios, both sides measured in turn.
    """
    keep_apart(
        {"--save": save, "--page": page, "--chart": chart}, [*filter(None, [source]), *files]
    )
    from thresher.bench.page import made_by, terminal_table
    from thresher.bench.record import Record

    if source:
        record = Record.from_text(Path(source).read_text(encoding="utf-8"))
    else:
        record = _measured(names or tuple(NAMES), files, small, 1 if small else rounds, quiet)
    click.echo(f"{made_by(record)}\n\n{terminal_table(record.measured)}")
    _write(record, save, page, chart)
    if check:
        _check()


def _measured(
    names: tuple[str, ...], files: tuple[str, ...], small: bool, rounds: int, quiet: bool
) -> Any:
    """Return a new record, telling each figure as it comes in."""
    from thresher.bench.measures import measure
    from thresher.bench.record import Record
    from thresher.bench.setting import Setting

    setting = Setting(small, rounds, files, lambda words: say(words, quiet))
    record = Record.begin(rounds=rounds, small=small)
    for one in measure(setting, names):
        say(f"{one.measure}: {one.what}, {one.data}: {one.value:.3g}", quiet)
        record.measured.append(one)
    return record


def _write(record: Any, save: str | None, page: str | None, chart: str | None) -> None:
    """Write what is wanted of a record."""
    from thresher.bench import chart as drawing
    from thresher.bench import page as writing_page

    beside = Path(chart).name if chart else None
    for path, words in {
        save: lambda: record.text(),
        page: lambda: writing_page.page(record, beside),
        chart: lambda: drawing.chart(record),
    }.items():
        if path:
            with writing(path) as stream:
                stream.write(words().encode())


def _check() -> None:
    """Say what agrees, or is left out; what does not ends the command."""
    import sys

    from thresher.bench.agreement import Disagreement, agreements
    from thresher.bench.data import make_text
    from thresher.bench.setting import SMALL_ROWS

    try:
        for words in agreements(make_text(SMALL_ROWS)):
            click.echo(words)
    except Disagreement as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(UNEXPECTED)
