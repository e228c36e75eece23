"""Progress with the time left: a bar on a terminal, now and then a line elsewhere."""

import contextlib
import time
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from thresher.cli.words import clock

STEP = 0.05  # share of a wave between two lines
OPENING = 1e-9  # so that an empty wave can be divided by


class Progress:
    """Counts weight done against weight planned; the same for bars and lines."""

    def __init__(self, console: Console | None = None) -> None:
        """Write to a console, standard error by default."""
        self.console = console or Console(stderr=True)
        self.title, self.total, self.done, self.started, self.shown = "", OPENING, 0.0, 0.0, 0.0
        self.bar: Bar | None = None

    @contextlib.contextmanager
    def wave(self, title: str, total: float) -> Iterator[None]:
        """Show one wave of work."""
        self.title, self.total, self.done, self.shown = title, total or OPENING, 0.0, 0.0
        self.started = time.monotonic()
        if total == 0 or not self.console.is_terminal:
            yield
            return
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
        left = TextColumn("{task.fields[left]} left")
        with Bar(*columns, left, TimeElapsedColumn(), console=self.console) as self.bar:
            self.bar.add_task(title, total=total, left="?")
            yield
        self.bar = None

    def advance(self, weight: float) -> None:
        """Count a task as done."""
        self.done += weight
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=self.done, left=self.left())
        elif self.done / self.total >= self.shown + STEP or self.done >= self.total:
            self.shown = self.done / self.total
            self.console.print(f"{self.title}: {self.shown:.0%}, {self.left()} left")

    def left(self) -> str:
        """Return the time left at the pace so far."""
        spent = time.monotonic() - self.started
        return clock(spent * max(0.0, self.total - self.done) / max(self.done, OPENING))
