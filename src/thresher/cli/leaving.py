"""The last words of a training that was stopped: what is kept of it, and how to go on."""

import sys
from typing import Any, NoReturn

import click

from thresher.cli.checkpoints import Keeper, resuming
from thresher.cli.failing import INTERRUPTED


def leave(keeper: Keeper, training: Any) -> NoReturn:
    """Keep what there is of a training, None if it has not begun, say how to go on, and end."""
    if training is not None and training.at_hand is None:
        keeper.keep(training)
    click.echo(f"Stopped{_words(keeper, training)}", err=True)
    sys.exit(INTERRUPTED)


def _words(keeper: Keeper, training: Any) -> str:
    """Return what comes after the word Stopped."""
    checkpoint = keeper.recipe.checkpoint
    if checkpoint and keeper.learnt:
        return f". To go on: {resuming(checkpoint)}"
    reason = _reason(training)
    if checkpoint and keeper.ours:
        return f"{reason}. To begin anew: {resuming(checkpoint)}"
    if training is None:
        return f"{reason}: the same command begins anew."
    return f"{reason}." if training.at_hand is None else f"{reason}, with --checkpoint as well."


def _reason(training: Any) -> str:
    """Return why there is no state to go on from."""
    if training is None:
        return " before anything was learnt"
    if training.at_hand is not None:
        return "; nothing is kept: so few rows are learnt at once"
    if not training.source.rewinds:
        return "; nothing is kept: what comes through a pipe cannot be read again"
    return "; nothing is kept. With --checkpoint PATH it would be"
