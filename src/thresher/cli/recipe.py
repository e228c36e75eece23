"""Everything ``thresher train`` was told, so that a checkpoint need not be told again."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from thresher.cli.parameters import METHODS


@dataclass(frozen=True)
class Recipe:
    """What to train, from what, and where to put it; plain values only."""

    files: list[str]
    output: str
    method: str
    parameters: dict[str, Any]
    reading: dict[str, Any]
    classes: list[Any] | None
    cache: bool
    checkpoint: str | None
    checkpoint_every: float  # seconds

    def __post_init__(self) -> None:
        """Say at once what would otherwise be known only after hours of training."""
        for path in filter(None, (self.output, self.checkpoint)):
            folder = Path(path).parent
            if not folder.is_dir():
                raise click.UsageError(f"{path} cannot be written: there is no folder {folder}.")
            if Path(path).is_dir():
                raise click.UsageError(f"{path} is a folder: name a file.")
            if not os.access(folder, os.W_OK):
                raise click.UsageError(f"{path} cannot be written: {folder} is write-protected.")
        if self.checkpoint and "-" in self.files:
            raise click.UsageError(
                "Standard input cannot be read again from where a checkpoint stops: train from a "
                "file, or leave --checkpoint out."
            )

    def estimator(self) -> Any:
        """Return the classifier, not yet trained."""
        import thresher

        kind = getattr(thresher, METHODS[self.method])
        known = set(kind().get_params(deep=False))
        for name in self.parameters:
            if name not in known:
                raise click.UsageError(
                    f"--{name.replace('_', '-')} is no parameter of the method {self.method}."
                )
        model = kind(**self.parameters)
        try:
            model._check_parameters()
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        return model

    def tree(self) -> dict[str, Any]:
        """Return the recipe as JSON knows it."""
        tree = asdict(self)
        weights = self.parameters.get("class_weight")
        if isinstance(weights, dict):  # JSON knows no other keys than strings
            pairs = [[label, weight] for label, weight in weights.items()]
            tree["parameters"] = {**self.parameters, "class_weight": {"pairs": pairs}}
        return tree

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Recipe":
        """Return the recipe that gave this tree."""
        weights = tree["parameters"].get("class_weight")
        if isinstance(weights, dict):
            weights = dict(weights["pairs"])
            tree = {**tree, "parameters": {**tree["parameters"], "class_weight": weights}}
        return cls(**tree)


def absolute(path: str) -> str:
    """Return a path that means the same from any folder; - stays standard input."""
    return path if path == "-" else os.path.abspath(path)
