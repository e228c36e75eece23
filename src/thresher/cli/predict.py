"""``thresher predict``: a line for every row, in the rows' order."""

from typing import Any

import click

from thresher.cli.failing import fails_well
from thresher.cli.models import WrongModel, load_model, model_argument
from thresher.cli.output import to_terminal, writing
from thresher.cli.places import keep_apart
from thresher.cli.progress import Progress
from thresher.cli.reading import reading_for, reading_options
from thresher.cli.skipping import say_skipped
from thresher.cli.words import examples, json_option, quiet_option

KINDS = ["label", "margin", "probability"]


@click.command(
    short_help="Predict rows: a line for each.",
    epilog=examples(
        "thresher predict spam.thresher new.svm > labels.txt",
        "zcat new.svm.gz | thresher predict spam.thresher - --output probability",
        "thresher predict spam.thresher day*.svm.zst -o margins.txt --output margin",
        "thresher predict spam.thresher new.jsonl --json | jq .label",
    ),
)
@model_argument
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "out", metavar="OUT", help="Write here, all or nothing.  [default: stdout]")
@click.option(
    "--output", "kind", type=click.Choice(KINDS), default="label", show_default=True, help="What."
)
@json_option("A JSON object for every row: label, margin and probability.")
@click.option(
    "--allow-no-features", is_flag=True, help="Go on if no row has any of the model's features."
)
@reading_options
@quiet_option
@fails_well
def predict(
    model: str,
    files: tuple[str, ...],
    out: str | None,
    kind: str,
    as_json: bool,
    allow_no_features: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Predict the rows of FILEs: a line for every row, in their order, in bounded memory.

    A FILE - is standard input. Rows need no labels; labels they have are not looked at. Features
    the model has never seen have no weight. Where rows are scaled to unit length (thresher inspect
    tells), such features still make their row longer, and so its margin smaller.

    With two classes, margin and probability are one number, of the second class; with more there
    is a column for each class, in the order that thresher inspect shows. Of a regression, label and
    margin are the number it predicts, and --json says "prediction".
    """
    keep_apart({"-o": out}, [model, *files])
    from thresher.cli.lines import lines_of
    from thresher.estimators.meeting import Meeting
    from thresher.estimators.overflowing import refuse_infinite
    from thresher.estimators.reading import margins_of, source_for

    fitted = load_model(model)
    lines = lines_of(fitted, kind, as_json)
    reading = reading_for(fitted, options, files)
    source = source_for(fitted, files, ignore_labels=True, **reading)
    meeting = Meeting(fitted)
    with writing(out) as stream, Progress("predicting", quiet=quiet or to_terminal(out)) as shown:
        for chunk, margins in margins_of(fitted, source):
            refuse_infinite(margins, meeting.rows)
            meeting.see(chunk)
            stream.write("".join(f"{line}\n" for line in lines(margins)).encode())
            shown.add(len(chunk))
        if meeting.strangers and not allow_no_features:
            raise WrongModel(f"{meeting.words()} --allow-no-features predicts nevertheless.")
    say_skipped(source)
