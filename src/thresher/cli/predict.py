"""``thresher predict``: a line for every row, in their order."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.files import (
    check_outputs,
    load_model,
    note_skipped,
    refuse_absent,
    refuse_unknown,
    shown_on_terminal,
    writing,
)
from thresher.cli.options import (
    OUTPUT,
    Command,
    allow_option,
    examples,
    files_argument,
    force_option,
    json_option,
    model_argument,
    option,
    quiet_option,
    reading_from,
    reading_options,
)
from thresher.cli.screen import Progress, json_text, noting_warnings, printable

if TYPE_CHECKING:
    import numpy as np

    from thresher.estimators.base import LinearModel

Lines = Callable[["np.ndarray"], list[str]]  # of margins, which have a column per output


@click.command(
    cls=Command,
    short_help="Predict rows: a line for each.",
    epilog=examples(
        "thresher predict spam.thresher new.svm > labels.txt",
        "zcat new.svm.gz | thresher predict spam.thresher - --what probability",
        "thresher predict spam.thresher day*.svm.zst -o margins.txt --what margin",
        "thresher predict spam.thresher new.jsonl --json | jq .label",
    ),
)
@model_argument
@files_argument
@option("-o", "--output", metavar="FILE", section=OUTPUT,
        help="Write here.  [default: standard output]")  # fmt: skip
@force_option
@option("--what", type=click.Choice(["label", "margin", "probability"]), section=OUTPUT,
        help="What to write of each row.  [default: label]")  # fmt: skip
@json_option("Write a JSON object for each row: label, margin and probability.")
@allow_option
@reading_options
@quiet_option
def predict(
    model: str,
    files: tuple[str, ...],
    output: str | None,
    force: bool,
    what: str | None,
    as_json: bool,
    allow_no_features: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Predict the rows of FILEs (- is standard input): a line for each, in bounded memory.

    Rows need no labels; those they have are not read. What is not given of how to read the rows is
    as in training. Features that the model does not know have no weight.

    Of two classes, margin and probability are one number, that of the second; of more there is a
    column for each, in the order that thresher inspect shows. Of numbers, label and margin are the
    prediction.
    """
    reading = reading_from(options)
    if what and as_json:
        raise click.UsageError("--json writes all that --what can choose: leave --what out.")
    refuse_absent(model)
    check_outputs({"-o": output or "-"}, [model, *files], force)
    from thresher.estimators.scores import UnknownColumns, margins_stream, rows_of
    from thresher.estimators.streaming import prediction_source

    fitted = load_model(model)
    lines = objects_of(fitted) if as_json else lines_of(fitted, what or "label")
    source = prediction_source(fitted, files, **{**reading, "ignore_labels": True})
    unknown = UnknownColumns(fitted)
    hidden = quiet or shown_on_terminal(output)
    with (
        writing(output) as stream,
        noting_warnings(quiet),
        Progress("predicting", hidden) as progress,
    ):
        for chunk, margins in margins_stream(fitted, source):
            unknown.add(rows_of(chunk))
            stream.write("".join(f"{line}\n" for line in lines(margins)).encode())
            progress.add(len(chunk))
        refuse_unknown(unknown, allow_no_features)
    note_skipped(source)


def lines_of(model: "LinearModel", what: str) -> Lines:
    """Return what makes lines of margins."""
    from thresher.estimators.classifier import probabilities_of
    from thresher.fitted import NO_LINK

    fitted = model.fitted_
    if what == "probability" and fitted.link == NO_LINK:
        reason = "it predicts numbers" if fitted.labels is None else "its loss gives none"
        raise click.UsageError(
            f"--what probability: {reason}. Choose label or margin, or train with --loss log_loss."
        )
    if what == "probability":
        first = 1 if fitted.n_outputs == 1 else 0  # of two classes, the second's
        return lambda margins: _numbers(probabilities_of(fitted.link, margins)[:, first:])
    if what == "margin" or fitted.labels is None:
        return _numbers
    words = {label: printable(str(label)) for label in fitted.labels.tolist()}
    return lambda margins: [words[label] for label in model.prediction_of(margins).tolist()]


def objects_of(model: "LinearModel") -> Lines:
    """Return what makes JSON objects of margins."""
    from thresher.estimators.classifier import probabilities_of
    from thresher.fitted import NO_LINK

    fitted = model.fitted_
    if fitted.labels is None:
        return lambda margins: [json_text({"prediction": one}) for one in margins[:, 0].tolist()]
    names = [str(label) for label in fitted.labels.tolist()]

    def lines(margins: "np.ndarray") -> list[str]:
        columns = {
            "label": model.prediction_of(margins).tolist(),
            "margin": _by_class(names, margins),
        }
        if fitted.link != NO_LINK:
            probabilities = probabilities_of(fitted.link, margins)
            columns["probability"] = _by_class(names, probabilities[:, -margins.shape[1] :])
        return [
            json_text(dict(zip(columns, row, strict=True)))
            for row in zip(*columns.values(), strict=True)
        ]

    return lines


def _numbers(numbers: "np.ndarray") -> list[str]:
    """Return numbers as the shortest text that reads as the same number, tabs between columns."""
    return ["\t".join(map(repr, row)) for row in numbers.tolist()]


def _by_class(names: list[str], numbers: "np.ndarray") -> list[Any]:
    """Return a number for each row, or one for each class."""
    if numbers.shape[1] == 1:
        return numbers[:, 0].tolist()
    return [dict(zip(names, row, strict=True)) for row in numbers.tolist()]
