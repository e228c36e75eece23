"""``thresher train``: from files to a model, stopped and resumed at will."""

import json
import shlex
import sys
import time
from typing import Any, NoReturn

import click

from thresher.cli.failing import INTERRUPTED, fails_well
from thresher.cli.parameters import (
    METHODS,
    label_from,
    parameter_options,
    parameters_from,
)
from thresher.cli.progress import Progress
from thresher.cli.reading import reading_from, reading_options
from thresher.cli.recipe import Recipe, absolute
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
@click.option("-o", "--output", metavar="MODEL", help="Where the model goes.")
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
@click.option("--checkpoint", metavar="PATH", help="Where to keep the state of training.")
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
        recipe, state = _read_checkpoint(resume)
    else:
        recipe, state = _recipe(options, given), None
    _run(recipe, state, as_json, quiet)


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
        classes=None if classes is None else [label_from(word) for word in classes.split(",")],
        cache=options["cache"],
        checkpoint=None if checkpoint is None else absolute(checkpoint),
        checkpoint_every=options["checkpoint_every"],
    )


def _read_checkpoint(path: str) -> tuple[Recipe, dict[str, Any] | None]:
    from thresher.files import container
    from thresher.files.tree import unpack

    tree = unpack(*container.read(path))
    if tree.get("kind") != "checkpoint":
        raise container.ModelFileError(
            f"{path} is a finished model, not a checkpoint: there is nothing to go on with."
        )
    return Recipe.from_tree(tree["recipe"]), tree["training"]


def _run(recipe: Recipe, state: dict[str, Any] | None, as_json: bool, quiet: bool) -> None:
    """Train to the end, or until somebody wants it to stop."""
    keeper = _Keeper(recipe)
    try:
        training = _training(recipe, state, quiet)
        if training.at_hand is not None:
            _learn_at_hand(training, quiet)
    except KeyboardInterrupt:
        _leave(recipe, None)
    if training.at_hand is None:
        _learn_in_chunks(training, recipe, keeper, quiet)
    training.estimator.save(recipe.output)
    keeper.forget()
    _tell(recipe, training, as_json, quiet)


def _learn_at_hand(training: Any, quiet: bool) -> None:
    """Learn few rows at once; whoever wants it to stop begins anew."""
    rows = f"{training.at_hand.labels.size:,} rows"
    say(f"All {rows} fit into memory: they are learnt from there.", quiet)
    with warnings_said(quiet):
        for _ in training.steps():
            pass


def _learn_in_chunks(training: Any, recipe: Recipe, keeper: "_Keeper", quiet: bool) -> None:
    """Learn chunk after chunk, keep the state now and then, and stop between two if asked to."""
    watch = Watch(quiet=quiet)
    with stopping() as stop, warnings_said(quiet):
        for chunk in training.steps():
            watch.learnt(training, len(chunk))
            keeper.keep_if_due(training)
            if stop.wanted:
                watch.close()
                _leave(recipe, training)
    watch.close()


def _training(recipe: Recipe, state: dict[str, Any] | None, quiet: bool) -> Any:
    """Return the training at its beginning, or where a checkpoint left it."""
    from thresher.estimators.checkpoint import names_in, training_from
    from thresher.estimators.streaming import StreamTraining, training_source

    def tell(message: str) -> None:
        say(message, quiet)

    estimator = recipe.estimator()
    if state is None and recipe.checkpoint:
        write_checkpoint(recipe, None)
    names = None if state is None else names_in(state)
    reading = dict(recipe.reading)
    with Progress("keeping rows", quiet=quiet) as progress:
        source = training_source(
            estimator, recipe.files, recipe.cache, reading, names, tell, progress.reach
        )
    if state is not None:
        return training_from(state, source)
    training = StreamTraining.begin(estimator, source, recipe.classes)
    decided = getattr(training.source, "decided", None)
    if decided:
        tell(decided)
    training.watched = True
    return training


def write_checkpoint(recipe: Recipe, training: Any) -> None:
    """Write recipe and state as one file, whole or not at all."""
    from thresher.estimators.checkpoint import training_tree
    from thresher.files import container
    from thresher.files.tree import pack

    state = None if training is None else training_tree(training)
    tree = {"kind": "checkpoint", "recipe": recipe.tree(), "training": state}
    container.write(str(recipe.checkpoint), *pack(tree))


class _Keeper:
    """Writes the checkpoint when it is due."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.last = time.monotonic()

    def keep_if_due(self, training: Any) -> None:
        due = time.monotonic() - self.last >= self.recipe.checkpoint_every
        if self.recipe.checkpoint and due:
            write_checkpoint(self.recipe, training)
            self.last = time.monotonic()

    def forget(self) -> None:
        """Remove the checkpoint of a training that has reached its end."""
        from pathlib import Path

        if self.recipe.checkpoint:
            Path(self.recipe.checkpoint).unlink(missing_ok=True)


def _leave(recipe: Recipe, training: Any) -> NoReturn:
    """Keep what there is, say how to go on, and end."""
    if recipe.checkpoint:
        if training is not None:  # else the checkpoint is still what it was
            write_checkpoint(recipe, training)
        words = f"thresher train --resume {shlex.quote(recipe.checkpoint)}"
        click.echo(f"Stopped. To go on: {words}", err=True)
    else:
        click.echo("Stopped; nothing is kept. With --checkpoint PATH it would be.", err=True)
    sys.exit(INTERRUPTED)


def _tell(recipe: Recipe, training: Any, as_json: bool, quiet: bool) -> None:
    """Say what was trained."""
    summary = training.summary()
    if as_json:
        click.echo(json.dumps({"model": recipe.output, **summary}))
        return
    skipped = training.source.skipped
    if skipped.count:
        say(f"{skipped.count:,} rows were left out. The first: {skipped.examples[0]}", quiet)
    features = f"{summary['features']:,} of {summary['width']:,} features"
    say(f"Wrote {recipe.output}: {features}, {summary['passes']} passes.", quiet)
    if summary["offsets"]:
        say(f"Offsets: {summary['offsets']}", quiet)
    if summary["units"]:
        say(f"Units: {summary['units']}", quiet)
    if summary["size"]:
        say(f"Size: {summary['size']}", quiet)
    if training.progressive.rows:
        say(f"First pass, each row before it was learnt: {training.progressive.words()}.", quiet)
