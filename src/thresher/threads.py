"""Threads for kernels that hold no lock: any number of them gives the same bits."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import count
from queue import SimpleQueue
from threading import Event, Lock
from typing import Any

from joblib import effective_n_jobs

Report = Callable[[float], None]  # is called with the share that is done


class Stopped(Exception):
    """Work was given up because another thread failed, or somebody pressed Ctrl-C."""


class Threads:
    """Runs a function over many arguments, in order; ``Threads()`` has only the caller's thread.

    The caller works as well: ``pool`` has one thread less than there are in all. ``report`` is
    called whenever a call has returned.
    """

    def __init__(
        self,
        pool: ThreadPoolExecutor | None = None,
        n: int = 1,
        stop: Event | None = None,
        report: Callable[[], None] | None = None,
    ) -> None:
        self.n = n
        self._report = report
        self._pool = pool
        self._stop = stop or Event()

    def map(self, function: Callable[..., Any], *many: Any) -> list[Any]:
        """Return the function of each; if one fails, none is still running when that is known."""
        calls, function = list(zip(*many, strict=True)), self._reporting(function)
        if self._pool is None or len(calls) == 1:
            return [function(*one) for one in calls]
        queue = _Queue(function, calls, self._stop)
        helpers = [self._pool.submit(queue.work) for _ in range(min(self.n, len(calls)) - 1)]
        try:
            queue.work()
            wait([helper for helper in helpers if not helper.cancel()])
        except BaseException:
            self._stop.set()
            queue.todo.clear()
            wait(helpers)
            raise
        return queue.results_in_order()

    def follow(self, function: Callable[[Any], Any], items: Iterator[Any]) -> list[Any]:
        """Return the function of each item, called in order while the next items are made."""
        function = self._reporting(function)
        if self._pool is None:
            return [function(item) for item in items]
        made: SimpleQueue[Any] = SimpleQueue()
        helper = self._pool.submit(lambda: [function(item) for item in iter(made.get, None)])
        try:
            for item in items:
                made.put(item)
        finally:
            made.put(None)
            wait([helper])
        return helper.result()

    def _reporting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that reports when it returns."""
        report = self._report
        if report is None:
            return function

        def reported(*arguments: Any) -> Any:
            found = function(*arguments)
            report()
            return found

        return reported

    def single(self) -> "Threads":
        """Return one thread, for use inside of a call of ``map``: it stops with the others."""
        return Threads(stop=self._stop)

    def check(self) -> None:
        """Raise ``Stopped`` if another thread has failed."""
        if self._stop.is_set():
            raise Stopped


@contextmanager
def threads(n_jobs: int | None, report: Callable[[], None] | None = None) -> Iterator[Threads]:
    """Open as many threads as ``n_jobs`` means to joblib."""
    n = effective_n_jobs(n_jobs)
    if n == 1:
        yield Threads(report=report)
        return
    with ThreadPoolExecutor(n - 1) as pool:
        yield Threads(pool, n, report=report)


def share_of(report: Report | None, n_calls: int) -> Callable[[], None] | None:
    """Return what reports the share of so many calls that have returned."""
    if report is None:
        return None
    report(0.0)
    done = count(1)
    return lambda: report(min(1.0, next(done) / n_calls))


class _Queue:
    """Calls that several threads make, each taking the next one."""

    def __init__(self, function: Callable[..., Any], calls: list[Any], stop: Event) -> None:
        self.function = function
        self.todo = deque(enumerate(calls))
        self.results: dict[int, Any] = {}
        self.errors: dict[int, BaseException] = {}
        self._stop = stop
        self._lock = Lock()

    def work(self) -> None:
        """Make calls as long as there are any."""
        while True:
            try:
                number, arguments = self.todo.popleft()
            except IndexError:
                return
            try:
                self.results[number] = self.function(*arguments)
            except BaseException as error:
                with self._lock:
                    self.errors[number] = error
                self.todo.clear()
            if self.errors:
                self._stop_the_others()

    def _stop_the_others(self) -> None:
        """Stop as soon as it is known which error counts: that of the first call to fail."""
        with self._lock:
            interrupted = not all(isinstance(one, Exception) for one in self.errors.values())
            known = all(number in self.results for number in range(min(self.errors)))
        if interrupted or known:
            self._stop.set()

    def results_in_order(self) -> list[Any]:
        """Return all results in the order of the calls, or raise the first error in that order."""
        if self.errors:
            causes = [n for n, error in self.errors.items() if not isinstance(error, Stopped)]
            raise self.errors[min(causes, default=min(self.errors))]
        return [self.results[number] for number in sorted(self.results)]
