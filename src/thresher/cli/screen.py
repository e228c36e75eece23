"""What people see: notes on standard error, on a terminal a bar, and text that is safe to show.

Notes stand above the bar. None of them ever fails: output does not depend on who is watching.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TextIO

from thresher.cli import interruptible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_shown: list["Progress"] = []  # bars on the terminal now


def printable(text: str) -> str:
    """Return text in which what could steer a terminal, or hide in it, is written out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def json_text(value: Any) -> str:
    """Return a value as JSON on one line, in which such characters are escaped as well."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def say(message: str, quiet: bool = False) -> None:
    """Print a note for people."""
    if quiet or sys.stderr is None:
        return
    message = "\n".join(printable(line) for line in message.split("\n"))
    try:
        if _shown:
            _shown[-1].print(message)
        else:
            print(message, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: TextIO | None) -> None:
    """Let what a stream cannot write vanish: Python would complain of it once more at its end."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # type: ignore[union-attr]


@contextmanager
def noting_warnings(quiet: bool) -> Iterator[None]:
    """Print warnings as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}", quiet)
        yield


class Progress:
    """A bar with what is done and how fast, only on a terminal; signals raise while it is shown."""

    def __init__(self, doing: str, quiet: bool = False) -> None:
        self.doing, self.quiet = doing, quiet
        self.rows = 0
        self.begun = time.monotonic()
        self._stack = ExitStack()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        self._stack.enter_context(interruptible())
        if not self.quiet and sys.stderr is not None and sys.stderr.isatty():
            self._bar = self._stack.enter_context(_new_bar())
            self._task = self._bar.add_task(self.doing, total=None, text="")
            _shown.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            _shown.remove(self)
        self._stack.close()

    def add(self, rows: int, share: float | None = None, more: str = "") -> None:
        """Note that so many more rows are done, and which share of all."""
        self.reach(self.rows + rows, share, more)

    def reach(self, rows: int, share: float | None = None, more: str = "") -> None:
        """Note how many rows are done by now, and which share of all."""
        self.rows = rows
        if self._bar is not None:
            total = None if share is None else 1.0
            self._bar.update(self._task, completed=share or 0.0, total=total, text=self.text(more))

    def text(self, more: str = "") -> str:
        """Return what is done in words, for instance 120,000 rows, 45,000 rows/s."""
        rate = self.rows / max(time.monotonic() - self.begun, 1e-9)
        return f"{self.rows:,} rows, {rate:,.0f} rows/s{more}"

    def print(self, message: str) -> None:
        """Print a note above the bar."""
        if self._bar is not None:
            self._bar.console.print(message, markup=False, highlight=False, soft_wrap=True)


def _new_bar() -> "Bar":
    """Return a bar of rich, which leaves no trace when it is over."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn(
            "{task.fields[text]}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis"),
        ),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
