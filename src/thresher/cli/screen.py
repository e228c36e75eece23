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

from thresher.cli import handling, interrupt

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
    message = "\n".join(printable(line.rstrip()) for line in message.split("\n"))
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
    from thresher.cli.options import in_options

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_, **__: say(
            f"Warning: {in_options(str(message))}", quiet
        )
        yield


class Progress(ExitStack):
    """A bar with what is done and how fast, only on a terminal; signals raise while it is there.

    It appears with the first news.
    """

    def __init__(self, doing: str, quiet: bool = False) -> None:
        super().__init__()
        self.doing, self.rows, self.begun = doing, 0, time.monotonic()
        self._wanted = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._bar: Bar | None = None
        self._task: Any = None

    def __enter__(self) -> Self:
        self.enter_context(handling(interrupt))
        return super().__enter__()

    def reach(self, rows: int, share: float | None = None, more: str = "") -> None:
        """Show how many rows are done by now, which are a share of all."""
        self.rows = rows
        rate = rows / max(time.monotonic() - self.begun, 1e-9)
        self.show(f"{rows:,} rows, {rate:,.0f} rows/s{more}", share)

    def show(self, text: str, share: float | None = None, doing: str = "") -> None:
        """Show what is done in words, and as a share of all; what else is done begins anew."""
        if doing not in ("", self.doing):
            self.doing = doing
            if self._bar is not None:
                self._bar.reset(self._task, description=doing)
        if self._bar is None and self._wanted:
            self._bar = self.enter_context(_new_bar())
            self._task = self._bar.add_task(self.doing, total=None, text=text)
            self._bar.tasks[-1].completed = share or 0.0  # of what was done by others before
            _shown.append(self)
            self.callback(_shown.remove, self)
        if self._bar is not None:
            total = None if share is None else 1.0
            self._bar.update(self._task, completed=share or 0.0, total=total, text=text)

    def print(self, message: str) -> None:
        """Print a note above the bar."""
        if self._bar is not None:
            self._bar.console.print(message, markup=False, highlight=False, soft_wrap=True)


def _new_bar() -> "Bar":
    """Return a bar of rich, which leaves no trace when it is over."""
    from rich import progress as rich
    from rich.console import Console
    from rich.table import Column

    class Time(rich.TimeRemainingColumn):
        """The time left, or where nobody knows that the time gone."""

        def render(self, task: rich.Task) -> Any:
            """Return the time as text."""
            if task.total is None:
                return rich.TimeElapsedColumn().render(task)
            return super().render(task)

    one_line = Column(no_wrap=True, overflow="ellipsis")
    return rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(bar_width=24),
        rich.TextColumn("{task.fields[text]}", markup=False, table_column=one_line),
        Time(),
        console=Console(stderr=True),
        transient=True,
    )
