"""The command line: words and paths. What it does is done by the rooms below.

This file is what every process begins with: it imports nothing that takes time, so that a signal
or a closed stream is taken care of from the start.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

Handler = Callable[[int, FrameType | None], None]

SIGNALS = (signal.SIGINT, signal.SIGTERM)
ENDED_BY = 128  # an exit code above this is that of a signal


class Interrupted(KeyboardInterrupt):
    """A signal that asks the program to end."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.number, self.code = number, ENDED_BY + number


def main() -> None:
    """Run the program. A signal ends it at once, until there is something to clean up."""
    fill_closed_streams()
    with handling(_leave_at_once):
        from thresher.cli.commands import thresher

        thresher(prog_name="thresher")


def fill_closed_streams() -> None:
    """Let no file that is opened later become standard output or error, which others write to."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is not None:
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


@contextmanager
def handling(handler: Handler) -> Iterator[None]:
    """Handle the signals that ask to end, but not those which whoever started us has ignored."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    mine = [number for number in SIGNALS if before[number] is not signal.SIG_IGN]
    try:
        for number in mine:
            signal.signal(number, handler)
        yield
    finally:
        for number in mine:
            signal.signal(number, before[number])


def interrupt(number: int, _: FrameType | None) -> NoReturn:
    """Handle a signal by an exception, so that unfinished files are removed."""
    raise Interrupted(number)


def _leave_at_once(number: int, _: FrameType | None) -> NoReturn:
    """End: an exception could get lost in what is being imported."""
    try:
        os.write(2, b"Interrupted.\n")
    finally:
        os._exit(ENDED_BY + number)
