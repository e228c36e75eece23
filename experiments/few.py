"""``python -m experiments.few``: errors with very few features.

Re-splits (70/30) of the training rows of each set, at most 10,000 of them; rows of unit length. The
default, the default without the exchange between selection and refit, the default that reads its
rows in chunks, as those of a large file, or once, and the batch judges at the same number of
features. Mean error in %; test rows take no part.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
from scipy.sparse import csr_matrix

from experiments.ablation.variants import VARIANTS
from experiments.claim.judging import missed
from experiments.claim.rivals import RIVALS
from experiments.datasets import Split, split
from experiments.fitting import training_rows
from experiments.scaling import scaled
from thresher.estimators import gathering

SIZES = (2, 3, 5, 10, 20, 50)
MOST_ROWS = 10_000
# Small sets are split more often: their errors swing.
SETS = {
    "reuters_moneyfx": 5,
    "rcv1-sample": 3,
    "a9a": 3,
    "farm_ads": 3,
    "dorothea": 3,
    "gisette-mini": 6,
    "dexter": 12,
}
VARIANTS_SHOWN = {"default": "the default", "no-exchange": "without the exchange"}
CHUNK = 256  # rows
RIVALS_SHOWN = ("liblinear-l1", "l1-refit", "ridge-elimination")

Maker = Callable[[csr_matrix, np.ndarray, int, int], Any]


def contenders() -> dict[str, Maker]:
    """Return by their titles who makes a model of rows, a size and a seed."""

    def variant(name: str) -> Maker:
        return lambda X, y, size, seed: VARIANTS[name].build(size, seed).fit(X, y)

    def rival(name: str) -> Maker:
        sizer = RIVALS[name].sizer(RIVALS[name].params)

        def make(X: csr_matrix, y: np.ndarray, size: int, seed: int) -> Any:
            return sizer.model(sizer.settings(X, y, [size])[size], X, y, seed)

        return make

    ours = {title: variant(name) for name, title in VARIANTS_SHOWN.items()}
    ours |= {"the default, in chunks": in_chunks, "the default, in one pass": in_one_pass}
    return {**ours, **{RIVALS[name].title: rival(name) for name in RIVALS_SHOWN}}


def in_chunks(X: csr_matrix, y: np.ndarray, size: int, seed: int) -> Any:
    """Return the default's model of rows that do not fit into memory."""
    model = VARIANTS["default"].build(size, seed)
    with mock.patch.object(gathering, "MOST_AT_HAND", 0):
        return model.fit_stream(list(_chunks(X, y)))


def in_one_pass(X: csr_matrix, y: np.ndarray, size: int, seed: int) -> Any:
    """Return the default's model of rows that pass once."""
    model = VARIANTS["default"].build(size, seed).set_params(max_iter=1)
    return model.fit_stream(_chunks(X, y), classes=np.unique(y))


def _chunks(X: csr_matrix, y: np.ndarray) -> Iterator[tuple[csr_matrix, np.ndarray]]:
    for first in range(0, y.size, CHUNK):
        yield X[first : first + CHUNK], y[first : first + CHUNK]


def resplits(dataset: str, count: int) -> list[Split]:
    """Return random splits of a set's training rows."""
    X, y = training_rows(dataset)
    some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    return [scaled(split(X[some], y[some], seed), "row-l2") for seed in range(count)]


def lines(dataset: str, count: int) -> list[str]:
    """Return the lines of a set, one for everybody."""
    splits = resplits(dataset, count)
    found = []
    for title, make in contenders().items():
        errors = [
            np.mean(
                [
                    100 * missed(make(data.X_train, data.y_train, size, seed), data).mean()
                    for seed, data in enumerate(splits)
                ]
            )
            for size in SIZES
        ]
        found.append(f"| {dataset} | {title} | {' | '.join(f'{one:.2f}' for one in errors)} |")
    return found


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.few", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", choices=SETS)
    command.add_argument("--splits", metavar="N", type=int, help="instead of as many as usual")
    options = command.parse_args(words)
    print(f"| set | method | {' | '.join(map(str, SIZES))} |")
    print("|---" * (len(SIZES) + 2) + "|")
    for name in options.data or SETS:
        print("\n".join(lines(name, options.splits or SETS[name])), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
