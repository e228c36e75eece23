"""``thresher export`` and ``thresher report``: models for other programs, and for people."""

from pathlib import Path
from typing import Any

import click

from thresher.cli import options as opt
from thresher.cli.files import check_outputs, file_only, path_of
from thresher.cli.screen import say


@opt.command(
    "Write a model for other programs.",
    "thresher export spam.thresher -o weights.csv",
    "thresher export spam.thresher -o sizes.parquet --sizes",
    "thresher export spam.thresher -o spam.onnx",
)
@opt.model
@opt.output("FILE", "Its ending decides what is written.")
@opt.force
@opt.option("--sizes", is_flag=True, help="A table of the models of all sizes.")
@opt.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    help=".onnx: type of rows.  [default: float32]",
)
@opt.quiet
def export(
    model: str, output: str, force: bool, sizes: bool, dtype: str | None, quiet: bool
) -> None:
    """Write MODEL's weights as a table, or MODEL as a graph for ONNX runtimes.

    FILE ends in .csv, .tsv, .json or .parquet (needs pyarrow) for a table of features and weights,
    with the formula by which they predict; in .onnx (needs onnx) for a graph of dense rows.
    """
    file_only(output)
    check_outputs({"-o": output}, [model], force)
    from thresher.estimators.saving import load
    from thresher.export import WRITERS
    from thresher.export import export as write

    ending = Path(output).suffix.lower()
    if ending not in WRITERS:
        raise click.UsageError(f"{output}: its ending must be one of {', '.join(WRITERS)}.")
    if sizes and ending == ".onnx":
        raise click.UsageError(f"--sizes is for tables, and {output} is a graph: leave it out.")
    if dtype and ending != ".onnx":
        raise click.UsageError(f"--dtype is for graphs (.onnx), not for {output}: leave it out.")
    fitted = load(model)
    if sizes:
        path_of(fitted)
    write(fitted, output, sizes, **({"dtype": dtype} if dtype else {}))
    say(f"Wrote {output}.", quiet)


@opt.command(
    "Write a model as one HTML page.",
    "thresher report spam.thresher -o spam.html",
    "thresher report spam.thresher -o spam.html --test test.svm",
)
@opt.model
@opt.output("FILE", "The page.")
@opt.force
@opt.option("--test", multiple=True, metavar="FILE", help="Labelled rows to evaluate MODEL by.")
@opt.reading
@opt.quiet
def report(
    model: str, output: str, force: bool, test: tuple[str, ...], quiet: bool, **options: Any
) -> None:
    """Write MODEL as one HTML page: what was selected, how, and where the model comes from.

    The page needs nothing else: it can be mailed, printed, and read offline.
    """
    reading = opt.reading_from(options)
    file_only(output)
    check_outputs({"-o": output}, [model, *test], force)
    from thresher.estimators.saving import load
    from thresher.estimators.streaming import prediction_source
    from thresher.report import write

    fitted = load(model)
    rows = prediction_source(fitted, test, labelled=True, **reading) if test else None
    write(fitted, output, rows)
    say(f"Wrote {output}.", quiet)
