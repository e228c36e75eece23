"""What selection probabilities are calibrated on: real data, made-up data, noise, and streams."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from experiments.few_speak import SETS as SETS_OF_FEW
from experiments.fitting import training_rows
from experiments.made_up import KINDS, drawn
from experiments.registry import named
from thresher.demo.data import FAINT, make_documents

REAL, MADE_UP, STREAM = "real", "made up", "stream"
WEIGHED = "weighed"  # what a fit makes of made-up data of which few columns say anything
SETS = (
    "dexter",
    "gisette-mini",
    "reuters_moneyfx",
    "farm_ads",
    "rcv1-sample",
    "dorothea",
    "arcene",
    "a9a",
)
STREAMED = (*SETS[:6], "a9a")
MADE_UP_STREAMED = (
    "noise, 2,000 x 300",
    "noise in marks",
    "weak, 400 x 2,000",
    "strong, 400 x 2,000",
    "planted words",
    "rcv1-sample, labels shuffled",
    "farm_ads, labels shuffled",
)
SIZES, FEW_COLUMNS_SIZES, SMALL_SIZES = (30, 100, 300), (10, 30, 60), (10, 50)
# of data that have few columns, or few that tell
MADE_SIZES = {"one tells, 400 x 200": (1, 3), "two tell, 400 x 200": (2, 5)}
KIND_SIZES = {
    "forest": (15,),
    "amounts": (6,),
    "a handful": (3,),
    "answers": (30,),
    "a rare class": (15,),
}
FEW_SPEAK = (
    "faint words among rare ones",
    "words",
    "words of 1,000 documents",
    "blocks of marks",
    "numbers",
)
FEW_SPEAK_SIZES = (10, 24, 48)
FEW = 1000  # columns
SOME_ROWS = 1500  # of a set whose labels are drawn anew

Labelled = tuple[sparse.csr_array, np.ndarray]


class Task(NamedTuple):
    """Rows and labels, and how many features are to be selected from them."""

    name: str
    kind: str
    rows: sparse.csr_array
    labels: np.ndarray
    size: int


def tasks(names: list[str] | None) -> Iterator[Task]:
    """Return the tasks of sets with the given names, or all."""
    for name, kind, make, sizes in _all():
        if names is None or name in names:
            rows, labels = make()
            for size in sizes:
                yield Task(name, kind, rows, labels, size)


def _all() -> Iterator[tuple[str, str, Callable[[], Labelled], tuple[int, ...]]]:
    for name in SETS:
        sizes = FEW_COLUMNS_SIZES if named(name).columns < FEW else SIZES
        yield name, REAL, _rows_of(name), sizes
    for name, make in MADE.items():
        yield name, MADE_UP, make, MADE_SIZES.get(name, SMALL_SIZES)
    for name in KINDS:
        yield name, MADE_UP, _rows_of_kind(name), KIND_SIZES.get(name, SMALL_SIZES)
    for name in FEW_SPEAK:
        yield name, MADE_UP, _rows_of_few(name), FEW_SPEAK_SIZES
    for name in STREAMED:
        sizes = FEW_COLUMNS_SIZES if named(name).columns < FEW else SIZES
        yield f"{name}, one pass", STREAM, _rows_of(name), sizes[:2]
    for name in MADE_UP_STREAMED:
        yield f"{name}, one pass", STREAM, MADE[name], SMALL_SIZES


def _rows_of(name: str) -> Callable[[], Labelled]:
    def make() -> Labelled:
        X, y = training_rows(name)
        return sparse.csr_array(X), y

    return make


def _rows_of_kind(name: str) -> Callable[[], Labelled]:
    def make() -> Labelled:
        rows, labels, _ = KINDS[name]()
        return sparse.csr_array(rows), labels

    return make


def _rows_of_few(name: str) -> Callable[[], Labelled]:
    def make() -> Labelled:
        told = SETS_OF_FEW[name](0)
        return told.X, told.y

    return make


def _normal(n: int, p: int, n_telling: int = 0, odds: float = 0.0, alike: float = 0.0) -> Labelled:
    """Return normal numbers in groups of ten that are more or less alike; some groups tell."""
    rng = np.random.default_rng(n)
    common = np.repeat(rng.normal(size=(n, p // 10)), 10, axis=1)
    rows = np.sqrt(1 - alike) * rng.normal(size=(n, p)) + np.sqrt(alike) * common
    return sparse.csr_array(rows), drawn(rng, odds * rows[:, : 10 * n_telling : 10].sum(axis=1))


def _marks(n: int, p: int, share: float, n_telling: int = 0, odds: float = 0.0) -> Labelled:
    """Return marks in a share of the cells; some columns tell."""
    rng = np.random.default_rng(n)
    rows = sparse.random_array((n, p), density=share, format="csr", rng=rng)
    rows.data[:] = 1.0
    margins = odds * (rows[:, :n_telling].sum(axis=1) - share * n_telling)
    return rows, drawn(rng, margins)


def _planted() -> Labelled:
    documents = make_documents(FAINT)
    return documents.X_train, documents.y_train


def _relabelled(name: str, changed: float) -> Labelled:
    """Return some rows of a set, and labels of which a share was shuffled."""
    rng = np.random.default_rng(0)
    X, y = training_rows(name)
    some = rng.permutation(len(y))[:SOME_ROWS]
    labels = y[some].copy()
    moved = rng.permutation(labels.size)[: round(changed * labels.size)]
    labels[moved] = labels[rng.permutation(moved)]
    return sparse.csr_array(X[some]), labels


MADE: dict[str, Callable[[], Labelled]] = {
    "noise, 200 x 300": lambda: _normal(200, 300),
    "noise, 400 x 2,000": lambda: _normal(400, 2000),
    "noise, 2,000 x 300": lambda: _normal(2000, 300),
    "noise in marks": lambda: _marks(1000, 3000, 0.01),
    "weak, 400 x 2,000": lambda: _normal(400, 2000, 20, 0.5),
    "strong, 400 x 2,000": lambda: _normal(400, 2000, 5, 1.5),
    "one tells, 400 x 200": lambda: _normal(400, 200, 1, 5.0),
    "two tell, 400 x 200": lambda: _normal(400, 200, 2, 5.0),
    "alike, 150 x 1,000": lambda: _normal(150, 1000, 5, 1.0, 0.7),
    "marks, 3,000 x 4,000": lambda: _marks(3000, 4000, 0.005, 20, 2.0),
    "planted words": _planted,
    "rcv1-sample, labels shuffled": lambda: _relabelled("rcv1-sample", 1.0),
    "rcv1-sample, most shuffled": lambda: _relabelled("rcv1-sample", 0.7),
    "farm_ads, labels shuffled": lambda: _relabelled("farm_ads", 1.0),
    "dorothea, labels shuffled": lambda: _relabelled("dorothea", 1.0),
}
