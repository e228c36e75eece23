"""How time follows threads, columns and rows."""

from collections.abc import Iterator
from functools import partial

from thresher.bench.clock import PATIENCE, Task, best_of
from thresher.bench.contestants import (
    CLASSICS,
    KEPT,
    PATHS,
    classic,
    fitting,
    shared_paths,
    stabilized_paths,
)
from thresher.bench.data import Data, declared, make_text, make_uniform
from thresher.bench.record import Measured, ratio
from thresher.bench.setting import Setting

NARROW, WIDE = 10**5, 10**7
TIMES = 16
CHUNK = 1_000  # rows of a stream that come at once
BURST = 20
ONE_LINE = "shared paths, one line"  # of weights: there is nothing to share out


def threads(setting: Setting) -> Iterator[Measured]:
    """One thread over two: how many times as fast two are."""
    data = setting.main()
    for words, make in {
        "independent paths, bursts of 20": lambda n: stabilized_paths(burst_size=BURST, n_jobs=n),
        "independent paths": lambda n: stabilized_paths(n_jobs=n),
        "thresher, independent paths": lambda n: shared_paths(paths="permutation", n_jobs=n),
        "shared paths, two lines": lambda n: shared_paths(n_paths=2 * PATHS, n_jobs=n),
        ONE_LINE: lambda n: shared_paths(n_jobs=n),
    }.items():
        names = (f"{words}: one thread", "two threads")
        tasks = {name: fitting(make(n + 1), data) for n, name in enumerate(names)}
        yield ratio("threads", data.name, names, best_of(PATIENCE * setting.rounds, tasks))


def width(setting: Setting) -> Iterator[Measured]:
    """The same rows in ten million columns over the same rows in a hundred thousand."""
    rows = make_uniform(setting.n_rows, NARROW)
    both = {columns: declared(rows, columns) for columns in (WIDE, NARROW)}
    for words, task in {
        "shared paths": lambda data: fitting(shared_paths(n_features_to_select=KEPT), data),
        "FTRL": lambda data: fitting(classic("FTRL"), data),
        "FTRL, a stream": stream_task,
    }.items():
        names = (f"{words}: 1e7 columns", "1e5")
        tasks = {name: task(both[columns]) for name, columns in zip(names, both, strict=True)}
        yield ratio("width", rows.name, names, best_of(setting.rounds, tasks))


def stream_task(data: Data) -> Task:
    """Return the task of learning rows as a stream, chunk by chunk."""
    cuts = [slice(start, start + CHUNK) for start in range(0, data.y.size, CHUNK)]
    chunks = [(data.X[cut], data.y[cut]) for cut in cuts]

    def learn() -> None:
        model = classic("FTRL")
        for X, y in chunks:
            model.partial_fit(X, y, classes=[-1, 1])

    return learn


def rows(setting: Setting) -> Iterator[Measured]:
    """Sixteen times the rows over the rows, passes the same."""
    few = make_text(setting.n_rows // 8)
    many = make_text(TIMES * few.y.size)
    classics = {name: partial(classic, name) for name in CLASSICS}
    learners: dict[str, Task] = {"shared paths": shared_paths, **classics}
    for words, make in learners.items():
        names = (f"{words}: 16 times the rows", "once")
        tasks = {name: fitting(make(), data) for name, data in zip(names, (many, few), strict=True)}
        yield ratio("rows", few.name, names, best_of(PATIENCE * setting.rounds, tasks))
