"""Small things that every command says in the same way."""

import logging
from collections.abc import Callable
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


def say(message: str, quiet: bool = False) -> None:
    """Tell people something, beside the output."""
    if not quiet:
        click.echo(message, err=True)
