"""How far reading has come, on standard error."""

import sys
import time
from types import TracebackType
from typing import Any

PLAIN_EVERY = 5.0  # seconds between lines where standard error is no terminal


class Progress:
    """Counts what is done: a line that changes on a terminal, elsewhere a line now and then."""

    def __init__(
        self, doing: str, unit: str = "rows", total: int | None = None, quiet: bool = False
    ) -> None:
        self.doing, self.unit, self.total, self.quiet = doing, unit, total, quiet
        self.done = 0
        self.begun = self.shown = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> "Progress":
        if not self.quiet and sys.stderr.isatty():
            self._bar = _bar()
            self._bar.start()
            self._task = self._bar.add_task(self.doing, total=self.total, rate="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def add(self, count: int) -> None:
        """Take note that so much more is done, and show it if it is time to."""
        self.reach(self.done + count)

    def reach(self, done: int) -> None:
        """Take note of how much is done by now, and show it if it is time to."""
        self.done = done
        now = time.monotonic()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, rate=self._rate(now))
        elif not self.quiet and now - self.shown >= PLAIN_EVERY:
            self.shown = now
            print(f"{self.doing}: {self.words(now)}", file=sys.stderr, flush=True)

    def words(self, now: float | None = None) -> str:
        """Return what is done and how fast, for instance 120,000 rows, 45,000 rows/s."""
        of = "" if self.total is None else f" of {self.total:,}"
        return f"{self.done:,}{of} {self.unit}, {self._rate(now or time.monotonic())}"

    def _rate(self, now: float) -> str:
        rate = self.done / max(now - self.begun, 1e-9)
        return f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.2g} {self.unit}/s"


def _bar() -> Any:
    """Return rich's line; one that knows no total just shows that something moves."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.completed:,}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
