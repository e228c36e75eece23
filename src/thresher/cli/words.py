"""Small things that every command says in the same way."""

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click


def examples(*lines: str) -> str:
    """Return an epilog of commands to try, which click leaves as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def quiet_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--quiet``."""
    words = "Show no progress."
    return click.option("-q", "--quiet", is_flag=True, help=words, callback=_hush)(command)


def _hush(_ctx: click.Context, _param: click.Parameter, quiet: bool) -> bool:
    """Let the package say nothing but errors, if that is wanted."""
    if quiet:
        logging.getLogger("thresher").setLevel(logging.ERROR)
    return quiet


def json_option(words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what adds ``--json``, explained in the given words."""
    return click.option("--json", "as_json", is_flag=True, help=words)


@contextmanager
def warnings_said(quiet: bool) -> Iterator[None]:
    """Tell people what the package warns of in plain words, beside the output."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}", quiet)
        yield


def clock(seconds: float) -> str:
    """Return a length of time as people write it."""
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


def say(message: str, quiet: bool = False) -> None:
    """Tell people something, beside the output."""
    if not quiet:
        click.echo(message, err=True)
