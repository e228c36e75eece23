"""Models on the command line: opened, or refused in plain words."""

from pathlib import Path
from typing import Any

import click

from thresher.cli.failing import BAD_MODEL
from thresher.cli.places import STANDARD


class WrongModel(click.ClickException):
    """A model file that cannot be used here."""

    exit_code = BAD_MODEL


def model_argument(command: Any) -> Any:
    """Add the argument MODEL; whether it can be read, ``load_model`` says in its own words."""
    path = click.Path(readable=False)
    return click.argument("model", type=path, metavar="MODEL")(command)


def load_model(path: str) -> Any:
    """Return the fitted model of a file."""
    try:
        _refuse_at_sight(path)
        from thresher.estimators.storing.loading import load

        return load(path)
    except OSError as error:
        raise WrongModel(f"{path}: cannot be read: {error.strerror or error}") from None


def _refuse_at_sight(path: str) -> None:
    """Raise what can be known to be wrong before anything heavy is imported."""
    if path == STANDARD:
        raise WrongModel("A model is not read from standard input: name its file.")
    place = Path(path)
    if not place.exists():
        raise WrongModel(
            f"{path}: there is no such file. thresher train FILE... -o {path} makes it."
        )
    if place.is_dir():
        raise WrongModel(f"{path}: is a directory: name the model file in it.")
    if place.is_file() and place.stat().st_size == 0:
        raise WrongModel(f"{path}: is empty: whatever was to write it did not finish.")
