"""``thresher train``: from files to a model, stopped and resumed at will."""

import json
from typing import Any

import click

from thresher.cli.checkpoints import Keeper, read_checkpoint, refuse_existing
from thresher.cli.failing import fails_well
from thresher.cli.leaving import leave
from thresher.cli.output import writing
from thresher.cli.parameters import (
    METHODS,
    labels_from,
    parameter_options,
    parameters_from,
)
from thresher.cli.places import STANDARD
from thresher.cli.progress import Progress
from thresher.cli.reading import reading_from, reading_options
from thresher.cli.recipe import Recipe, absolute
from thresher.cli.skipping import say_skipped
from thresher.cli.stopping import stopping
from thresher.cli.watching import Watch
from thresher.cli.words import examples, json_option, quiet_option, say, warnings_said

WITH_RESUME = {"resume", "as_json", "quiet"}
UNITS = {"s": 1, "m": 60, "h": 3600}


class Duration(click.ParamType):
    """Seconds, or a number with s, m or h behind it."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the seconds."""
        if not isinstance(value, str):
            return float(value)
        number, unit = (value[:-1], value[-1]) if value[-1:] in UNITS else (value, "s")
        try:
            seconds = float(number) * UNITS[unit]
        except ValueError:
            seconds = -1.0
        if not 0 < seconds < float("inf"):
            self.fail(f"{value!r} is no length of time: write 30s, 5m or 1h")
        return seconds


@click.command(
    epilog=examples(
        "thresher train rows.svm -o spam.thresher",
        "thresher train 2026-*.csv.gz --label bought --n-features-to-select 200 -o shop.thresher",
        "thresher train ads.jsonl --label price --method thresher-regressor -o price.thresher",
        "zcat log.vw.gz | thresher train - --format vw --max-iter 1 -o today.thresher",
        "thresher train huge.svm -o huge.thresher --checkpoint huge.ckpt",
        "thresher train --resume huge.ckpt",
    )
)
@click.argument("files", nargs=-1)
@click.option("-o", "--output", metavar="MODEL", help="Where the model goes; - is standard output.")
@click.option(
    "--method", type=click.Choice(list(METHODS)), default="thresher", show_default=True,
    help="The algorithm; thresher-regressor learns numbers, all others classes.",
)  # fmt: skip
@reading_options
@click.option("--classes", metavar="A,B,...", help="All labels, if the first rows do not show all.")
@click.option(
    "--cache/--no-cache", default=True, show_default=True,
    help="Keep a text file that is read more than once as binary shards beside it.",
)  # fmt: skip
@click.option(
    "--checkpoint", metavar="PATH", help="Where to keep the state of training: a file of its own."
)
@click.option(
    "--checkpoint-every", type=Duration(), default="30s", show_default=True,
    help="How often the checkpoint is written.",
)  # fmt: skip
@click.option("--resume", metavar="PATH", help="Go on from a checkpoint; nothing else is needed.")
@parameter_options
@json_option("Print what was trained as JSON.")
@quiet_option
@click.pass_context
@fails_well
def train(ctx: click.Context, resume: str | None, **options: Any) -> None:
    """Train a model on FILE... (- is standard input) and write it to MODEL.

    Formats are svmlight, Vowpal Wabbit, JSON lines, CSV, TSV, labelled text, Parquet, Arrow and
    shards, the text ones also compressed (.gz, .bz2, .xz, .zst). Memory follows the features, not
    the rows.
    """
    given, as_json, quiet = _given(ctx), options.pop("as_json"), options.pop("quiet")
    if resume is not None:
        _refuse_others(given)
        recipe, state = read_checkpoint(resume)
    else:
        recipe, state = _recipe(options, given), None
        if recipe.checkpoint:
            refuse_existing(recipe.checkpoint)
    if as_json and recipe.output == STANDARD:
        raise click.UsageError("--json and -o - both go to standard output: name a file with -o.")
    _run(recipe, state, Keeper(recipe, resume is not None, state is not None), as_json, quiet)


def _given(ctx: click.Context) -> set[str]:
    """Return the options and arguments that were on the command line."""
    default = click.core.ParameterSource.DEFAULT
    return {name for name in ctx.params if ctx.get_parameter_source(name) != default}


def _refuse_others(given: set[str]) -> None:
    others = sorted(given - WITH_RESUME)
    if others:
        words = ", ".join("FILE" if name == "files" else f"--{name}" for name in others)
        raise click.UsageError(
            f"--resume goes on exactly as the checkpoint says; leave out {words.replace('_', '-')}."
        )


def _recipe(options: dict[str, Any], given: set[str]) -> Recipe:
    """Return what the command line says."""
    if not options["files"]:
        raise click.UsageError("Name a file to train on, or - for standard input.")
    if not options["output"]:
        raise click.UsageError("Name the model to write: -o MODEL.")
    reading = reading_from(options, options["files"])
    parameters = parameters_from(options, given)
    classes, checkpoint = options["classes"], options["checkpoint"]
    return Recipe(
        files=[absolute(path) for path in options["files"]],
        output=absolute(options["output"]),
        method=options["method"],
        parameters=parameters,
        reading=reading,
        classes=None if classes is None else labels_from(classes.split(",")),
        cache=options["cache"],
        checkpoint=None if checkpoint is None else absolute(checkpoint),
        checkpoint_every=options["checkpoint_every"],
    )


def _run(
    recipe: Recipe, state: dict[str, Any] | None, keeper: Keeper, as_json: bool, quiet: bool
) -> None:
    """Train to the end, or until somebody wants it to stop."""
    training: Any = None  # until there is something to keep
    with keeper.leaving_nothing_empty():
        try:
            with warnings_said(quiet):
                training = _training(recipe, state, keeper, quiet)
            if training.at_hand is not None:
                _learn_at_hand(training, quiet)
        except KeyboardInterrupt:
            leave(keeper, training)
        if training.at_hand is None:
            _learn_in_chunks(training, keeper, quiet)
    _write_model(training.estimator, recipe.output)
    keeper.forget()
    _tell(recipe, training, as_json, quiet)


def _write_model(estimator: Any, path: str) -> None:
    """Write what ``save`` would, also to standard output and to devices."""
    from thresher.estimators.storing.saving import bytes_of

    with writing(path) as stream:
        stream.write(bytes_of(estimator))


def _learn_at_hand(training: Any, quiet: bool) -> None:
    """Learn few rows at once; whoever wants it to stop begins anew."""
    rows = f"{training.at_hand.labels.size:,} rows"
    say(f"All {rows} fit into memory: they are learnt from there.", quiet)
    with warnings_said(quiet):
        for _ in training.steps():
            pass


def _learn_in_chunks(training: Any, keeper: Keeper, quiet: bool) -> None:
    """Learn chunk after chunk, keep the state now and then, and stop between two if asked to."""
    watch = Watch(quiet=quiet)
    with stopping() as stop, warnings_said(quiet):
        for chunk in training.steps():
            watch.learnt(training, len(chunk))
            keeper.keep_if_due(training)
            if stop.wanted:
                watch.close()
                leave(keeper, training)
    watch.close()


def _training(recipe: Recipe, state: dict[str, Any] | None, keeper: Keeper, quiet: bool) -> Any:
    """Return the training at its beginning, or where a checkpoint left it."""
    from thresher.estimators.storing.checkpoint import names_in, training_from
    from thresher.estimators.streaming import StreamTraining, training_source

    def tell(message: str) -> None:
        say(message, quiet)

    estimator = recipe.estimator()
    names = None if state is None else names_in(state)
    reading = dict(recipe.reading)
    with Progress("keeping rows", quiet=quiet) as progress:
        source = training_source(
            estimator, recipe.files, recipe.cache, reading, names, tell, progress.reach
        )
    if state is not None:
        return training_from(state, source)
    if not source.rewinds:
        recipe.refuse_checkpoint_of("A pipe")
    keeper.begin()
    training = StreamTraining.begin(estimator, source, recipe.classes)
    decided = getattr(training.source, "decided", None)
    if decided:
        tell(decided)
    training.watched = True
    return training


def _tell(recipe: Recipe, training: Any, as_json: bool, quiet: bool) -> None:
    """Say what was trained."""
    summary = training.summary()
    say_skipped(training.source)
    if as_json:
        click.echo(json.dumps({"model": recipe.output, **summary}))
        return
    features = f"{summary['features']:,} of {summary['width']:,} features"
    model = "the model to standard output" if recipe.output == STANDARD else recipe.output
    passes = "1 pass" if summary["passes"] == 1 else f"{summary['passes']:,} passes"
    say(f"Wrote {model}: {features}, {passes}.", quiet)
    for name in ("values", "rarity", "offsets", "units", "steps", "size"):
        if summary[name]:
            say(f"{name.capitalize()}: {summary[name]}", quiet)
    if training.progressive.rows:
        say(f"First pass, each row before it was learnt: {training.progressive.words()}.", quiet)
