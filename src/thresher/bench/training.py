"""Training times against peers."""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from thresher.bench.c_compiler import NoCompiler, compiler_words
from thresher.bench.clock import LEAST_ROUNDS, Task, best_of
from thresher.bench.contestants import (
    CLASSICS,
    LIBLINEAR,
    PASSES,
    SGD_L1,
    SHARED,
    classic,
    fitting,
    has,
    head,
    liblinear,
    river_pass,
    sgd_l1,
    shared_paths,
    stabilized_paths,
    vowpal_passes,
)
from thresher.bench.data import Data
from thresher.bench.one_path import OnePath, c_library
from thresher.bench.record import Measured, ratio
from thresher.bench.setting import Setting

RIVER_ROWS = 1_000  # it takes microseconds for what others do in nanoseconds


def shared(setting: Setting) -> Iterator[Measured]:
    """Sixteen paths on one stream against scikit-learn's one."""
    for data in setting.each_set():
        tasks = {SHARED: fitting(shared_paths(), data), SGD_L1: fitting(sgd_l1(), data)}
        parts = best_of(setting.rounds, tasks)
        yield ratio("shared", data.name, (SHARED, SGD_L1), parts)


def against_liblinear(setting: Setting) -> Iterator[Measured]:
    """Sixteen paths on one stream against liblinear."""
    data = setting.main()
    tasks = {SHARED: fitting(shared_paths(), data), LIBLINEAR: fitting(liblinear(), data)}
    parts = best_of(setting.rounds, tasks)
    yield ratio("liblinear", data.name, (SHARED, LIBLINEAR), parts)


def independent(setting: Setting) -> Iterator[Measured]:
    """Sixteen paths with permutations of their own against scikit-learn's one."""
    data = setting.main()
    ours = {
        f"{name}, {words}": make(n_jobs)
        for name, make in {
            "stabilized": lambda n: stabilized_paths(n_jobs=n),
            "thresher": lambda n: shared_paths(paths="permutation", n_jobs=n),
        }.items()
        for words, n_jobs in {"one thread": 1, "two threads": 2}.items()
    }
    models = {SGD_L1: sgd_l1(), **ours}
    parts = best_of(setting.rounds, {name: fitting(one, data) for name, one in models.items()})
    for name in ours:
        both = {key: parts[key] for key in (name, SGD_L1)}
        yield ratio("independent", data.name, (name, SGD_L1), both)


def against_c(setting: Setting) -> Iterator[Measured]:
    """Give one independent path's nanoseconds per nonzero over those of the same loop in C."""
    try:
        library, theirs = c_library(), f"C ({compiler_words()})"
    except NoCompiler as error:
        setting.say(f"c: {error}")
        return
    data = setting.main()
    path, ours = OnePath(data), "one path"
    tasks: dict[str, Task] = {ours: path.learn, theirs: partial(path.learn_in_c, library)}
    seconds = best_of(max(setting.rounds, LEAST_ROUNDS), tasks)
    parts = {name: 1e9 * one / path.nonzeros for name, one in seconds.items()}
    yield ratio("c", data.name, (ours, theirs), parts)


def classics(setting: Setting) -> Iterator[Measured]:
    """Learners with one path against scikit-learn's, nonzero by nonzero."""
    data = setting.main()
    yield from _per_learner("classics", data, {SGD_L1: fitting(sgd_l1(), data)}, setting.rounds)


def against_vowpal(setting: Setting) -> Iterator[Measured]:
    """Learners with one path against Vowpal Wabbit's passes over its cache."""
    if not has("vowpalwabbit"):
        setting.say("vw: Vowpal Wabbit is not installed (pip install vowpalwabbit)")
        return
    with tempfile.TemporaryDirectory() as folder:
        data = setting.main()
        peer = {"Vowpal Wabbit": vowpal_passes(data, Path(folder), PASSES)}
        yield from _per_learner("vw", data, peer, setting.rounds)


def against_river(setting: Setting) -> Iterator[Measured]:
    """Learners with one path against river, which learns row by row from dictionaries."""
    if not has("river"):
        setting.say("river: river is not installed (pip install river)")
        return
    data = setting.main()
    few = head(data, RIVER_ROWS)
    tasks = {name: fitting(classic(name), data) for name in CLASSICS}
    seconds = best_of(setting.rounds, {"river": river_pass(few), **tasks})
    theirs = 1e9 * seconds["river"] / few.X.nnz
    for name in CLASSICS:
        parts = {name: 1e9 * seconds[name] / (PASSES * data.X.nnz), "river": theirs}
        yield ratio("river", data.name, (name, "river"), parts)


def _per_learner(
    measure: str, data: Data, peer: dict[str, Task], rounds: int
) -> Iterator[Measured]:
    """Give every learner's nanoseconds per nonzero over a peer's, all with the same passes."""
    tasks = {**peer, **{name: fitting(classic(name), data) for name in CLASSICS}}
    seconds = best_of(rounds, tasks)
    parts = {name: 1e9 * one / (PASSES * data.X.nnz) for name, one in seconds.items()}
    (theirs,) = peer
    for name in CLASSICS:
        both = {key: parts[key] for key in (name, theirs)}
        yield ratio(measure, data.name, (name, theirs), both)
