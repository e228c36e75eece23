"""``thresher evaluate``: how well a model predicts, and whether it would be selected again."""

from dataclasses import asdict
from math import isfinite
from typing import Any

import click

from thresher.cli.failing import fails_well
from thresher.cli.models import WrongModel, load_model, model_argument
from thresher.cli.places import STANDARD, is_device
from thresher.cli.progress import Progress
from thresher.cli.reading import reading_for, reading_options
from thresher.cli.skipping import say_skipped
from thresher.cli.words import examples, json_option, quiet_option

LINES = {
    "rows": "rows        {:,}",
    "per_cent": "error       {:.2f} %",
    "log_loss": "log loss    {:.4f}",
    "auc": "AUC         {:.4f}",
    "r2": "R2          {:.4f}",
    "rmse": "RMSE        {:.4g}",
    "mae": "MAE         {:.4g}",
    "nonzeros": "nonzeros    {:,}",
}


@click.command(
    short_help="Judge a model by labelled rows.",
    epilog=examples(
        "thresher evaluate spam.thresher test.svm",
        "thresher evaluate spam.thresher test.svm --json > scores.json",
        "thresher evaluate spam.thresher train.svm --refits 20",
    ),
)
@model_argument
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--refits",
    type=click.IntRange(min=2),
    metavar="N",
    help="Also train N times on random halves of the rows (in memory), and compare what is "
    "selected.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of refits.")
@json_option("One JSON object instead of words.")
@reading_options
@quiet_option
@fails_well
def evaluate(
    model: str,
    files: tuple[str, ...],
    refits: int | None,
    seed: int,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Judge MODEL by labelled rows: error, log loss, AUC, nonzero weights.

    Log loss is given where the model has probabilities, AUC where there are two classes; a model of
    numbers has R2, RMSE and MAE instead. Rows count by --weight if there is one. With --refits,
    Cohen's kappa and Nogueira's stability say how much the selections of refits agree: 1 is the
    same features every time, 0 is chance.
    """
    if refits:
        _refuse_passing(files)
    fitted = load_model(model)
    reading = reading_for(fitted, options, files)
    found = _scores(fitted, files, reading, quiet)
    if refits:
        found["stability"] = _stability(fitted, files, reading, refits, seed, quiet)
    if as_json:
        import json

        click.echo(json.dumps(found))
    else:
        click.echo("\n".join(_words(found)))


def _refuse_passing(files: tuple[str, ...]) -> None:
    """Refuse rows that come only once where they are read again."""
    for path in files:
        if path == STANDARD or is_device(path):
            what = "standard input" if path == STANDARD else f"{path}, a pipe or a device,"
            raise click.UsageError(
                f"--refits reads the rows twice, and {what} can be read only once: name a file."
            )


def _scores(fitted: Any, files: tuple[str, ...], reading: dict[str, Any], quiet: bool) -> Any:
    """Return how well the model predicts."""
    from thresher.estimators.evaluating import evaluate
    from thresher.estimators.reading import source_for

    source = source_for(fitted, files, labelled=True, **reading)
    with Progress("evaluating", quiet=quiet) as shown:
        scores, meeting = evaluate(fitted, source, shown.add)
    if meeting.strangers:
        raise WrongModel(meeting.words())
    say_skipped(source)
    return {**asdict(scores), "skipped": source.skipped.count}


def _stability(
    fitted: Any,
    files: tuple[str, ...],
    reading: dict[str, Any],
    refits: int,
    seed: int,
    quiet: bool,
) -> dict[str, Any]:
    """Return how stable the selection is; names are numbered anew, as in training."""
    from thresher.estimators.refitting import gather, refit_on_halves, rows_like

    with Progress("reading", quiet=quiet) as shown:
        data = gather(rows_like(fitted, files, **reading), shown.add)
    with Progress("refitting", "refits", refits, quiet) as shown:
        found = asdict(refit_on_halves(fitted, data, refits, seed, shown.add))
    return {key: _known(value) for key, value in found.items()}


def _known(value: Any) -> Any:
    """Return None for what is not a number: JSON has no other word for it."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _words(found: dict[str, Any]) -> list[str]:
    """Return the lines for people."""
    known = {name: value for name, value in found.items() if value is not None}
    if "error" in known:
        known["per_cent"] = 100 * known["error"]
    lines = [words.format(known[name]) for name, words in LINES.items() if name in known]
    return lines + (_stability_words(found["stability"]) if "stability" in found else [])


def _stability_words(found: dict[str, Any]) -> list[str]:
    few, many = min(found["features"]), max(found["features"])
    sizes = f"{few:,}" if few == many else f"{few:,} to {many:,}"
    heading = f"{found['refits']} refits on random halves of the rows:"
    if found["stability"] is None:
        return [heading, f"  features  {sizes} each: nothing can be said about their stability"]
    return [
        heading,
        f"  features  {sizes} each, {found['in_all']:,} of them in every one",
        f"  kappa     {found['kappa']:.3f}",
        f"  stability {found['stability']:.3f} ({found['low']:.3f} to {found['high']:.3f}, 95 %)",
    ]
