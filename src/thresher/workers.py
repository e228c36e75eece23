"""Threads for kernels that hold no lock: any number of them gives the same bits."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event, Lock
from typing import Any

from joblib import effective_n_jobs

LISTENING = 0.1  # seconds between two looks at whether others have given up


class Stopped(Exception):
    """Work was given up because something else went wrong, or somebody pressed Ctrl-C."""


class Shift:
    """Calls that several threads make, each taking the next that nobody has taken."""

    def __init__(self, function: Callable[..., Any], calls: list[Any], stop: Event) -> None:
        self.function = function
        self.todo = deque(enumerate(calls))
        self.results: dict[int, Any] = {}
        self.errors: dict[int, BaseException] = {}
        self._stop = stop
        self._one_at_a_time = Lock()

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
                self._note(number, error)
            if self.errors:
                self._stop_what_is_in_vain()

    def _note(self, number: int, error: BaseException) -> None:
        with self._one_at_a_time:
            self.errors[number] = error
        self.todo.clear()

    def _stop_what_is_in_vain(self) -> None:
        """Stop the others once it is known which error counts: that of the first call to fail."""
        with self._one_at_a_time:
            interrupted = not all(isinstance(one, Exception) for one in self.errors.values())
            known = all(number in self.results for number in range(min(self.errors)))
        if interrupted or known:
            self._stop.set()

    def end(self) -> list[Any]:
        """Return all results in the order of the calls, or raise the first error in that order."""
        if self.errors:
            causes = [n for n, error in self.errors.items() if not isinstance(error, Stopped)]
            raise self.errors[min(causes, default=min(self.errors))]
        return [self.results[number] for number in sorted(self.results)]


class Workers:
    """Runs a function over many arguments, in order; threads help if there are any.

    Whoever asks works as well: ``pool`` has one thread less than there are in all.
    """

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
        shift = Shift(function, calls, self._stop)
        n_helpers = min(self.n_threads, len(calls)) - 1
        helpers = [self._pool.submit(shift.work) for _ in range(n_helpers)]
        try:
            shift.work()
            wait([helper for helper in helpers if not helper.cancel()])
        except BaseException:
            self._stop.set()
            shift.todo.clear()
            wait(helpers)
            raise
        return shift.end()

    def attended(
        self, function: Callable[[int], Any], n_threads: int, give_up: Callable[[], None]
    ) -> None:
        """Let so many threads make one long call each; who asks listens for Ctrl-C and for others.

        ``give_up`` makes the calls return soon; it is called if anything goes wrong.
        """
        with ThreadPoolExecutor(n_threads) as pool:
            calls = [pool.submit(function, number) for number in range(n_threads)]
            try:
                while wait(calls, LISTENING, FIRST_EXCEPTION).not_done:
                    self.check()
                    for call in calls:
                        if call.done():
                            call.result()
            except BaseException:
                give_up()
                raise
        for call in calls:
            call.result()

    def later(self, function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
        """Return what gives the function's result; a thread that has nothing to do may begin."""
        if self._pool is None:
            return lambda: function(*arguments)
        return self._pool.submit(function, *arguments).result

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
    with ThreadPoolExecutor(n_threads - 1) as pool:
        yield Workers(pool, n_threads=n_threads)
