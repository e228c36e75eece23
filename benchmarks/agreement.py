"""What is compared for speed must compute the same thing."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks.cases import read_all
from benchmarks.peers import classic, flagship, sgd_l1, stabilized
from benchmarks.rows import Data, write_svmlight

PASSES = 5


class Disagreement(Exception):
    """Two ways that must give the same did not."""


def agreements(rows: Data) -> Iterator[str]:
    """Yield what was checked; raise a Disagreement at what does not hold."""
    for words, holds in CHECKS.items():
        if not holds(rows):
            raise Disagreement(f"It does not hold that {words}.")
        yield f"checked: {words}"


def _same_bits(one: Any, other: Any) -> bool:
    return (
        one.coef_.tobytes() == other.coef_.tobytes()
        and one.intercept_.tobytes() == other.intercept_.tobytes()
    )


def threads_agree(rows: Data) -> bool:
    """Compare one thread with two."""
    makers: tuple[Callable[[int], Any], ...] = (
        lambda n: flagship(20, n_jobs=n),
        lambda n: stabilized(n_jobs=n, max_iter=PASSES),
    )
    return all(_same_bits(*(make(n).fit(rows.X, rows.y) for n in (1, 2))) for make in makers)


def chunks_agree(rows: Data) -> bool:
    """Compare a stream in one chunk with the same in many."""
    models = []
    for size in (rows.y.size, 7):
        models.append(classic("FTRL"))
        for first in range(0, rows.y.size, size):
            part = slice(first, first + size)
            models[-1].partial_fit(rows.X[part], rows.y[part], classes=[-1, 1])
    return _same_bits(*models)


def widths_agree(rows: Data) -> bool:
    """Compare rows with the same in ten times the columns."""
    wide = rows.wide(10 * rows.X.shape[1])
    for make in (lambda: flagship(20), lambda: classic("FTRL", max_iter=PASSES)):
        one, other = (make().fit(each.X, each.y) for each in (rows, wide))
        if not np.array_equal(one.coef_, other.coef_[:, : rows.X.shape[1]]):
            return False
    return True


def readers_agree(rows: Data) -> bool:
    """Compare our svmlight reader with scikit-learn's."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_svmlight(rows, Path(folder))
        ours = read_all(path, index_base=1)
        X, y = load_svmlight_file(str(path), zero_based=False)
    pairs = (ours.starts, X.indptr), (ours.columns, X.indices), (ours.values, X.data)
    labels = ours.labels is not None and np.array_equal(ours.labels, y)
    return labels and all(np.array_equal(*pair) for pair in pairs)


def margins_agree(rows: Data) -> bool:
    """Compare margins with what the coefficients say."""
    model = classic("FTRL").fit(rows.X, rows.y)
    product = rows.X @ model.coef_.ravel() + model.intercept_[0]
    return bool(np.allclose(model.decision_function(rows.X), product, rtol=1e-12, atol=1e-12))


def steps_agree(rows: Data) -> bool:
    """Compare plain SGD with scikit-learn's, row by row in the same order."""
    common = {"learning_rate": "constant", "eta0": 0.5, "shuffle": False, "fit_intercept": False}
    ours = classic("SGD", max_iter=PASSES, **common).fit(rows.X, rows.y)
    theirs = sgd_l1(penalty=None, max_iter=PASSES, **common).fit(rows.X, rows.y)
    return bool(np.allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12))


CHECKS: dict[str, Callable[[Data], bool]] = {
    "one thread and two give the same bits": threads_agree,
    "a stream gives the same bits however it is cut": chunks_agree,
    "columns that never occur change no weight": widths_agree,
    "svmlight text is read as scikit-learn reads it, to the bit": readers_agree,
    "margins are X @ coef + intercept": margins_agree,
    "plain SGD takes the steps that scikit-learn's takes": steps_agree,
}
