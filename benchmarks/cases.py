"""Everything that is measured, by name."""

import operator
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.datasets import load_svmlight_file

from benchmarks import memory
from benchmarks.peers import (
    CLASSICS,
    LIBLINEAR,
    PASSES,
    SGD_L1,
    classic,
    fitting,
    flagship,
    has,
    liblinear,
    river_pass,
    sgd_l1,
    stabilized,
    vowpal_passes,
)
from benchmarks.rows import Data, main_rows, small_text, uniform, write_csv, write_svmlight
from benchmarks.timing import SHORT_ROUNDS, Figure, Setting, Task, best_of
from experiments import data, judge
from experiments.rivals import METHODS
from thresher import open_rows
from thresher.formats.chunk import Chunk, joined

SIZES = (50, 500)
BY_ITSELF = "size by itself"
CSV_ROWS = 20_000
ELIMINATION_SIZE = 100
NARROW, WIDE = 10**5, 10**7


def compared(
    case: str, rows: Data, rounds: int, ours: Mapping[str, Task], theirs: Mapping[str, Task]
) -> Iterator[Figure]:
    """Yield each of ours over theirs, all measured in turn."""
    (peer,) = theirs
    best = best_of(rounds, {**theirs, **ours})
    for name in ours:
        yield Figure.of(case, rows.name, {key: best[key] for key in (name, peer)})


def fit(setting: Setting) -> Iterator[Figure]:
    """The flagship's fit over 20 passes of scikit-learn's SGD with L1."""
    rows = main_rows(setting)
    ours = {
        f"{size if size == BY_ITSELF else f'{size} features'}, {n_jobs} thread(s)": fitting(
            flagship("auto" if size == BY_ITSELF else size, n_jobs=n_jobs), rows
        )
        for size in (*SIZES, BY_ITSELF)
        for n_jobs in (1, 2)
    }
    yield from compared("fit", rows, setting.rounds, ours, {SGD_L1: fitting(sgd_l1(), rows)})


def fit_liblinear(setting: Setting) -> Iterator[Figure]:
    """The flagship's fit over liblinear's L1."""
    rows = main_rows(setting)
    ours = {f"{size} features": fitting(flagship(size), rows) for size in SIZES}
    theirs = {LIBLINEAR: fitting(liblinear(), rows)}
    yield from compared("fit, liblinear", rows, setting.rounds, ours, theirs)


def classics(setting: Setting) -> Iterator[Figure]:
    """Online learners over scikit-learn's SGD with L1, all with the same passes."""
    rows = main_rows(setting)
    ours = {name: fitting(classic(name), rows) for name in CLASSICS}
    ours["stabilized, 16 paths"] = fitting(stabilized(), rows)
    yield from compared("pass", rows, setting.rounds, ours, {SGD_L1: fitting(sgd_l1(), rows)})


def vowpal(setting: Setting) -> Iterator[Figure]:
    """Online learners over Vowpal Wabbit's passes over its cache."""
    if not has("vowpalwabbit"):
        setting.notify("vowpal: skipped, Vowpal Wabbit is not installed")
        return
    rows = main_rows(setting)
    ours = {name: fitting(classic(name), rows) for name in CLASSICS}
    with tempfile.TemporaryDirectory() as folder:
        theirs = {"Vowpal Wabbit": vowpal_passes(rows, Path(folder))}
        yield from compared("pass, Vowpal Wabbit", rows, setting.rounds, ours, theirs)


def river(setting: Setting) -> Iterator[Figure]:
    """Nanoseconds per nonzero of online learners over those of river, which takes dictionaries."""
    if not has("river"):
        setting.notify("river: skipped, river is not installed")
        return
    rows = main_rows(setting)
    few = rows.head(1_000)
    tasks = {name: fitting(classic(name), rows) for name in CLASSICS}
    best = best_of(setting.rounds, {"river": river_pass(few), **tasks})
    for name in CLASSICS:
        parts = {
            name: 1e9 * best[name] / (PASSES * rows.X.nnz),
            "river": 1e9 * best["river"] / few.X.nnz,
        }
        yield Figure.of("pass, river", rows.name, parts)


def predict(setting: Setting) -> Iterator[Figure]:
    """Predicting over scipy's product of the rows with the coefficients."""
    rows = main_rows(setting)
    for name, model in {"flagship": flagship(50), "FTRL": classic("FTRL", max_iter=2)}.items():
        model.fit(rows.X, rows.y)
        ours = {name: partial(model.predict, rows.X)}
        theirs = {"X @ coef": partial(operator.matmul, rows.X, model.coef_.ravel())}
        yield from compared("predict", rows, max(setting.rounds, SHORT_ROUNDS), ours, theirs)


def partial_fit(setting: Setting) -> Iterator[Figure]:
    """Calls of partial_fit over those of scikit-learn's SGD."""
    rows = main_rows(setting)
    for n in (1, 100):
        calls = 5 if setting.small else 100
        ours = {
            f"FTRL, {n} row(s)": partial(_calls, classic("FTRL"), rows, n, calls),
            f"flagship, {n} row(s)": partial(_calls, flagship(50), rows, n, calls),
        }
        theirs = {"scikit-learn SGD": partial(_calls, sgd_l1(), rows, n, calls)}
        yield from compared("partial_fit", rows, setting.rounds, ours, theirs)


def chunks(setting: Setting) -> Iterator[Figure]:
    """One pass in chunks of 100 rows over the same rows in one call."""
    rows, calls = main_rows(setting), 5 if setting.small else 100
    for name, make in {"FTRL": partial(classic, "FTRL"), "flagship": partial(flagship, 50)}.items():
        ours = {f"{name}, 100 rows a call": lambda make=make: _calls(make(), rows, 100, calls)}
        theirs = {"one call": lambda make=make: _calls(make(), rows, 100 * calls, 1)}
        yield from compared("chunks", rows, setting.rounds, ours, theirs)


def _calls(model: Any, rows: Data, n: int, calls: int) -> None:
    """Learn the rows from the beginning, chunk by chunk; the model goes on from where it was."""
    for k in range(calls):
        part = slice(k * n % rows.y.size, k * n % rows.y.size + n)
        model.partial_fit(rows.X[part], rows.y[part], classes=[-1, 1])


def read(setting: Setting) -> Iterator[Figure]:
    """Reading files over scikit-learn's svmlight loader, and over pandas."""
    rows = main_rows(setting)
    with tempfile.TemporaryDirectory() as folder:
        path = write_svmlight(rows, Path(folder))
        ours = {"svmlight": partial(read_all, path, index_base=1)}
        theirs = {"scikit-learn": partial(load_svmlight_file, str(path))}
        yield from compared("read", rows, setting.rounds, ours, theirs)
        if not has("pandas"):
            setting.notify("read csv: skipped, pandas is not installed")
            return
        import pandas as pd

        table = write_csv(200 if setting.small else CSV_ROWS, Path(folder))
        ours = {"csv": partial(read_all, table)}
        numbers = rows._replace(name="50 columns")
        theirs = {"pandas": partial(pd.read_csv, table)}
        yield from compared("read", numbers, setting.rounds, ours, theirs)


def read_all(path: Path, **options: Any) -> Chunk:
    """Return a file's rows in one piece, as other loaders do."""
    return joined(list(open_rows(path, **options).chunks()))


def width(setting: Setting) -> Iterator[Figure]:
    """The same rows in ten million columns over a hundred thousand."""
    n = 200 if setting.small else 20_000
    rows = uniform(n, NARROW)
    for name, model in {"FTRL": classic("FTRL", max_iter=5), "flagship": flagship(50)}.items():
        sides = {
            f"{name}, 1e7 columns": fitting(model, rows.wide(WIDE)),
            "1e5 columns": fitting(model, rows),
        }
        parts = best_of(setting.rounds, sides)
        yield Figure.of("width", rows.name, parts)


def elimination(setting: Setting) -> Iterator[Figure]:
    """The default fit over ridge elimination at one size, CPU seconds summed over real sets."""
    sets = [name for name in data.of_role("new", "paper", "extension") if data.available(name)]
    if setting.small or not sets:
        setting.notify("elimination: skipped, THRESHER_DATA names no folder with the sets")
        return
    fitting(flagship(10), small_text())()  # compiles
    parts = dict.fromkeys(("default fit", "ridge elimination"), 0.0)
    for name in sets:
        split = judge.prepare(name, 0)
        fits = (
            lambda s=split: flagship().fit(s.X_train, s.y_train),
            lambda s=split: METHODS["elimination"](s.X_train, s.y_train, ELIMINATION_SIZE, 0),
        )
        for side, task in zip(parts, fits, strict=True):
            started = time.process_time()
            task()
            parts[side] += time.process_time() - started
    yield Figure.of("elimination", f"{len(sets)} sets", parts)


CASES: dict[str, Callable[[Setting], Iterator[Figure]]] = {
    "fit": fit,
    "liblinear": fit_liblinear,
    "classics": classics,
    "vowpal": vowpal,
    "river": river,
    "predict": predict,
    "partial_fit": partial_fit,
    "chunks": chunks,
    "read": read,
    "width": width,
    "elimination": elimination,
    "stream": memory.stream,
    "start": memory.start,
}
