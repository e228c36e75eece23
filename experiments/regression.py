"""ThresherRegressor against the Lasso at the same number of features, on generated documents.

    python -m experiments.regression [--quick]     # R2 on new rows, planted features found, seconds
    python -m experiments.regression --rates       # cross-validation over the lengths of steps
    python -m experiments.regression --sizes       # sizes it chooses itself, beside given ones
    python -m experiments.regression --stream      # one pass over few rows and many, beside fit

The truth is a weight for each of 60 planted words, 20 each in about 1, 4 and 15 per cent of the
rows, and 40 per cent of the targets' variance is noise, or nothing of it. The other words follow
Zipf's law.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import normalize

from thresher import ThresherRegressor
from thresher.estimators.paths import PATH_RATES
from thresher.learners import stages

SHARES = (0.01, 0.04, 0.15)  # of the rows that planted words occur in
PER_SHARE = 20
RATES = (0.05, 0.15, 0.3, 0.5, 1.5)
LOSSES = ("squared_error", "huber")
GIVEN = (10, 20, 40, 60, 100, 200)  # sizes
STREAMED, NEW_ROWS = (150, 300, 600, 1500, 5000), 2000  # rows that are learnt, and to judge by


@dataclass(frozen=True)
class Shape:
    """What the rows look like."""

    n_columns: int = 5000
    words: float = 60.0  # in a row, on the average
    lengths: float = 0.0  # how much rows differ in length: the deviation of its logarithm
    unit: bool = False  # whether rows are scaled to unit length
    noise: float = 0.4  # of the targets' variance


SHAPES = {
    "counts": Shape(),
    "unit length": Shape(unit=True),
    "short and long": Shape(lengths=1.0),
    "no noise": Shape(noise=0.0),
}


@cache
def draw(shape: Shape, n_rows: int, seed: int) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Return rows, targets in odd units, and the planted columns."""
    rng = np.random.default_rng(seed)
    n_planted = PER_SHARE * len(SHARES)
    shares = 1.0 / np.arange(2, shape.n_columns - n_planted + 2)
    shares *= shape.words / shares.sum()
    shares = np.concatenate([np.repeat(SHARES, PER_SHARE), np.minimum(shares, 0.9)])
    longer = np.exp(rng.normal(0, shape.lengths, n_rows) - shape.lengths**2 / 2)
    columns = [sparse.csc_array(np.log1p(_counts(share, longer, rng))) for share in shares]
    rows = sparse.csr_array(sparse.hstack(columns))
    rows = sparse.csr_array(normalize(rows)) if shape.unit else rows
    truth = np.zeros(shape.n_columns)
    truth[:n_planted] = rng.choice([-1.0, 1.0], n_planted) * rng.uniform(0.5, 1.5, n_planted)
    signal = rows @ truth
    spread = signal.std() * np.sqrt(shape.noise / (1 - shape.noise))
    targets = signal + rng.normal(size=n_rows) * spread
    mixed = rng.permutation(shape.n_columns)
    return rows[:, np.argsort(mixed)], 500 + 30 * targets, np.sort(mixed[:n_planted])


def _counts(share: float, longer: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return how often a word that occurs in such a share of rows is in each, as a column."""
    return rng.poisson(-np.log1p(-share) * longer)[:, None]


class LassoOfSize:
    """The Lasso with its penalty bisected to a number of features, refitted or not."""

    def __init__(self, n_features: int, refit: bool) -> None:
        self.n_features, self.refit = n_features, refit

    def fit(self, rows: sparse.csr_array, targets: np.ndarray) -> "LassoOfSize":
        """Learn the rows."""
        columns = sparse.csc_array(rows)
        most = np.abs(columns.T @ (targets - targets.mean())).max() / targets.size
        low, high = np.log(most) - 9, np.log(most)
        for _ in range(12):
            middle = (low + high) / 2
            self.model = Lasso(np.exp(middle), max_iter=3000).fit(columns, targets)
            n_used = np.count_nonzero(self.model.coef_)
            if n_used == self.n_features:
                break
            low, high = (low, middle) if n_used < self.n_features else (middle, high)
        self.columns = np.flatnonzero(self.model.coef_)
        if self.refit:
            self.model = LinearRegression().fit(rows[:, self.columns].toarray(), targets)
        return self

    def predict(self, rows: sparse.csr_array) -> np.ndarray:
        """Return what the rows are expected to be."""
        return self.model.predict(rows[:, self.columns].toarray() if self.refit else rows)


class ThresherOfSize:
    """The regressor with its defaults."""

    def __init__(self, n_features: int | str, **changes: Any) -> None:
        self.model = ThresherRegressor(n_features_to_select=n_features, random_state=0, **changes)

    def fit(self, rows: sparse.csr_array, targets: np.ndarray) -> "ThresherOfSize":
        """Learn the rows."""
        self.model.fit(rows, targets)
        self.columns = self.model.get_support(indices=True)
        return self

    def predict(self, rows: sparse.csr_array) -> np.ndarray:
        """Return what the rows are expected to be."""
        return self.model.predict(rows)


class ThresherStream(ThresherOfSize):
    """The regressor on one pass, a thousand rows at a time."""

    def fit(self, rows: sparse.csr_array, targets: np.ndarray) -> "ThresherStream":
        """Learn the rows."""
        for first in range(0, targets.size, 1000):
            now = slice(first, first + 1000)
            self.model.partial_fit(rows[now], targets[now])
        self.columns = self.model.get_support(indices=True)
        return self


STREAMS = (
    ("one pass, each row once", ThresherStream, 0),
    ("one pass", ThresherStream, stages.REHEARSALS),
    ("fit", ThresherOfSize, 0),
)

RIVALS: dict[str, Callable[[int], Any]] = {
    "ThresherRegressor": ThresherOfSize,
    "ThresherRegressor, Huber": lambda n: ThresherOfSize(n, loss="huber"),
    "ThresherRegressor, one pass": ThresherStream,
    "Lasso": lambda n: LassoOfSize(n, refit=False),
    "Lasso, refitted": lambda n: LassoOfSize(n, refit=True),
}


def compare(n_rows: int, sizes: tuple[int, ...], seeds: range) -> None:
    """Print how well each method predicts new rows with so many features."""
    for name, shape in SHAPES.items():
        drawn = [draw(shape, 2 * n_rows, seed) for seed in seeds]
        table = []
        for rival, n in product(RIVALS, sizes):
            results = [judged(RIVALS[rival](n), n_rows, *one) for one in drawn]
            r2, size, found, seconds = np.mean(results, axis=0)
            table.append([rival, f"{size:.0f}", f"{r2:.3f}", f"{found:.1f}", f"{seconds:.2f}"])
        print(f"{name}: {n_rows} rows to train, as many to test, mean of {len(seeds)} seeds")
        print_table(["", "features", "R2", "planted of 60", "seconds"], table)


def judged(
    model: Any, n_rows: int, rows: sparse.csr_array, targets: np.ndarray, planted: np.ndarray
) -> tuple[float, int, int, float]:
    """Return R2 on the second half, features used, how many of them planted, and seconds."""
    begun = perf_counter()
    model.fit(rows[:n_rows], targets[:n_rows])
    seconds = perf_counter() - begun
    r2 = r2_score(targets[n_rows:], model.predict(rows[n_rows:]))
    return r2, model.columns.size, np.intersect1d(model.columns, planted).size, seconds


def cross_validated(
    kind: type[ThresherOfSize], shape: Shape, n_rows: int, loss: str, seeds: range
) -> Iterator[float]:
    """Give R2 for every fold of every draw."""
    for seed in seeds:
        rows, targets, _ = draw(shape, n_rows, seed)
        for train, test in KFold(3).split(rows):
            model = kind(60, loss=loss).fit(rows[train], targets[train])
            yield r2_score(targets[test], model.predict(rows[test]))


def compare_rates(n_rows: int, seeds: range) -> None:
    """Print R2 by the length of steps; the draws are others than those of the comparison."""
    table = []
    kinds = {"fit": (ThresherOfSize, n_rows), "one pass": (ThresherStream, 3 * n_rows)}
    for (how, (kind, n)), (name, shape), loss in product(kinds.items(), SHAPES.items(), LOSSES):
        row = []
        for rate in RATES:
            PATH_RATES[loss] = rate
            row.append(f"{np.mean(list(cross_validated(kind, shape, n, loss, seeds))):.3f}")
        table.append([f"{how}, {name}, {loss}", *row])
    print_table(["R2 by rate", *map(str, RATES)], table)


def compare_sizes(n_rows: int, seeds: range) -> None:
    """Print what regressors choose by themselves, and how given sizes do."""
    table = []
    for (name, shape), loss, n in product(SHAPES.items(), LOSSES, (n_rows // 4, n_rows)):
        drawn = [draw(shape, 2 * n, seed) for seed in seeds]
        row = []
        for size in ("auto", *GIVEN):
            results = [judged(ThresherOfSize(size, loss=loss), n, *one) for one in drawn]
            r2, used, found, _ = np.mean(results, axis=0)
            row += [f"{used:.0f}", f"{found:.0f}", f"{r2:.3f}"] if size == "auto" else [f"{r2:.3f}"]
        table.append([f"{name}, {loss}, {n} rows", *row])
    print_table(["R2 by size", "chosen", "planted", "auto", *map(str, GIVEN)], table)


def compare_streams(seeds: range) -> None:
    """Print R2 of one pass, with first rows learnt once or several times, and of fit."""
    table = []
    for (name, shape), loss in product(list(SHAPES.items())[:2], LOSSES):
        for how, kind, times in STREAMS:
            stages.REHEARSALS = times
            row = []
            for n in STREAMED:
                drawn = [draw(shape, n + NEW_ROWS, seed) for seed in seeds]
                scores = [judged(kind(60, loss=loss), n, *one)[0] for one in drawn]
                row.append(f"{np.mean(scores):.3f}")
            table.append([f"{name}, {loss}, {how}", *row])
    print_table(["R2 by rows", *map(str, STREAMED)], table)


def print_table(heads: list[str], rows: list[list[str]]) -> None:
    """Print columns that line up: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for first, *others in [heads, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]))
    print(flush=True)


def main() -> None:
    """Compare, or choose the lengths of steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rows and one seed")
    parser.add_argument("--rates", action="store_true", help="choose the lengths of steps")
    parser.add_argument("--sizes", action="store_true", help="sizes chosen by themselves")
    parser.add_argument("--stream", action="store_true", help="one pass, and fit")
    options = parser.parse_args()
    if options.stream:
        compare_streams(range(20, 21 if options.quick else 23))
    elif options.sizes:
        compare_sizes(600 if options.quick else 2000, range(7, 8 if options.quick else 9))
    elif options.rates:
        compare_rates(600 if options.quick else 2000, range(100, 101))
    elif options.quick:
        compare(600, (30, 60), range(1))
    else:
        compare(2000, (30, 60, 120), range(2))


if __name__ == "__main__":
    main()
