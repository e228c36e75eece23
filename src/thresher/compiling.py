"""Says once that kernels are being compiled: on a first run nobody should wonder what it waits for.

The message is a warning of the logger ``thresher``, so that it appears on standard error unless
somebody has decided otherwise: ``logging.getLogger("thresher").setLevel("ERROR")``.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from numba.core import event

PATIENCE = 1.0  # seconds of silence
COMPILING = "Thresher is compiling its kernels for this machine, which takes up to a minute. "
KEPT = COMPILING + "They are kept in %s: next time there is nothing to wait for."
NOT_KEPT = COMPILING + (
    "They cannot be kept, so next time they are compiled again: let the environment variable "
    "NUMBA_CACHE_DIR name a folder that can be written."
)


class CompileWatch(event.Listener):
    """Listens to Numba compiling kernels of this package; what comes from its cache is no news."""

    def __init__(
        self, folder: Path, clock: Callable[[], float] = perf_counter, kept: bool = True
    ) -> None:
        self.words = (KEPT, folder) if kept else (NOT_KEPT,)
        self.clock = clock
        self.depth = 0  # of kernels that are compiled for the sake of others
        self.since = self.spent = 0.0
        self.said = False

    def on_start(self, event: event.Event) -> None:
        """Speak up if it has taken long; kernels have helpers, so this comes often."""
        if not _is_ours(event):
            return
        if self.depth == 0:
            self.since = self.clock()
        self.depth += 1
        if not self.said and self.spent + self.clock() - self.since > PATIENCE:
            self.said = True
            logging.getLogger("thresher").warning(*self.words)

    def on_end(self, event: event.Event) -> None:
        """Count the time."""
        if not _is_ours(event):
            return
        self.depth -= 1
        if self.depth == 0:
            self.spent += self.clock() - self.since


def _is_ours(event: event.Event) -> bool:
    function = event.data["dispatcher"].py_func
    return bool(function.__module__.startswith("thresher."))


def watch_compiling(folder: Path, kept: bool) -> None:
    """Listen from now on; kernels go to a folder that is kept, or ends with this process."""
    event.register("numba:compile", CompileWatch(folder, kept=kept))
