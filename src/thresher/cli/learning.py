"""Training as the command line runs it: with a bar, checkpoints and signals, to a model's file."""

import os
import sys
from contextlib import nullcontext
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

import click

import thresher
from thresher.cli import ENDED_BY, Interrupted, handling, interrupt
from thresher.cli.checkpoint import Keeper, Recipe, Tree
from thresher.cli.evaluate import evaluate_rows, lines_of
from thresher.cli.failing import WrongModel
from thresher.cli.files import STANDARD, note_decided, note_skipped, writing
from thresher.cli.options import METHODS
from thresher.cli.screen import Progress, noting_warnings, say

if TYPE_CHECKING:
    from thresher.estimators.learning import OnlineModel
    from thresher.estimators.streaming import SourceTraining
    from thresher.formats.names import Names
    from thresher.formats.protocol import Source


class Stop:
    """Remembers the first signal, to end when everything is in order; the second ends at once."""

    number = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if self.number:
            raise Interrupted(number)
        self.number = number


def learn(recipe: Recipe, state: Tree | None, keeper: Keeper, quiet: bool) -> "SourceTraining":
    """Return a training at its end; signals end the program, with a checkpoint if there is one."""
    from thresher.estimators.streaming import StreamTraining

    stop, stream = Stop(), None
    try:
        with handling(interrupt), noting_warnings(quiet):
            training = _begun(recipe, state, quiet)
            stream = training if isinstance(training, StreamTraining) else None
            with Progress("training", quiet) as bar, handling(stop) if stream else nullcontext():
                for chunk in training.steps(partial(bar.show, "features", doing="selecting")):
                    bar.reach(bar.rows + len(chunk), training.share_done(), _more(training))
                    if stream is not None:
                        keeper.keep_if_due(stream)
                    if stop.number:
                        break
                if stop.number and stream is not None:
                    keeper.keep(stream)
    except Interrupted as signal:
        stop.number = signal.number
    if stop.number:
        say(f"Stopped. {keeper.hint()}" if stream else "Stopped. Nothing is kept.")
        sys.exit(ENDED_BY + stop.number)
    return training


def _more(training: "SourceTraining") -> str:
    """Return what a bar shows besides rows: the pass, and in the first one the error so far."""
    error = training.progressive_error if training.passes == 0 else None
    return f", pass {training.passes + 1}{_error(', ', training.model, error)}"


def _error(before: str, model: "OnlineModel", error: float | None) -> str:
    if error is None:
        return ""
    return before + (f"error {error:.2%}" if hasattr(model, "classes_") else f"RMSE {error:.4g}")


def _begun(recipe: Recipe, state: Tree | None, quiet: bool) -> "SourceTraining":
    """Return a training that has just begun, or is where a checkpoint left it."""
    from thresher.estimators.streaming import StreamTraining, training_source
    from thresher.formats.holdout import HeldOut

    model, names = _model(recipe, state)
    files, reading = list(recipe.files), recipe.reading
    with Progress("keeping rows", quiet) as bar:
        source: Source = training_source(
            model, files, recipe.cache, reading, names, lambda note: say(note, quiet), bar.reach
        )
    if not source.rewinds:
        recipe.check_rewinds("A pipe")
    if recipe.holdout:
        source = HeldOut(source, recipe.holdout, recipe.seed, held=False)
    if state is not None:
        return StreamTraining.from_tree(state, source)
    if recipe.initial is not None:
        return StreamTraining(model, source, watched=True)
    begin = partial(StreamTraining.begin, model) if recipe.keep_state else model.start_training
    training: SourceTraining = begin(source, recipe.classes, watched=True)
    if recipe.checkpoint and not training.can_stop:
        raise click.UsageError(
            f"--checkpoint: the method {recipe.method} selects by all rows together, and has no "
            "state before. Leave --checkpoint out, or learn each row in turn with --keep-state."
        )
    if recipe.sizes and training.can_stop:
        raise click.UsageError(
            "--sizes is for the methods thresher and thresher-regressor, of rows that can be read "
            "more than once: leave it out."
        )
    note_decided(training.source, quiet)
    return training


def _model(recipe: Recipe, state: Tree | None) -> "tuple[OnlineModel, Names | None]":
    """Return a model to train, and the names of columns that it knows."""
    if state is None and recipe.initial is None:
        return getattr(thresher, METHODS[recipe.method])(**recipe.parameters), None
    from thresher.estimators.saving import model_from
    from thresher.files.container import naming
    from thresher.files.tree import read_tree

    path = str(recipe.initial or recipe.checkpoint)
    with naming(path):
        read = read_tree(path) if state is None else state["model"]
        model = model_from(read)
        if read["training"] is None:
            raise WrongModel(
                f"{path} has only what prediction needs. To go on from a model, train "
                "it with --keep-state."
            )
    if METHODS.get(recipe.method) not in (None, type(model).__name__):
        raise WrongModel(f"{path} is a {type(model).__name__}, not of the method {recipe.method}.")
    vars(model).pop("provenance_", None)  # of what it was before
    return model.set_params(**recipe.parameters), model.known_names


# ------------------------------------------------------------------------------------- afterwards


def finish(recipe: Recipe, training: "SourceTraining", quiet: bool) -> Tree | None:
    """Evaluate a model, write it whatever comes of that, and print how it is."""
    figures = None
    note_decided(training.source, quiet)
    note_skipped(training.source)
    try:
        figures = _figures(recipe, training.model, quiet)
    finally:
        _write(recipe, training.model, figures)
        say(_words(recipe, training), quiet)
    if figures is not None:
        say("\n  ".join([f"Evaluated by {figures['of']}:", *lines_of(figures)]), quiet)
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
        source = HeldOut(source, recipe.holdout, recipe.seed, held=True)
        of += f" ({recipe.holdout:.3g} of the rows, held out)"
    figures, warning = evaluate_rows(model, source, quiet)
    if warning:
        say(f"Warning: {warning}", quiet)
    if recipe.test:
        note_skipped(source)
    return {"of": of, **figures}


def _write(recipe: Recipe, model: "OnlineModel", figures: Tree | None) -> None:
    """Write the model, also to standard output and to devices."""
    from thresher.estimators.saving import dumps

    about: Tree = {"files": [os.path.basename(path) for path in recipe.files]}
    if figures is not None:
        about["evaluation"] = figures
    data = dumps(model, recipe.keep_state, about)
    with writing(recipe.output) as stream:
        stream.write(data)


def _words(recipe: Recipe, training: "SourceTraining") -> str:
    """Return what was trained in words."""
    found, model = training.summary(), training.model
    where = "the model" if recipe.output == STANDARD else recipe.output
    passes = "1 pass" if found["passes"] == 1 else f"{found['passes']:,} passes"
    s = "" if found["features"] == 1 else "s"
    features = f"{found['features']:,} feature{s} of {found['width']:,} columns"
    lines = [f"Wrote {where}: {features}, {found['rows']:,} rows, {passes}."]
    if hasattr(model, "path_"):
        lines += model.why_selected().splitlines()[: 3 if model.path_.clear else 2]
    before = "Of rows before they were learned, in the first pass: "
    words = _error(before, model, found["progressive_error"])
    return "\n".join([*lines, *([f"{words}."] if words else [])])
