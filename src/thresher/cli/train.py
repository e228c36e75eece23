"""``thresher train``: from files to a model, stopped and resumed at will."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import click

from thresher.cli import options as opt
from thresher.cli.checkpoint import Keeper, Recipe, read_checkpoint
from thresher.cli.files import STANDARD, path_of, refuse_terminal
from thresher.cli.inspect import path_lines, path_tree
from thresher.cli.learning import finish, learn
from thresher.cli.options import METHODS, OUTPUT, TRAINING
from thresher.cli.screen import json_text, say

DEFAULT = "thresher"
WITH_RESUME = {"resume", "as_json", "quiet", "force"}
PARAMETERS = "thresher.parameters"  # options of the method, in a context
SHARE, TIME = click.FloatRange(0, 1, True, True), click.FloatRange(0, min_open=True)

option = partial(opt.option, section=TRAINING)


class TrainCommand(opt.Command):
    """A command that has the options of a method, read from its declaration when needed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; the method's options are known if any of them may be there."""
        known = {name for one in self.params for name in (*one.opts, *one.secondary_opts)}
        words = [word.partition("=")[0] for word in args]
        method = method_in(args)
        others = any(word[:1] == "-" != word and word not in known for word in words)
        if method in METHODS and (others or (ctx.resilient_parsing and "--method" in words)):
            ctx.meta[PARAMETERS] = opt.parameter_options(method)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            _name_methods(error, method)
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters of the command, and of the method if they are known."""
        return [*super().get_params(ctx), *ctx.meta.get(PARAMETERS, [])]


def method_in(args: list[str]) -> str:
    """Return the method that a command line names, or that of the model to go on from."""
    words = [part for word in args for part in word.split("=", 1)]
    given = dict(pairwise(words))
    model = given.get("-i", given.get("--initial"))
    return given.get("--method") or (_method_of(model) if model else None) or DEFAULT


def _method_of(model: str) -> str | None:
    """Return the method of a model's file, None if that cannot be known."""
    from thresher.files import ModelFileError
    from thresher.files.tree import read_tree

    try:
        found = read_tree(model).get("estimator")
    except (ModelFileError, OSError):
        return None
    return next((name for name, estimator in METHODS.items() if estimator == found), None)


def _name_methods(error: click.NoSuchOption, method: str) -> None:
    """Raise which methods have an option, if any has."""
    able = [
        other
        for other in METHODS
        for one in opt.parameter_options(other)
        if error.option_name in (*one.opts, *one.secondary_opts)
    ]
    if able and method in METHODS:
        raise click.UsageError(
            f"{error.option_name} is no parameter of the method {method}, but of "
            f"{', '.join(able)}: choose one of them with --method.",
            error.ctx,
        ) from None


@opt.command(
    "Train a model on rows.",
    "thresher train rows.svm -o spam.thresher",
    "thresher train day*.csv.gz --label bought --holdout .2 -o shop.thresher",
    "thresher train ads.jsonl --label price --method thresher-regressor -o price.thresher",
    "zcat log.vw.gz | thresher train - --format vw --method ftrl --l1 2 -o today.thresher",
    "thresher train huge.svm -o huge.thresher --checkpoint huge.ckpt",
    "thresher train --resume huge.ckpt",
    "thresher train --method ftrl --help    # shows the parameters of that method",
    cls=TrainCommand,
)
@click.argument("files", nargs=-1, metavar="FILE...")
@opt.output("MODEL", "Where the model goes; - is standard output.", required=False)
@opt.force
@opt.option("--keep-state", is_flag=True, section=OUTPUT, help="Make a model to go on from (-i).")
@option("--method", type=click.Choice(list(METHODS)), help=f"The method.  [default: {DEFAULT}]")
@option("-i", "--initial", metavar="MODEL", help="Go on from a model made with --keep-state.")
@option("--classes", metavar="A,B,...", help="All labels, if the first rows lack some.")
@option("--test", multiple=True, metavar="FILE", help="Evaluate the model by these rows as well.")
@option("--holdout", metavar="SHARE", type=SHARE, help="The same by a share of the rows, held out.")
@option("--sizes", is_flag=True, help="Print how well the models of all sizes predict.")
@option("--cache/--no-cache", default=True, help="Keep large text in binary form.  [default: yes]")
@option("--checkpoint", metavar="FILE", help="Keep the state of training in a file of its own.")
@option("--checkpoint-every", metavar="SECONDS", type=TIME, default=30, help="How often.  [30]")
@option("--resume", metavar="FILE", help="Go on from a checkpoint; nothing else is needed.")
@opt.reading
@opt.as_json("Print what was trained as a JSON object.")
@opt.quiet
@click.pass_context
def train(
    ctx: click.Context, as_json: bool, quiet: bool, resume: str | None, **options: Any
) -> None:
    """Train a model on FILEs (- is standard input) and write it to MODEL.

    Text may be compressed (.gz, .bz2, .xz, .zst), and larger than memory. What comes through a pipe
    is learned in one pass. The same files and options give the same model, to the last bit.
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
    keeper = Keeper(recipe, resume is not None)
    training = learn(recipe, state, keeper, quiet)
    figures = finish(recipe, training, quiet)
    keeper.forget()
    facts = {"model": recipe.output, **training.summary(), "evaluation": figures}
    if recipe.sizes:
        path = path_of(training.model)
        facts["path"] = path_tree(path)
        say("\n".join(path_lines(path)), quiet)
    if as_json:
        click.echo(json_text(facts))


def recipe_from(ctx: click.Context, options: dict[str, Any]) -> Recipe:
    """Return what the command line asks for."""
    if not options["files"]:
        raise click.UsageError("Name a file to train on, or - for standard input.")
    if not options["output"]:
        raise click.UsageError("Name the model to write: -o MODEL.")
    reading = opt.reading_from(options)
    taken = {one.name: options.pop(one.name) for one in ctx.meta.get(PARAMETERS, [])}
    parameters = {name: value for name, value in taken.items() if value is not None}
    classes = options.pop("classes")
    if options["initial"] is None:
        parameters.setdefault("random_state", 0)
        options["method"] = options["method"] or DEFAULT
    elif classes:
        raise click.UsageError("-i goes on with the classes of MODEL: leave --classes out.")
    else:
        options["cache"] = False  # which reads tables by their own first rows, not as MODEL does
    return Recipe(
        parameters=parameters,
        reading=reading,
        classes=None if classes is None else opt.labels_from(classes.split(",")),
        seed=parameters.get("random_state") or 0,
        **{**options, "method": options["method"] or ""},
    )


def _refuse_with_resume(ctx: click.Context) -> None:
    default = click.core.ParameterSource.DEFAULT
    others = [
        one.opts[0] if isinstance(one, click.Option) else "FILE"
        for one in ctx.command.get_params(ctx)
        if ctx.get_parameter_source(one.name or "") not in (None, default)
        and one.name not in WITH_RESUME
    ]
    if others:
        raise click.UsageError(
            f"--resume goes on as the checkpoint was begun: leave out {', '.join(others)}."
        )
