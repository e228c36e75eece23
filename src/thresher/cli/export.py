"""``thresher export`` and ``thresher report``: models for other programs, and for people."""

from pathlib import Path
from typing import Any

import click

from thresher.cli.files import check_outputs, file_only, load_model, path_of
from thresher.cli.options import (
    OUTPUT,
    Command,
    examples,
    force_option,
    model_argument,
    option,
    quiet_option,
    reading_from,
    reading_options,
)
from thresher.cli.screen import say


@click.command(
    cls=Command,
    short_help="Write a model for other programs.",
    epilog=examples(
        "thresher export spam.thresher -o weights.csv",
        "thresher export spam.thresher -o sizes.parquet --sizes",
        "thresher export spam.thresher -o spam.onnx",
    ),
)
@model_argument
@option("-o", "--output", required=True, metavar="FILE", section=OUTPUT,
        help="Its ending decides what is written.")  # fmt: skip
@force_option
@option("--sizes", is_flag=True, help="A table of the models of all sizes.")
@option("--dtype", type=click.Choice(["float32", "float64"]),
        help=".onnx: type of the rows.  [default: float32]")  # fmt: skip
@quiet_option
def export(
    model: str, output: str, force: bool, sizes: bool, dtype: str | None, quiet: bool
) -> None:
    """Write MODEL's weights as a table, or MODEL as a graph for ONNX runtimes.

    FILE ends in .csv, .tsv, .json or .parquet (needs pyarrow) for a table of features and weights,
    with the formula by which they predict; in .onnx (needs onnx) for a graph of dense rows.
    """
    file_only(output, "An export")
    check_outputs({"-o": output}, [model], force)
    from thresher.export import WRITERS
    from thresher.export import export as write

    ending = Path(output).suffix.lower()
    if ending not in WRITERS:
        raise click.UsageError(f"{output}: its ending must be one of {', '.join(WRITERS)}.")
    graph = ending == ".onnx"
    if sizes and graph:
        raise click.UsageError(f"--sizes is for tables, and {output} is a graph: leave it out.")
    if dtype and not graph:
        raise click.UsageError(f"--dtype is for graphs (.onnx), and {output} is a table.")
    fitted = load_model(model)
    if sizes:
        path_of(fitted)
    write(fitted, output, sizes, **({"dtype": dtype} if dtype else {}))
    say(f"Wrote {output}.", quiet)


@click.command(
    cls=Command,
    short_help="Write a model as one HTML page.",
    epilog=examples(
        "thresher report spam.thresher -o spam.html",
        "thresher report spam.thresher -o spam.html --test test.svm",
    ),
)
@model_argument
@option("-o", "--output", required=True, metavar="FILE", section=OUTPUT, help="The page.")
@force_option
@option("--test", multiple=True, metavar="FILE", help="Rows to evaluate MODEL by; may be repeated.")
@reading_options
@quiet_option
def report(
    model: str, output: str, force: bool, test: tuple[str, ...], quiet: bool, **options: Any
) -> None:
    """Write MODEL as one HTML page: what was selected, how, and where the model comes from.

    The page needs nothing else: it can be mailed, printed, and read offline.
    """
    reading = reading_from(options)
    file_only(output, "A report")
    check_outputs({"-o": output}, [model, *test], force)
    from thresher.estimators.streaming import prediction_source
    from thresher.report import write

    fitted = load_model(model)
    rows = prediction_source(fitted, test, labelled=True, **reading) if test else None
    write(fitted, output, rows)
    say(f"Wrote {output}.", quiet)
