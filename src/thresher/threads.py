"""Threads for kernels that hold no lock: any number of them gives the same bits."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from queue import SimpleQueue
from threading import Event
from typing import Any

from joblib import effective_n_jobs

Report = Callable[[float], None]  # is called with the share that is done


class Stopped(Exception):
    """Work was given up because another thread failed, or somebody pressed Ctrl-C."""


@dataclass
class Threads:
    """Runs a function over many arguments, in order; ``Threads()`` has only the caller's thread.

    All stop once ``stop`` is set. ``report`` is called whenever a call has returned.
    """

    pool: ThreadPoolExecutor | None = None
    n: int = 1
    stop: Event | None = None
    report: Callable[[], None] | None = None

    def map(self, function: Callable[..., Any], *many: Any) -> list[Any]:
        """Return the function of each, or raise the first error in their order.

        If one fails, none is still running when that is known.
        """
        calls = list(zip(*many, strict=True))
        if self.report is not None:
            function = self._reporting(function)
        if self.pool is None or self.stop is None or len(calls) == 1:
            return [function(*one) for one in calls]
        futures = [self.pool.submit(function, *one) for one in calls]
        try:
            return [future.result() for future in futures]
        except BaseException:
            self.stop.set()
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def follow(self, function: Callable[[Any], Any], items: Iterator[Any]) -> list[Any]:
        """Return the function of each item, called in order while the next items are made."""
        if self.report is not None:
            function = self._reporting(function)
        if self.pool is None:
            return [function(item) for item in items]
        made: SimpleQueue[Any] = SimpleQueue()
        helper = self.pool.submit(lambda: [function(item) for item in iter(made.get, None)])
        try:
            for item in items:
                made.put(item)
        finally:
            made.put(None)
            wait([helper])
        return helper.result()

    def _reporting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that reports when it returns."""

        def reported(*arguments: Any) -> Any:
            found = function(*arguments)
            if self.report is not None:
                self.report()
            return found

        return reported

    def single(self) -> "Threads":
        """Return one thread, for use inside of a call of ``map``: it stops with the others."""
        return Threads(stop=self.stop)

    def check(self) -> None:
        """Raise ``Stopped`` if another thread has failed."""
        if self.stop is not None and self.stop.is_set():
            raise Stopped


@contextmanager
def threads(n_jobs: int | None, report: Callable[[], None] | None = None) -> Iterator[Threads]:
    """Open as many threads as ``n_jobs`` means to joblib."""
    n = 1 if n_jobs == 1 else effective_n_jobs(n_jobs)
    if n == 1:
        yield Threads(report=report)
        return
    with ThreadPoolExecutor(n) as pool:
        yield Threads(pool, n, Event(), report)


def share_of(report: Report | None, n_calls: int) -> Callable[[], None] | None:
    """Return what reports the share of so many calls that have returned."""
    if report is None:
        return None
    report(0.0)
    done = count(1)
    return lambda: report(min(1.0, next(done) / n_calls))
