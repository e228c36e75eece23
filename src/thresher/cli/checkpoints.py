"""The state of training in a file: never written over anything but what the same training wrote."""

import os
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thresher.cli.places import CannotWrite
from thresher.cli.recipe import Recipe, absolute

KIND = "checkpoint"


def read_checkpoint(path: str) -> tuple[Recipe, dict[str, Any] | None]:
    """Return what a checkpoint was told, and its state; None if nothing was learnt yet.

    Training goes on keeping its state in this file, whatever it was called when it was written.
    """
    from thresher.files import container
    from thresher.files.tree import unpack

    tree = unpack(*container.read(path))
    if tree.get("kind") != KIND:
        raise container.ModelFileError(
            f"{path} is a finished model, not a checkpoint: there is nothing to go on with."
        )
    return Recipe.from_tree({**tree["recipe"], "checkpoint": absolute(path)}), tree["training"]


def write_checkpoint(recipe: Recipe, training: Any) -> None:
    """Write recipe and state as one file, whole or not at all."""
    from thresher.estimators.storing.checkpoint import training_tree
    from thresher.files import container
    from thresher.files.tree import pack

    state = None if training is None else training_tree(training)
    tree = {"kind": KIND, "recipe": recipe.tree(), "training": state}
    container.write(str(recipe.checkpoint), *pack(tree))


def refuse_existing(path: str) -> None:
    """Leave alone what is there: another training may have spent hours on it."""
    if not Path(path).exists():
        return
    if _is_checkpoint(path):
        raise CannotWrite(
            f"{path} holds a checkpoint. Go on with: {resuming(path)}, or remove it first."
        )
    raise CannotWrite(
        f"{path} exists and is no checkpoint: it would be replaced. Choose another name for "
        "--checkpoint."
    )


def resuming(path: str) -> str:
    """Return the command that goes on from a checkpoint."""
    return f"thresher train --resume {shlex.quote(path)}"


def _is_checkpoint(path: str) -> bool:
    from thresher.files import container

    try:
        return container.read(path)[0].get("kind") == KIND
    except container.ModelFileError:
        return False


class Keeper:
    """Keeps the checkpoint of one training, if one is wanted."""

    def __init__(self, recipe: Recipe, resumed: bool, learnt: bool) -> None:
        self.recipe = recipe
        self.ours = self.resumed = resumed  # whether the file is this training's own
        self.learnt = learnt  # whether there is more in it than what the command was told
        self.last = time.monotonic()

    def begin(self) -> None:
        """Write down what the command was told, unless that has been done."""
        if self.recipe.checkpoint and not self.ours:
            refuse_existing(self.recipe.checkpoint)
            write_checkpoint(self.recipe, None)
            self.ours = True

    def keep(self, training: Any) -> None:
        """Write the state."""
        if self.recipe.checkpoint:
            write_checkpoint(self.recipe, training)
            self.learnt, self.last = True, time.monotonic()

    def keep_if_due(self, training: Any) -> None:
        """Write the state if that was long ago."""
        if time.monotonic() - self.last >= self.recipe.checkpoint_every:
            self.keep(training)

    def forget(self) -> None:
        """Remove the checkpoint of a training that has reached its end."""
        if self.recipe.checkpoint and self.ours:
            # behind a link, where it was written
            Path(os.path.realpath(self.recipe.checkpoint)).unlink(missing_ok=True)

    @contextmanager
    def leaving_nothing_empty(self) -> Iterator[None]:
        """Remove what holds no state if training fails: the next attempt may be told otherwise."""
        try:
            yield
        except Exception:
            if not self.resumed and not self.learnt:
                self.forget()
            raise
