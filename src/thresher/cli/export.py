"""``thresher export``: a model for other programs."""

from pathlib import Path

import click

from thresher.cli.failing import fails_well
from thresher.cli.models import load_model, model_argument
from thresher.cli.places import keep_apart
from thresher.cli.words import examples, quiet_option, say

TABLES, GRAPH = (".csv", ".tsv", ".json", ".parquet"), ".onnx"


@click.command(
    short_help="Write a model for other programs.",
    epilog=examples(
        "thresher export spam.thresher -o weights.csv",
        "thresher export spam.thresher -o weights.json",
        "thresher export spam.thresher -o spam.onnx",
    ),
)
@model_argument
@click.option("-o", "out", required=True, metavar="FILE", help="Its ending says what is written.")
@quiet_option
@fails_well
def export(model: str, out: str, quiet: bool) -> None:
    """Write MODEL's coefficients as a table, or MODEL as a graph for ONNX runtimes.

    FILE ends in .csv, .tsv, .json or .parquet (needs pyarrow) for a table of features, weights and
    selection probabilities, intercepts first, and what is done to rows before they meet the
    weights; in .onnx (needs skl2onnx) for a graph that takes dense rows of float64 and predicts as
    the model does.
    """
    ending = Path(out).suffix.lower()
    if ending not in (*TABLES, GRAPH):
        raise click.UsageError(f"{out}: the ending must be one of {', '.join((*TABLES, GRAPH))}.")
    keep_apart({"-o": out}, [model])
    fitted = load_model(model)
    if ending == GRAPH:
        fitted.to_onnx(out)
        say(f"Wrote {out}.", quiet)
        return
    from thresher.estimators.exporting.computing import computation

    fitted.export_coefficients(out)
    say(f"Wrote {out}. {computation(fitted)}", quiet)
