"""Whether results agree: what is compared for speed must compute the same thing."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from thresher.bench.c_compiler import NoCompiler
from thresher.bench.contestants import KEPT, classic, sgd_l1, shared_paths, stabilized_paths
from thresher.bench.data import Data, declared
from thresher.bench.judging import read_ours, write_svmlight
from thresher.bench.one_path import OnePath, c_library

PASSES = 5


class Disagreement(Exception):
    """Two ways that must give the same did not."""


class Unasked(Exception):
    """What is to be compared is not there."""


def agreements(data: Data) -> Iterator[str]:
    """Say of everything that it was checked, or why not; raise a Disagreement if it is not true."""
    for words, holds in CHECKS.items():
        try:
            if not holds(data):
                raise Disagreement(f"It is not true that {words}.")
            yield f"checked: {words}"
        except Unasked as reason:
            yield f"not checked: {words}; {reason}"


def _threads_agree(data: Data) -> bool:
    makers = (shared_paths, lambda **given: shared_paths(paths="permutation", **given))
    return all(
        _same_bits(*(make(n_jobs=n, max_iter=PASSES).fit(data.X, data.y) for n in (1, 2)))
        for make in (*makers, stabilized_paths)
    )


def _same_bits(one: Any, other: Any) -> bool:
    return bool(
        one.coef_.tobytes() == other.coef_.tobytes()
        and one.intercept_.tobytes() == other.intercept_.tobytes()
    )


def _widths_agree(data: Data) -> bool:
    wide = declared(data, 10 * data.X.shape[1])
    kept: dict[str, Any] = {"n_features_to_select": KEPT}  # a share would be of other columns
    for make in (
        lambda **given: shared_paths(**kept, **given),
        lambda **given: classic("FTRL", **given),
    ):
        one, other = (make(max_iter=PASSES).fit(each.X, each.y) for each in (data, wide))
        if not np.array_equal(one.coef_, other.coef_[:, : data.X.shape[1]]):
            return False
    return True


def _readers_agree(data: Data) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = write_svmlight(data, Path(folder))
        ours = read_ours(path)
        rows, labels = load_svmlight_file(path, zero_based=False)
    return (
        ours.labels is not None
        and np.array_equal(ours.labels, labels)
        and np.array_equal(ours.starts, rows.indptr)
        and np.array_equal(ours.columns, rows.indices)
        and np.array_equal(ours.values, rows.data)
    )


def _margins_agree(data: Data) -> bool:
    model = classic("FTRL").fit(data.X, data.y)
    product = data.X @ model.coef_.ravel() + model.intercept_[0]
    return bool(np.allclose(model.decision_function(data.X), product, rtol=1e-12, atol=1e-12))


def _steps_agree(data: Data) -> bool:
    """Compare plain SGD with scikit-learn's, row by row in the same order."""
    common = {"learning_rate": "constant", "eta0": 0.5, "shuffle": False, "fit_intercept": False}
    ours = classic("SGD", max_iter=PASSES, **common).fit(data.X, data.y)
    theirs = sgd_l1(penalty=None, max_iter=PASSES, **common).fit(data.X, data.y)
    return bool(np.allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12))


def _loops_agree(data: Data) -> bool:
    """Compare an independent path with the same loop in C."""
    try:
        library = c_library()
    except NoCompiler as error:
        raise Unasked(error) from None
    path = OnePath(data)
    all_learnt = path.learn() == path.updates.order.size
    ours = path.learnt()
    all_learnt &= path.learn_in_c(library) == path.updates.order.size
    return all_learnt and bool(np.allclose(ours, path.learnt(), rtol=1e-9, atol=1e-12))


CHECKS: dict[str, Callable[[Data], bool]] = {
    "one thread and two give the same bits": _threads_agree,
    "columns that never occur change no weight": _widths_agree,
    "svmlight text is read as scikit-learn reads it, to the bit": _readers_agree,
    "margins are X @ coef + intercept": _margins_agree,
    "an independent path learns what the same loop in C learns": _loops_agree,
    "plain SGD takes the steps that scikit-learn's takes": _steps_agree,
}
