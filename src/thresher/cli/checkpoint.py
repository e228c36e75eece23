"""What a training was asked to do, and its state, in a file from which it can go on."""

import os
import shlex
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.files import STANDARD, check_outputs, present, refuse_unreadable

if TYPE_CHECKING:
    from thresher.estimators.streaming import StreamTraining

Tree = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """Everything that ``thresher train`` was given, as plain values."""

    files: tuple[str, ...]
    output: str
    reading: Tree
    test: tuple[str, ...]
    holdout: float | None
    cache: bool
    keep_state: bool
    sizes: bool
    checkpoint: str | None
    checkpoint_every: float  # seconds
    force: bool
    seed: int
    # what a training that goes on has in its state
    method: str = ""
    parameters: Tree = field(default_factory=dict)
    classes: list[Any] | None = None
    initial: str | None = None

    def check(self, going_on: bool) -> None:
        """Raise at once what would otherwise be known only after hours of training."""
        if self.checkpoint == STANDARD:
            raise click.UsageError("--checkpoint needs a file, for it is read again: name one.")
        if self.test and self.holdout:
            raise click.UsageError("--test and --holdout: evaluate by one of them.")
        if self.initial is not None:
            present(self.initial)
        mine = None if going_on else self.checkpoint  # a training may replace its own
        read = [*self.files, *self.test, *filter(None, [self.initial])]
        check_outputs({"-o": self.output, "--checkpoint": mine}, read, self.force)
        for files in filter(None, (self.files, self.test)):
            refuse_unreadable(files)
        if STANDARD in self.files:
            self.check_rewinds("Standard input")

    def tree(self) -> Tree:
        """Return what a checkpoint keeps, with paths that mean the same from any folder."""
        tree = asdict(self)
        for name in ("method", "parameters", "classes", "initial"):
            del tree[name]
        if self.output != STANDARD:
            tree["output"] = os.path.abspath(self.output)
        files = {name: list(map(os.path.abspath, tree[name])) for name in ("files", "test")}
        return {**tree, **files}

    def check_rewinds(self, what: str) -> None:
        """Refuse what needs rows twice, if they come only once."""
        for option, given in {"--checkpoint": self.checkpoint, "--holdout": self.holdout}.items():
            if given:
                raise click.UsageError(
                    f"{what} cannot be read again, as {option} needs: train from a file, or leave "
                    f"{option} out."
                )


def read_checkpoint(path: str) -> tuple[Recipe, Tree]:
    """Return what a training was asked to do, and its state, which stays in this file."""
    present(path, "--checkpoint")
    from thresher.estimators import saving
    from thresher.files import access, container

    tree, state = saving.read_checkpoint(path)
    with container.naming(path), saving.refusing_nonsense():
        return Recipe(**{**tree, "checkpoint": path}), state or access.refuse("there is no state")


class Keeper:
    """Keeps the checkpoint of one training, if one is wanted."""

    def __init__(self, recipe: Recipe, resumed: bool) -> None:
        self.recipe, self.path, self.holds_state = recipe, recipe.checkpoint, resumed
        self.last = time.monotonic()

    def keep(self, training: "StreamTraining") -> None:
        """Write the state."""
        if self.path is not None:
            from thresher.estimators.saving import write_checkpoint

            write_checkpoint(self.path, self.recipe.tree(), training.tree())
            self.holds_state, self.last = True, time.monotonic()

    def keep_if_due(self, training: "StreamTraining") -> None:
        """Write the state if that was long ago."""
        if time.monotonic() - self.last >= self.recipe.checkpoint_every:
            self.keep(training)

    def forget(self) -> None:
        """Remove the checkpoint of a training that is over."""
        if self.path is not None and (self.holds_state or self.recipe.force):
            with suppress(FileNotFoundError):
                os.unlink(os.path.realpath(self.path))  # where a link leads

    def hint(self) -> str:
        """Return what is kept of a training that is stopped."""
        if self.path is not None and self.holds_state:
            return f"Go on with: thresher train --resume {shlex.quote(self.path)}"
        return "Nothing is kept" + ("." if self.path else ": --checkpoint FILE would keep it.")
