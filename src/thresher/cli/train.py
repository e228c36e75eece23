"""``thresher train``: from files to a model, stopped and resumed at will."""

import os
import sys
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

import thresher
from thresher.cli import ENDED_BY, Interrupted, handling, interruptible
from thresher.cli.checkpoint import Keeper, Recipe, Tree, absolute, read_checkpoint, resuming
from thresher.cli.evaluate import evaluate_rows, lines_of
from thresher.cli.failing import WrongModel
from thresher.cli.files import (
    STANDARD,
    note_decided,
    note_skipped,
    path_of,
    refuse_terminal,
    writing,
)
from thresher.cli.inspect import path_lines
from thresher.cli.options import (
    METHODS,
    OUTPUT,
    TRAINING,
    Command,
    examples,
    force_option,
    json_option,
    labels_from,
    option,
    parameter_options,
    quiet_option,
    reading_from,
    reading_options,
)
from thresher.cli.screen import Progress, json_text, noting_warnings, say

if TYPE_CHECKING:
    from thresher.estimators.learning import OnlineModel
    from thresher.estimators.streaming import StreamTraining
    from thresher.formats.protocol import Source

DEFAULT = "thresher"
WITH_RESUME = {"resume", "as_json", "quiet", "force", "sizes"}
PARAMETERS = "thresher.parameters"  # options of the method, in a context
UNITS = {"s": 1, "m": 60, "h": 3600}


class TrainCommand(Command):
    """A command that has the options of a method, read from its declaration when needed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; the method's options are known if any of them may be there."""
        known = {name for one in self.params for name in (*one.opts, *one.secondary_opts)}
        words = [word.partition("=")[0] for word in args]
        if not ctx.resilient_parsing and any(w[:1] == "-" and w not in known for w in words[:]):
            self._load(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            _refuse_option(error, method_in(args))
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command, and of the method if they are known."""
        return [*super().get_params(ctx), *ctx.meta.get(PARAMETERS, [])]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete options of the method as well."""
        if incomplete.startswith("--"):
            self._load(ctx, [f"--method={ctx.params.get('method') or DEFAULT}"])
        return super().shell_complete(ctx, incomplete)

    def _load(self, ctx: click.Context, args: list[str]) -> None:
        method = method_in(args)
        if method in METHODS:
            ctx.meta[PARAMETERS] = parameter_options(method)


def method_in(args: list[str]) -> str:
    """Return the method that words name, or that of the model from which training goes on."""
    pairs = list(zip(args, [*args[1:], ""], strict=True))
    pairs += [(name, value) for name, _, value in (word.partition("=") for word in args)]
    for name, value in pairs:
        if name in ("-i", "--initial") and os.path.isfile(value):
            return method_of(value)
    return next((value for name, value in pairs if name == "--method" and value), DEFAULT)


def method_of(path: str) -> str:
    """Return the method of a model's file; the default if it cannot be read."""
    from thresher.files import container
    from thresher.files.errors import ModelFileError

    try:
        name = container.read(path)[0].get("class")
    except ModelFileError:
        return DEFAULT
    return next((method for method, estimator in METHODS.items() if estimator == name), DEFAULT)


def _refuse_option(error: click.NoSuchOption, method: str) -> None:
    """Raise which methods have an option, if others do."""
    others = [
        other
        for other in METHODS
        if any(error.option_name in (*one.opts, *one.secondary_opts)
               for one in parameter_options(other))
    ]  # fmt: skip
    if others and method in METHODS:
        raise click.UsageError(
            f"{error.option_name} is no parameter of the method {method}. It is one of "
            f"{', '.join(others)}: choose with --method.",
            error.ctx,
        ) from None


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
            self.fail(f"{value!r} is no duration: write 30s, 5m or 1h", param, ctx)
        return seconds


@click.command(
    cls=TrainCommand,
    short_help="Train a model on rows.",
    epilog=examples(
        "thresher train rows.svm -o spam.thresher",
        "thresher train day*.csv.gz --label bought --holdout .2 -o shop.thresher",
        "thresher train ads.jsonl --label price --method thresher-regressor -o price.thresher",
        "zcat log.vw.gz | thresher train - --format vw --method ftrl --l1 2 -o today.thresher",
        "thresher train huge.svm -o huge.thresher --checkpoint huge.ckpt",
        "thresher train --resume huge.ckpt",
    )
    + "\n\nEach method has parameters of its own, which thresher train --method ftrl --help shows.",
)
@click.argument("files", nargs=-1, metavar="FILE...")
@option("-o", "--output", metavar="MODEL", section=OUTPUT,
        help="Where the model goes; - is standard output.")  # fmt: skip
@force_option
@option("--keep-state", is_flag=True, section=OUTPUT,
        help="Keep in MODEL what training needs to go on from it (-i).")  # fmt: skip
@option("--method", type=click.Choice(list(METHODS)), help=f"The method.  [default: {DEFAULT}]",
        section=TRAINING)  # fmt: skip
@option("-i", "--initial", metavar="MODEL", section=TRAINING,
        help="Go on from a model that was trained with --keep-state.")  # fmt: skip
@option("--classes", metavar="A,B,...", section=TRAINING,
        help="All labels, if the first rows do not have them all.")  # fmt: skip
@option("--test", multiple=True, metavar="FILE", section=TRAINING,
        help="Evaluate the model by these rows; may be repeated.")  # fmt: skip
@option("--holdout", type=click.FloatRange(0, 1, min_open=True, max_open=True), section=TRAINING,
        metavar="SHARE", help="Evaluate it by a random share of the rows, held out.")  # fmt: skip
@option("--sizes", is_flag=True, section=TRAINING,
        help="Print how well the models of all sizes predict held-out rows.")  # fmt: skip
@option("--cache/--no-cache", default=True, section=TRAINING, show_default=True,
        help="Keep large text in the cache in binary form, to read it again.")  # fmt: skip
@option("--checkpoint", metavar="FILE", section=TRAINING,
        help="Keep the state of training in a file of its own.")  # fmt: skip
@option("--checkpoint-every", type=Duration(), default="30s", show_default=True, section=TRAINING,
        help="How often that is written.")  # fmt: skip
@option("--resume", metavar="FILE", section=TRAINING,
        help="Go on from a checkpoint; nothing else is needed.")  # fmt: skip
@reading_options
@json_option("Print what was trained as a JSON object.")
@quiet_option
@click.pass_context
def train(
    ctx: click.Context, as_json: bool, quiet: bool, resume: str | None, sizes: bool, **options: Any
) -> None:
    """Train a model on FILEs (- is standard input) and write it to MODEL.

    Text may be compressed (.gz, .bz2, .xz, .zst). Files may be larger than memory. The same files
    and options give the same model, to the last bit.
    """
    if resume is None:
        recipe, state = recipe_from(ctx, options), None
    else:
        _refuse_with_resume(ctx)
        recipe, state = read_checkpoint(resume)
        recipe = replace(recipe, force=recipe.force or options["force"])
    if as_json and recipe.output == STANDARD:
        raise click.UsageError("--json and -o - both go to standard output: name a file with -o.")
    refuse_terminal(recipe.output)
    recipe.check(going_on=resume is not None)
    keeper = Keeper(recipe, resume is not None, state)
    with keeper.leaving_nothing_empty():
        training = learned(recipe, state, keeper, quiet)
    path = path_of(training.model) if sizes else None
    figures = finish(recipe, training, quiet)
    keeper.forget()
    if as_json:
        facts = {"model": recipe.output, **training.summary(), "evaluation": figures}
        click.echo(json_text(facts))
    if path is not None:
        say("\n".join(path_lines(path)), quiet)


# ------------------------------------------------------------------------------ what is asked for


def recipe_from(ctx: click.Context, options: Tree) -> Recipe:
    """Return what the command line asks for."""
    if not options["files"]:
        raise click.UsageError("Name a file to train on, or - for standard input.")
    if not options["output"]:
        raise click.UsageError("Name the model to write: -o MODEL.")
    reading = reading_from(options)
    names = [one.name for one in ctx.meta.get(PARAMETERS, [])]
    parameters = {name: options[name] for name in names if options[name] is not None}
    initial, classes = options["initial"], options["classes"]
    if initial is None:
        parameters.setdefault("random_state", 0)
    elif options["method"] or classes:
        other = "--method" if options["method"] else "--classes"
        raise click.UsageError(f"-i goes on with what MODEL has: leave {other} out.")
    return Recipe(
        files=[absolute(path) for path in options["files"]],
        output=absolute(options["output"]),
        method=options["method"] or DEFAULT,
        parameters=parameters,
        reading=reading,
        classes=None if classes is None else labels_from(classes.split(",")),
        initial=None if initial is None else absolute(initial),
        test=[absolute(path) for path in options["test"]],
        checkpoint=None if options["checkpoint"] is None else absolute(options["checkpoint"]),
        **{
            name: options[name]
            for name in ("holdout", "cache", "keep_state", "checkpoint_every", "force")
        },
    )


def _refuse_with_resume(ctx: click.Context) -> None:
    default = click.core.ParameterSource.DEFAULT
    given = {name for name in ctx.params if ctx.get_parameter_source(name) != default}
    others = sorted(given - WITH_RESUME)
    if others:
        words = ", ".join(
            "FILE" if name == "files" else f"--{name.replace('_', '-')}" for name in others
        )
        raise click.UsageError(f"--resume goes on as the checkpoint was begun: leave out {words}.")


# --------------------------------------------------------------------------------------- learning


def learned(
    recipe: Recipe, state: Tree | None, keeper: Keeper, quiet: bool
) -> "StreamTraining":
    """Return a training at its end; signals end the program, with a checkpoint if there is one."""
    try:
        with interruptible(), noting_warnings(quiet):
            training = _opened(recipe, state, keeper, quiet)
    except Interrupted as signal:
        _stop(keeper, None, signal.code)
    stop = Stop()
    with Progress("training", quiet) as progress, noting_warnings(quiet), handling(stop):
        for chunk in training.steps():
            progress.add(len(chunk), training.share_done(), _more(training))
            keeper.keep_if_due(training)
            if stop.number:
                _stop(keeper, training, ENDED_BY + stop.number)
    return training


class Stop:
    """Remembers the first signal, to end when everything is in order; the second ends at once."""

    number = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if self.number:
            raise Interrupted(number)
        self.number = number


def _more(training: "StreamTraining") -> str:
    """Return what a bar shows beside rows: the pass, and in the first one the error so far."""
    error = training.progressive_error if training.passes == 0 else None
    classes = hasattr(training.model, "classes_")
    words = "" if error is None else f", error {error:.2%}" if classes else f", RMSE {error:.4g}"
    return f", pass {training.passes + 1}{words}"


def _opened(
    recipe: Recipe, state: Tree | None, keeper: Keeper, quiet: bool
) -> "StreamTraining":
    """Return a training at its beginning, or where a checkpoint left it."""
    from thresher.estimators.streaming import StreamTraining, names_in, training_source
    from thresher.formats.blocks import InputFiles
    from thresher.formats.holdout import HeldOut

    if recipe.test:
        InputFiles(recipe.test).check()
    model, names = _model(recipe)
    names = names if state is None else names_in(state)
    with Progress("keeping rows", quiet) as progress:
        source: Source = training_source(
            model,
            recipe.files,
            recipe.cache,
            recipe.reading,
            names,
            lambda message: say(message, quiet),
            progress.reach,
        )
    if not source.rewinds:
        recipe.check_rewinds("A pipe")
    if recipe.holdout:
        source = HeldOut(source, recipe.holdout, _seed(recipe), held=False)
    if state is not None:
        return StreamTraining.from_tree(state, source)
    keeper.begin()
    if recipe.initial is not None:
        return StreamTraining(model, source, watched=True)
    training = StreamTraining.begin(model, source, recipe.classes, watched=True)
    note_decided(training.source, quiet)
    return training


def _model(recipe: Recipe) -> "tuple[OnlineModel, Any]":
    """Return a model to train, and the names of columns that it knows."""
    if recipe.initial is None:
        return getattr(thresher, METHODS[recipe.method])(**recipe.parameters), None
    from thresher.estimators.saving import model_from, training_names
    from thresher.files.container import naming
    from thresher.files.tree import read_tree

    read = read_tree(recipe.initial)
    with naming(recipe.initial):
        model = model_from(read)
    if read.get("training") is None:
        raise WrongModel(
            f"{recipe.initial} has only what prediction needs. To go on from a model, train it "
            "with --keep-state."
        )
    vars(model).pop("provenance_", None)  # that of the model it was before
    return model.set_params(**recipe.parameters), training_names(read["training"])


def _seed(recipe: Recipe) -> int:
    return int(recipe.parameters.get("random_state", 0))


def _stop(keeper: Keeper, training: "StreamTraining | None", code: int) -> NoReturn:
    """Keep the state if a checkpoint is wanted, print how to go on, and end."""
    if training is not None:
        keeper.keep(training)
    path = keeper.recipe.checkpoint
    if path and keeper.begun:
        say(f"Stopped. Go on with: {resuming(path)}")
    elif training is None:
        say("Stopped, before anything was learned.")
    elif training.source.rewinds:
        say("Stopped, and nothing is kept. With --checkpoint FILE it would be.")
    else:
        say("Stopped, and nothing is kept: what comes through a pipe cannot be read again.")
    sys.exit(code)


# ------------------------------------------------------------------------------------- afterwards


def finish(recipe: Recipe, training: "StreamTraining", quiet: bool) -> Tree | None:
    """Evaluate the model, write it whatever comes of that, and print how it is."""
    note_skipped(training.source)
    figures = None
    try:
        figures = _figures(recipe, training.model, quiet)
    finally:
        _write(recipe, training.model, figures)
        _summarize(recipe, training, quiet)
    if figures is not None:
        say(f"Evaluated by {figures['of']}:", quiet)
        say("\n".join(f"  {line}" for line in lines_of(figures)), quiet)
    return figures


def _figures(recipe: Recipe, model: "OnlineModel", quiet: bool) -> Tree | None:
    """Return how well a model predicts other rows than those of its training, if that is asked."""
    if not (recipe.test or recipe.holdout):
        return None
    from thresher.estimators.streaming import prediction_source
    from thresher.formats.holdout import HeldOut

    files = recipe.test or recipe.files
    source: Source = prediction_source(model, files, labelled=True, **recipe.reading)
    of = ", ".join(map(os.path.basename, files))
    if recipe.holdout:
        source = HeldOut(source, recipe.holdout, _seed(recipe), held=True)
        of = f"{recipe.holdout:.3g} of {of}, held out"
    figures, unknown = evaluate_rows(model, source, quiet)
    if unknown.warning():
        say(f"Warning: {unknown.warning()}", quiet)
    if recipe.test:
        note_skipped(source)
    return {"of": of, **figures}


def _write(recipe: Recipe, model: "OnlineModel", figures: Tree | None) -> None:
    """Write the model, also to standard output and to devices."""
    from thresher.estimators.saving import model_tree
    from thresher.files.tree import dumps

    about: Tree = {"files": [os.path.basename(path) for path in recipe.files]}
    if figures is not None:
        about["evaluation"] = figures
    data = dumps(model_tree(model, recipe.keep_state, about))
    with writing(recipe.output) as stream:
        stream.write(data)


def _summarize(recipe: Recipe, training: "StreamTraining", quiet: bool) -> None:
    """Print what was trained."""
    found = training.summary()
    where = "the model to standard output" if recipe.output == STANDARD else recipe.output
    passes = "1 pass" if found["passes"] == 1 else f"{found['passes']:,} passes"
    features = f"{found['features']:,} features of {found['width']:,} columns"
    say(f"Wrote {where}: {features}, {found['rows']:,} rows, {passes}.", quiet)
    error = found["progressive_error"]
    if error is not None:
        classes = hasattr(training.model, "classes_")
        words = f"{100 * error:.2f} % wrong" if classes else f"RMSE {error:.4g}"
        say(f"In the first pass, each row before it was learned: {words}.", quiet)
