"""Ctrl-C at a moment that suits: between two chunks, when everything is in order."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopping:
    """Whether somebody wants it to end."""

    wanted: bool = False

    def _want(self, number: int, frame: FrameType | None) -> None:
        if self.wanted:  # asked twice: now
            raise KeyboardInterrupt
        self.wanted = True


@contextmanager
def stopping() -> Iterator[Stopping]:
    """Listen for Ctrl-C and for a polite request to end, and put the old ears back afterwards."""
    listener = Stopping()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, listener._want) for number in signals]
    try:
        yield listener
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
