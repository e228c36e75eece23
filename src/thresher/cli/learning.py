"""Training as the command line runs it: with a bar, checkpoints and signals, to a model's file."""

import os
import sys
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import thresher
from thresher.cli import ENDED_BY, Interrupted, handling, interruptible
from thresher.cli.checkpoint import Keeper, Recipe, Tree
from thresher.cli.evaluate import evaluate_rows, lines_of
from thresher.cli.failing import WrongModel
from thresher.cli.files import STANDARD, note_decided, note_skipped, writing
from thresher.cli.options import METHODS
from thresher.cli.screen import Progress, noting_warnings, say

if TYPE_CHECKING:
    from thresher.estimators.learning import OnlineModel
    from thresher.estimators.streaming import StreamTraining
    from thresher.formats.names import Names
    from thresher.formats.protocol import Source


class Learned(NamedTuple):
    """A trained model, the source of its rows, and what was learned in a few numbers."""

    model: "OnlineModel"
    source: "Source"
    summary: Tree


class Stop:
    """Remembers the first signal, to end when everything is in order; the second ends at once."""

    number = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if self.number:
            raise Interrupted(number)
        self.number = number


def learn(recipe: Recipe, state: Tree | None, keeper: Keeper, quiet: bool) -> Learned:
    """Train to the end; signals end the program, with a checkpoint if there is to be one."""
    try:
        with interruptible(), noting_warnings(quiet):
            begun = _begun(recipe, state, quiet)
    except Interrupted as signal:
        _stop(keeper, signal.code)
    if isinstance(begun, Learned):
        return begun
    stop = Stop()
    with Progress("training", quiet) as progress, noting_warnings(quiet), handling(stop):
        for chunk in begun.steps():
            progress.add(len(chunk), begun.share_done(), _more(begun))
            keeper.keep_if_due(begun)
            if stop.number:
                break
        if stop.number:
            keeper.keep(begun)
    if stop.number:
        _stop(keeper, ENDED_BY + stop.number)
    return Learned(begun.model, begun.source, begun.summary())


def _stop(keeper: Keeper, code: int) -> NoReturn:
    say(f"Stopped. {keeper.hint()}")
    sys.exit(code)


def _more(training: "StreamTraining") -> str:
    """Return what a bar shows besides rows: the pass, and in the first one the error so far."""
    error = training.progressive_error if training.passes == 0 else None
    return f", pass {training.passes + 1}{_error(', ', training.model, error)}"


def _error(before: str, model: "OnlineModel", error: float | None) -> str:
    if error is None:
        return ""
    return before + (f"error {error:.2%}" if hasattr(model, "classes_") else f"RMSE {error:.4g}")


def _begun(recipe: Recipe, state: Tree | None, quiet: bool) -> "StreamTraining | Learned":
    """Return a training that has just begun or is where a checkpoint left it, or is over."""
    from thresher.estimators.at_hand import fit_together
    from thresher.estimators.streaming import StreamTraining, summary_of, training_source
    from thresher.formats.blocks import InputFiles
    from thresher.formats.holdout import HeldOut

    if recipe.test:
        InputFiles(recipe.test).check()
    model, names = _model(recipe, state)
    files, reading = recipe.files, recipe.reading
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
    if model.at_hand and not recipe.keep_state:
        with Progress("training", quiet) as bar:
            fitted, source = fit_together(model, source, recipe.classes, bar.reach)
        if fitted is not None:
            note_decided(source, quiet)
            return Learned(fitted, source, summary_of(fitted, source, bar.rows))
        say("There are too many rows to select by all together: each is learned in turn.", quiet)
    training = StreamTraining.begin(model, source, recipe.classes, watched=True)
    note_decided(training.source, quiet)
    return training


def _model(recipe: Recipe, state: Tree | None) -> "tuple[OnlineModel, Names | None]":
    """Return a model to train, and the names of columns that it knows."""
    if state is None and recipe.initial is None:
        return getattr(thresher, METHODS[recipe.method])(**recipe.parameters), None
    from thresher.estimators.saving import model_from, training_names
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
        names = training_names(read)
    if recipe.method not in (
        "",
        *(m for m, name in METHODS.items() if name == type(model).__name__),
    ):
        raise WrongModel(f"{path} is a {type(model).__name__}, not of the method {recipe.method}.")
    vars(model).pop("provenance_", None)  # of what it was before
    return model.set_params(**recipe.parameters), names


# ------------------------------------------------------------------------------------- afterwards


def finish(recipe: Recipe, learned: Learned, quiet: bool) -> Tree | None:
    """Evaluate a model, write it whatever comes of that, and print how it is."""
    figures = None
    note_skipped(learned.source)
    try:
        figures = _figures(recipe, learned.model, quiet)
    finally:
        _write(recipe, learned.model, figures)
        say(_words(recipe, learned), quiet)
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


def _words(recipe: Recipe, learned: Learned) -> str:
    """Return what was trained in words."""
    found, model = learned.summary, learned.model
    where = "the model" if recipe.output == STANDARD else recipe.output
    passes = "1 pass" if found["passes"] == 1 else f"{found['passes']:,} passes"
    features = f"{found['features']:,} features of {found['width']:,} columns"
    lines = [f"Wrote {where}: {features}, {found['rows']:,} rows, {passes}."]
    if hasattr(model, "path_"):
        lines += model.why_selected().splitlines()[: 3 if model.path_.clear else 2]
    before = "Of rows before they were learned, in the first pass: "
    words = _error(before, model, found["progressive_error"])
    return "\n".join([*lines, *([f"{words}."] if words else [])])
