"""``thresher report``: a model as a page."""

from pathlib import Path

import click

from thresher.cli.failing import fails_well
from thresher.cli.models import load_model, model_argument
from thresher.cli.output import writing
from thresher.cli.places import keep_apart
from thresher.cli.words import examples


@click.command(
    short_help="Write a model as one HTML page.",
    epilog=examples(
        "thresher report spam.thresher -o report.html",
        'thresher report spam.thresher -o report.html --title "Spam, week 12" --top 300',
    ),
)
@model_argument
@click.option("-o", "out", required=True, metavar="FILE", help="The page; - is standard output.")
@click.option("--title", help="What the page is about.  [default: the model file's name]")
@click.option("--top", type=click.IntRange(min=1), default=100, show_default=True, metavar="N",
              help="Show so many of the strongest features.")  # fmt: skip
@fails_well
def report(model: str, out: str, title: str | None, top: int) -> None:
    """Write MODEL as one HTML page: what was selected, how, and where the model comes from.

    The page needs nothing else, neither a network nor a script: it can be mailed, printed, and
    read on a phone.
    """
    keep_apart({"-o": out}, [model])
    fitted = load_model(model)
    from thresher.estimators.describing import describe
    from thresher.report import page

    with writing(out) as stream:
        stream.write(page(describe(fitted), title or Path(model).stem, top).encode())
