"""``thresher predict``: a line for every row, in their order."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from thresher.cli import files as at
from thresher.cli import options as opt
from thresher.cli.screen import Progress, json_text, noting_warnings, printable

if TYPE_CHECKING:
    import numpy as np

    from thresher.estimators.base import LinearModel

Lines = Callable[["np.ndarray"], list[str]]  # of margins, which have a column per output


@opt.command(
    "Predict rows: a line for each.",
    "thresher predict spam.thresher new.svm > labels.txt",
    "zcat new.svm.gz | thresher predict spam.thresher - --what probability",
    "thresher predict spam.thresher day*.svm.zst -o margins.txt --what margin",
    "thresher predict spam.thresher new.jsonl --json | jq .label",
)
@opt.model
@opt.files
@opt.output("FILE", "Write here.  [default: standard output]", required=False)
@opt.force
@opt.option("--what", type=click.Choice(["label", "margin", "probability"]), section=opt.OUTPUT,
            help="What to write of each row.  [default: label]")  # fmt: skip
@opt.as_json("Write a JSON object for each row: label, margin and probability.")
@opt.allow_no_features
@opt.reading
@opt.quiet
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
    reading = {**opt.reading_from(options), "ignore_labels": True}
    if what and as_json:
        raise click.UsageError("--json writes all that --what can choose: leave --what out.")
    at.check_outputs({"-o": output or at.STANDARD}, [model, *files], force)
    at.refuse_unreadable(files)
    from thresher.estimators.saving import load
    from thresher.estimators.scores import Margins
    from thresher.estimators.streaming import prediction_source

    fitted = load(model)
    lines = _objects(fitted) if as_json else _lines(fitted, what or "label")
    source = prediction_source(fitted, files, **reading)
    predicted, no_bar = Margins(fitted, source), quiet or at.shown_on_terminal(output)
    with (
        at.writing(output) as stream,
        noting_warnings(quiet),
        Progress("predicting", no_bar) as bar,
    ):
        for _, margins in predicted:
            stream.write("".join(f"{line}\n" for line in lines(margins)).encode())
            bar.reach(predicted.rows)
        at.refuse_unknown(predicted.warning(), allow_no_features)
    at.note_skipped(source)


def _lines(model: "LinearModel", what: str) -> Lines:
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
        return lambda margins: _numbers(
            probabilities_of(fitted.link, margins)[:, -fitted.n_outputs :]
        )
    if what == "margin" or fitted.labels is None:
        return _numbers
    words = {label: printable(str(label)) for label in fitted.labels.tolist()}
    return lambda margins: [words[label] for label in model.prediction_of(margins).tolist()]


def _objects(model: "LinearModel") -> Lines:
    """Return what makes JSON objects of margins."""
    from thresher.estimators.classifier import probabilities_of
    from thresher.fitted import NO_LINK

    fitted = model.fitted_
    if fitted.labels is None:
        return lambda margins: [json_text({"prediction": one}) for one in margins[:, 0].tolist()]
    classes = [str(label) for label in fitted.labels.tolist()]

    def by_class(numbers: "np.ndarray") -> list[Any]:
        rows = numbers[:, -fitted.n_outputs :].tolist()
        single = fitted.n_outputs == 1
        return [row[0] if single else dict(zip(classes, row, strict=True)) for row in rows]

    def lines(margins: "np.ndarray") -> list[str]:
        columns = {"label": model.prediction_of(margins).tolist(), "margin": by_class(margins)}
        if fitted.link != NO_LINK:
            columns["probability"] = by_class(probabilities_of(fitted.link, margins))
        rows = zip(*columns.values(), strict=True)
        return [json_text(dict(zip(columns, row, strict=True))) for row in rows]

    return lines


def _numbers(numbers: "np.ndarray") -> list[str]:
    """Return numbers as the shortest text that reads as the same number, tabs between columns."""
    return ["\t".join(map(repr, row)) for row in numbers.tolist()]
