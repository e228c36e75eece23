"""Everything ``thresher train`` was told, so that a checkpoint need not be told again."""

import os
from dataclasses import asdict, dataclass
from typing import Any

import click

from thresher.cli.parameters import METHODS
from thresher.cli.places import STANDARD, keep_apart, keep_off_cache, refuse_unwritable

CACHES = ".shards"  # the ending of every folder where rows are kept


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
        if self.checkpoint == STANDARD:
            raise click.UsageError("--checkpoint needs a file, as it is read again: name one.")
        outputs = {"-o": self.output, "--checkpoint": self.checkpoint}
        keep_apart(outputs, self.files)
        for path in filter(None, outputs.values()):
            refuse_unwritable(path)
        if any(path and CACHES in os.path.realpath(path) for path in outputs.values()):
            keep_off_cache(outputs, self._cache_folder(), self.cache)  # imports a lot to know
        if STANDARD in self.files:
            self.refuse_checkpoint_of("Standard input")

    def _cache_folder(self) -> str | None:
        """Return where the rows are kept as shards if they are read more than once."""
        from thresher.data.sources.cache import cache_folder
        from thresher.data.sources.protocol import Reading

        folder = cache_folder(self.files, Reading(**self.reading))
        return None if folder is None else str(folder)

    def refuse_checkpoint_of(self, what: str) -> None:
        """Refuse a checkpoint of rows that come only once."""
        if self.checkpoint:
            raise click.UsageError(
                f"{what} cannot be read again from where a checkpoint stops: train from a file, or "
                "leave --checkpoint out."
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
    """Return a path that means the same from any folder; - stays standard input or output."""
    return path if path == STANDARD else os.path.abspath(path)
