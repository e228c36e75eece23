"""How far training has come, on standard error."""

import sys
import time
from dataclasses import dataclass, field
from typing import Any

from thresher.cli.words import clock

TERMINAL_EVERY, PLAIN_EVERY = 0.2, 10.0


@dataclass
class Watch:
    """Shows rows/s, time left, progressive loss and features left: one line that changes.

    Where standard error is no terminal, a line now and then.
    """

    quiet: bool = False
    begun: float = field(default_factory=time.monotonic)
    shown: float = 0.0
    rows: int = 0
    first_share: float | None = None

    def learnt(self, training: Any, n_rows: int) -> None:
        """Take note of rows that were learnt, and show it if it is time to."""
        self.rows += n_rows
        if self.first_share is None:
            self.first_share = training.share_done() or 0.0
        every = TERMINAL_EVERY if sys.stderr.isatty() else PLAIN_EVERY
        now = time.monotonic()
        if not self.quiet and now - max(self.shown, self.begun) >= every:
            self.shown = now
            self._show(self.line(training, now - self.begun))

    def line(self, training: Any, seconds: float) -> str:
        """Return the state of training in one line."""
        parts = [f"pass {training.passes + 1}", f"{self.rows / max(seconds, 1e-9):,.0f} rows/s"]
        share = training.share_done()
        gone = None if share is None else share - (self.first_share or 0.0)
        if share and gone and gone > 0:
            parts += [f"{share:.0%}", f"{clock(seconds * (1 - share) / gone)} left"]
        if training.progressive.rows:
            parts.append(training.progressive.words())
        parts.append(f"{training.n_features():,} features")
        return ", ".join(parts)

    def close(self) -> None:
        """Leave the line."""
        if self.shown and sys.stderr.isatty():
            self._show("")

    def _show(self, line: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line}")
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()
