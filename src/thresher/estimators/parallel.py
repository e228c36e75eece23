"""Threads for kernels that hold no lock: any number of them gives the same bits."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from joblib import effective_n_jobs

from thresher.learners.protocol import Map


@contextmanager
def workers(n_jobs: int | None) -> Iterator[Map]:
    """Give a ``map`` that runs on so many threads, and keeps the order of its results."""
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1:
        yield map
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield lambda function, *many: list(pool.map(function, *many))
