"""``thresher evaluate``: how well a model predicts labelled rows."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.files import load_model, note_skipped, refuse_absent, refuse_unknown
from thresher.cli.options import (
    Command,
    allow_option,
    examples,
    files_argument,
    json_option,
    model_argument,
    quiet_option,
    reading_from,
    reading_options,
)
from thresher.cli.screen import Progress, json_text, noting_warnings, printable

if TYPE_CHECKING:
    from thresher.estimators.base import LinearModel
    from thresher.estimators.scores import UnknownColumns
    from thresher.formats.protocol import Source

Figures = dict[str, Any]

LINES = {
    "rows": "rows      {:,}",
    "per_cent": "error     {:.2f} %",
    "log_loss": "log loss  {:.4f}",
    "auc": "AUC       {:.4f}",
    "r2": "R2        {:.4f}",
    "rmse": "RMSE      {:.4g}",
    "mae": "MAE       {:.4g}",
    "features": "features  {:,}",
}
MOST_CLASSES = 12  # whose confusion fits on a terminal


@click.command(
    cls=Command,
    short_help="Evaluate a model on labelled rows.",
    epilog=examples(
        "thresher evaluate spam.thresher test.svm",
        "thresher evaluate spam.thresher test.csv --label spam --json > figures.json",
    ),
)
@model_argument
@files_argument
@json_option("Print a JSON object.")
@allow_option
@reading_options
@quiet_option
def evaluate(
    model: str,
    files: tuple[str, ...],
    as_json: bool,
    allow_no_features: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Evaluate MODEL on labelled rows: error, log loss, AUC, and which classes are confused.

    The log loss needs a model with probabilities, AUC two classes. Of numbers there are R2, RMSE
    and MAE instead. Rows count by --weight if there is one. What is not given of how to read the
    rows is as in training.
    """
    reading = reading_from(options)
    refuse_absent(model)
    from thresher.estimators.streaming import prediction_source

    fitted = load_model(model)
    source = prediction_source(fitted, files, labelled=True, **reading)
    figures, unknown = evaluate_rows(fitted, source, quiet)
    refuse_unknown(unknown, allow_no_features)
    note_skipped(source)
    click.echo(json_text(figures) if as_json else "\n".join(lines_of(figures)))


def evaluate_rows(
    model: "LinearModel", source: "Source", quiet: bool
) -> "tuple[Figures, UnknownColumns]":
    """Return how well a model predicts rows, as plain values, and whether it knows any of them."""
    from thresher.estimators.scores import evaluate_stream

    with noting_warnings(quiet), Progress("evaluating", quiet) as progress:
        found, unknown = evaluate_stream(model, source, progress.add)
    figures = {**asdict(found), "skipped": source.skipped.count}
    if "confusion" in figures:
        labels = model.fitted_.labels
        assert labels is not None
        figures["classes"] = labels.tolist()
        figures["confusion"] = [list(map(_whole, row)) for row in found.confusion.tolist()]
    return figures, unknown


def lines_of(figures: Figures) -> list[str]:
    """Return figures as lines for people."""
    known = {name: value for name, value in figures.items() if value is not None}
    if "error" in known:
        known["per_cent"] = 100 * known["error"]
    lines = [words.format(known[name]) for name, words in LINES.items() if name in known]
    if 2 <= len(known.get("classes", ())) <= MOST_CLASSES:
        lines += ["", *_confusion(known["classes"], known["confusion"])]
    return lines


def _confusion(classes: list[Any], counts: list[list[float]]) -> list[str]:
    """Return a row for each true class, and a column for each predicted one."""
    names = [printable(str(label)) for label in classes]
    table = [["true \\ predicted", *names]]
    table += [[name, *(f"{n:,.10g}" for n in row)] for name, row in zip(names, counts, strict=True)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in table
    ]


def _whole(number: float) -> float:
    return int(number) if number.is_integer() else number
