"""What a training was asked to do, and its state, in a file from which it can go on."""

import os
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.failing import CannotWrite
from thresher.cli.files import STANDARD, check_outputs, is_device, refuse_absent

if TYPE_CHECKING:
    from thresher.estimators.streaming import StreamTraining

Tree = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """Everything ``thresher train`` was given, as plain values; paths are absolute."""

    files: list[str]
    output: str
    method: str
    parameters: Tree  # those given
    reading: Tree  # the same
    classes: list[Any] | None
    initial: str | None
    test: list[str]
    holdout: float | None
    cache: bool
    keep_state: bool
    checkpoint: str | None
    checkpoint_every: float  # seconds
    force: bool

    def check(self, going_on: bool) -> None:
        """Raise at once what would otherwise be known only after hours of training."""
        if self.checkpoint == STANDARD:
            raise click.UsageError("--checkpoint needs a file, for it is read again: name one.")
        if self.test and self.holdout:
            raise click.UsageError("--test and --holdout: evaluate by one of them.")
        if self.initial is not None:
            refuse_absent(self.initial)
        if self.checkpoint and not going_on and not self.force:
            refuse_checkpoint(self.checkpoint)
        mine = None if going_on else self.checkpoint  # its own checkpoint a training may replace
        read = [*self.files, *self.test, *filter(None, [self.initial])]
        check_outputs({"-o": self.output, "--checkpoint": mine}, read, self.force)
        if STANDARD in self.files:
            self.check_rewinds("Standard input")

    def check_rewinds(self, what: str) -> None:
        """Refuse what needs rows twice, if they come only once."""
        for option, given in {"--checkpoint": self.checkpoint, "--holdout": self.holdout}.items():
            if given:
                raise click.UsageError(
                    f"{what} cannot be read again, as {option} needs: train from a file, or leave "
                    f"{option} out."
                )

    def tree(self) -> Tree:
        """Return the recipe as a file keeps it, which knows no other keys than strings."""
        weights = self.parameters.get("class_weight")
        kept = {"pairs": list(map(list, weights.items()))} if isinstance(weights, dict) else weights
        return {**asdict(self), "parameters": {**self.parameters, "class_weight": kept}}

    @classmethod
    def from_tree(cls, tree: Tree) -> "Recipe":
        """Return the recipe that gave a tree."""
        parameters = dict(tree["parameters"])
        weights = parameters.pop("class_weight")
        if weights is not None:
            weights = dict(weights["pairs"]) if isinstance(weights, dict) else weights
            parameters["class_weight"] = weights
        return cls(**{**tree, "parameters": parameters})


def read_checkpoint(path: str) -> tuple[Recipe, Tree | None]:
    """Return a recipe and the state of its training; None if nothing was learned yet.

    The training goes on keeping its state in this file, wherever it was written at first.
    """
    refuse_absent(path)
    from thresher.estimators import saving

    tree, state = saving.read_checkpoint(path)
    return Recipe.from_tree({**tree, "checkpoint": absolute(path)}), state


def refuse_checkpoint(path: str) -> None:
    """Refuse to replace a checkpoint: another training may have spent hours on it."""
    if not os.path.exists(path) or is_device(path):
        return
    from thresher.estimators.saving import is_checkpoint

    if is_checkpoint(path):
        raise CannotWrite(
            f"{path} holds a checkpoint. Go on from it with: {resuming(path)}, or begin anew with "
            "--force."
        )


def resuming(path: str) -> str:
    """Return the command that goes on from a checkpoint."""
    return f"thresher train --resume {shlex.quote(path)}"


def absolute(path: str) -> str:
    """Return a path that means the same from any folder; - stays a standard stream."""
    return path if path == STANDARD else os.path.abspath(path)


class Keeper:
    """Keeps the checkpoint of one training, if one is wanted."""

    def __init__(self, recipe: Recipe, resumed: bool, state: Tree | None) -> None:
        self.recipe = recipe
        self.resumed = self.begun = resumed  # whether the file is this training's own
        self.holds_state = state is not None
        self.last = time.monotonic()

    def begin(self) -> None:
        """Write the recipe, before anything is learned."""
        if self.recipe.checkpoint and not self.begun:
            if not self.recipe.force:  # it may have appeared since the recipe was checked
                check_outputs({"--checkpoint": self.recipe.checkpoint}, [])
            self._write(None)
            self.begun = True

    def keep(self, training: "StreamTraining") -> None:
        """Write the state."""
        if self.recipe.checkpoint:
            self._write(training)
            self.holds_state, self.last = True, time.monotonic()

    def keep_if_due(self, training: "StreamTraining") -> None:
        """Write the state if that was long ago."""
        if time.monotonic() - self.last >= self.recipe.checkpoint_every:
            self.keep(training)

    def forget(self) -> None:
        """Remove the checkpoint of a training that is over."""
        if self.recipe.checkpoint and self.begun:
            with suppress(FileNotFoundError):
                os.unlink(os.path.realpath(self.recipe.checkpoint))  # where a link leads

    @contextmanager
    def leaving_nothing_empty(self) -> Iterator[None]:
        """Remove a file without state if training fails: the next attempt may differ."""
        try:
            yield
        except Exception:
            if not self.resumed and not self.holds_state:
                self.forget()
            raise

    def _write(self, training: "StreamTraining | None") -> None:
        from thresher.estimators.saving import write_checkpoint

        write_checkpoint(str(self.recipe.checkpoint), self.recipe.tree(), training)
