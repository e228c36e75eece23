"""``thresher evaluate``: how well a model predicts labelled rows."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from thresher.cli import options as opt
from thresher.cli.files import note_skipped, refuse_unknown, refuse_unreadable
from thresher.cli.screen import Progress, json_text, noting_warnings, printable

if TYPE_CHECKING:
    from thresher.estimators.base import LinearModel
    from thresher.formats.protocol import Source

LINES = {
    "rows": "rows      {:,}",
    "error": "error     {:.2%}",
    "log_loss": "log loss  {:.4f}",
    "auc": "AUC       {:.4f}",
    "r2": "R2        {:.4f}",
    "rmse": "RMSE      {:.4g}",
    "mae": "MAE       {:.4g}",
    "features": "features  {:,}",
}
MOST_CLASSES = 12  # whose confusion fits on a terminal


@opt.command(
    "Evaluate a model on labelled rows.",
    "thresher evaluate spam.thresher test.svm",
    "thresher evaluate spam.thresher test.csv --label spam --json > figures.json",
)
@opt.model
@opt.files
@opt.as_json("Print a JSON object.")
@opt.allow_no_features
@opt.reading
@opt.quiet
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
    reading = opt.reading_from(options)
    refuse_unreadable(files)
    from thresher.estimators.saving import load
    from thresher.estimators.streaming import prediction_source

    fitted = load(model)
    source = prediction_source(fitted, files, labelled=True, **reading)
    figures, warning = evaluate_rows(fitted, source, quiet)
    refuse_unknown(warning, allow_no_features)
    note_skipped(source)
    click.echo(json_text(figures) if as_json else "\n".join(lines_of(figures)))


def evaluate_rows(
    model: "LinearModel", source: "Source", quiet: bool
) -> tuple[dict[str, Any], str | None]:
    """Return how well a model predicts rows, as plain values, and what is odd about them."""
    from thresher.estimators.scores import evaluate_stream

    with noting_warnings(quiet), Progress("evaluating", quiet) as progress:
        found, warning = evaluate_stream(model, source, progress.reach)
    figures = {**asdict(found), "skipped": source.skipped.count}
    labels = model.fitted_.labels
    if labels is not None:
        figures |= {"classes": labels.tolist(), "confusion": figures["confusion"].tolist()}
    return figures, warning


def lines_of(figures: dict[str, Any]) -> list[str]:
    """Return figures as lines for people; confusion has a row for each true class."""
    known = {name: value for name, value in figures.items() if value is not None}
    lines = [words.format(known[name]) for name, words in LINES.items() if name in known]
    names = [printable(str(label)) for label in known.get("classes", ())]
    if not 0 < len(names) <= MOST_CLASSES:
        return lines
    table = [["true \\ predicted", *names]]
    for name, row in zip(names, known["confusion"], strict=True):
        table.append([name, *(f"{number:,.10g}" for number in row)])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        *lines,
        "",
        *("  ".join([r[0].ljust(widths[0]), *map(str.rjust, r[1:], widths[1:])]) for r in table),
    ]
