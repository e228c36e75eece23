"""Threads for kernels that hold no lock: any number of them gives the same bits."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event
from typing import Any

from joblib import effective_n_jobs


class Stopped(Exception):
    """Work was given up because something else went wrong, or somebody pressed Ctrl-C."""


class Workers:
    """Runs a function over many arguments, on threads if there are any, in order."""

    def __init__(
        self,
        pool: ThreadPoolExecutor | None = None,
        stop: Event | None = None,
        n_threads: int = 1,
    ) -> None:
        self._pool = pool
        self._stop = stop or Event()
        self.n_threads = n_threads

    def __call__(self, function: Callable[..., Any], *many: Any) -> list[Any]:
        """Return the function of each; if one fails, none is still at work when that is known."""
        calls = list(zip(*many, strict=True))
        if self._pool is None or len(calls) == 1:
            return [function(*one) for one in calls]
        futures = [self._pool.submit(function, *one) for one in calls]
        try:
            return [future.result() for future in futures]
        except BaseException:
            self._stop.set()
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def alone(self) -> "Workers":
        """Return a worker for use on one of the threads: it starts none, but stops with them."""
        return Workers(None, self._stop)

    def check(self) -> None:
        """Give up if others have."""
        if self._stop.is_set():
            raise Stopped


@contextmanager
def workers(n_jobs: int | None) -> Iterator[Workers]:
    """Give workers on so many threads."""
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1:
        yield Workers()
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield Workers(pool, n_threads=n_threads)
