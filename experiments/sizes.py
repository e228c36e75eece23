"""What size the flagship chooses by itself, and what that costs: ``python -m experiments.sizes``.

Real sets are split anew within their training rows: nothing here reads a test file. The rival is
dense L2 logistic regression at the best of three penalties, by its own error on the same rows: a
bar that nobody could set without knowing them. Generated sets have planted features, so that false
discoveries can be counted.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import normalize

from experiments.fitting import training_rows
from experiments.registry import named
from thresher import ThresherClassifier, ThresherClassifierCV
from thresher.demo.data import PROBE, Recipe, make_documents
from thresher.estimators import gathering

CHUNK = 512  # rows of a stream at a time
SETS = (
    "dexter",
    "reuters_moneyfx",
    "farm_ads",
    "rcv1-sample",
    "gisette-mini",
    "dorothea",
    "arcene",
    "a9a",
)
STRENGTHS = 0.5, 1.0, 2.0, 4.0  # of planted features, in log odds
PENALTIES = 1.0, 10.0, 100.0  # of the dense rival, as scikit-learn's C
HELD_OUT = 0.25


@dataclass(frozen=True)
class Case:
    """Rows to train on, rows to judge on, and which columns are planted, if anybody knows."""

    X: sparse.csr_array
    y: np.ndarray
    X_held: sparse.csr_array
    y_held: np.ndarray
    planted: np.ndarray | None = None


@dataclass(frozen=True)
class Outcome:
    """One case: what was chosen and what it is worth, errors in percent."""

    size: float
    percent: float
    error: float
    dense: float
    fits: float  # the whole fit's cost in fits of the chosen size
    false: float  # share of the selected features that are not planted


def real_cases(name: str, splits: int) -> Iterator[Case]:
    """Yield re-splits of a set's training rows."""
    X, y = training_rows(name)
    X = sparse.csr_array(X)
    maker = StratifiedShuffleSplit(splits, test_size=HELD_OUT, random_state=1)
    for train, held in maker.split(X, y):
        yield Case(X[train], y[train], X[held], y[held])


def planted_cases(strength: float, splits: int) -> Iterator[Case]:
    """Yield generated sets with features of four document frequencies planted."""
    for seed in range(splits):
        bands = tuple(replace(band, strength=strength) for band in Recipe.bands)
        made = make_documents(Recipe(bands=bands, seed=seed))
        yield Case(made.X_train, made.y_train, made.X_test, made.y_test, made.band_of != PROBE)


def outcome_of(case: Case, seed: int, crossed: bool) -> Outcome:
    """Fit the default and judge it."""
    kind = ThresherClassifierCV if crossed else ThresherClassifier
    model, seconds = _timed(kind(random_state=seed), case)
    size = model.size_choice_.size
    _, alone = _timed(ThresherClassifier(n_features_to_select=size, random_state=seed), case)
    kept = model.get_support()
    false = np.nan if case.planted is None else float(np.mean(~case.planted[kept]))
    error = 100 * (1 - model.score(case.X_held, case.y_held))
    percent = 100 * size / case.X.shape[1]
    return Outcome(size, percent, error, dense_error(case), seconds / alone, false)


def dense_error(case: Case) -> float:
    """Return the least error of dense L2 logistic regression."""
    X, X_held = _narrow(normalize(case.X)), _narrow(normalize(case.X_held))
    wide = X.shape[1] > 5 * X.shape[0]
    models = [
        LogisticRegression(C=C, solver="liblinear", dual=wide, max_iter=1000) for C in PENALTIES
    ]
    return min(100 * (1 - one.fit(X, case.y).score(X_held, case.y_held)) for one in models)


def _timed(model: ThresherClassifier, case: Case) -> tuple[ThresherClassifier, float]:
    started = time.process_time()
    model.fit(case.X, case.y)
    return model, time.process_time() - started


def _narrow(X: sparse.csr_array) -> sparse.csr_array:
    """Return rows with the 32-bit indices that liblinear wants."""
    parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=X.shape)


def line(name: str, outcomes: Sequence[Outcome]) -> str:
    """Return a row of the table: means over the cases."""
    sizes = "/".join(f"{one.size:.0f}" for one in outcomes)
    mean = {field: np.mean([getattr(one, field) for one in outcomes]) for field in _MEANS}
    false = "" if np.isnan(mean["false"]) else f"{100 * mean['false']:.0f}"
    above = mean["error"] - mean["dense"]
    numbers = f"{mean['percent']:.1f} | {mean['error']:.2f} | {mean['dense']:.2f} | {above:+.2f}"
    return f"| {name} | {sizes} | {numbers} | {false} | {mean['fits']:.1f} |"


def streamed(case: Case, seed: int) -> list[float]:
    """Return size, error and seconds of one pass by the rule of thumb, and by its first rows."""
    found = []
    for looks in (False, True):
        model, started = ThresherClassifier(random_state=seed), time.process_time()
        firsts = range(0, case.y.size, CHUNK)
        pieces = ((case.X[k : k + CHUNK], case.y[k : k + CHUNK]) for k in firsts)
        if looks:
            with mock.patch.object(gathering, "MOST_PASSING", 0):  # as if there were more rows
                model.fit_stream(pieces)
        else:
            for rows, labels in pieces:
                model.partial_fit(rows, labels, np.unique(case.y))
        seconds = time.process_time() - started
        error = 100 * (1 - model.score(case.X_held, case.y_held))
        found += [model.size_choice_.size, error, seconds]
    return found


def compare_streams(names: Sequence[str], splits: int) -> None:
    """Print the rule of thumb of partial_fit beside what fit_stream chooses from first rows."""
    print("| set | rule: size | error % | seconds | first rows: size | error % | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        cases = enumerate(real_cases(name, splits))
        means = np.mean([streamed(case, seed) for seed, case in cases], axis=0)
        cells = (f"{one:,.0f}" if k % 3 == 0 else f"{one:.2f}" for k, one in enumerate(means))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


_MEANS = ("percent", "error", "dense", "false", "fits")
HEADER = """\
| set | chosen | % of columns | error % | dense % | above | false % | cost in fits |
|---|---|---|---|---|---|---|---|"""


def main(words: Sequence[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.sizes", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", help="one set only; repeatable")
    command.add_argument("--splits", type=int, default=3, help="cases of each set (3)")
    command.add_argument("--cv", action="store_true", help="ThresherClassifierCV instead")
    command.add_argument("--stream", action="store_true", help="one pass, by rule and by itself")
    options = command.parse_args(words)
    _warm_up()
    names = [named(name).name for name in options.data or SETS]
    if options.stream:
        compare_streams(names, options.splits)
        return 0
    print(HEADER)
    cases = {name: real_cases(name, options.splits) for name in names}
    if options.data is None:
        planted = {f"planted {one:g}": planted_cases(one, options.splits) for one in STRENGTHS}
        cases |= planted
    for name, several in cases.items():
        outcomes = [outcome_of(case, seed, options.cv) for seed, case in enumerate(several)]
        print(line(name, outcomes), flush=True)
    return 0


def _warm_up() -> None:
    """Fit on next to nothing once, so that no cost holds a compilation."""
    case = next(planted_cases(1.0, 1))
    outcome_of(replace(case, X=case.X[:200], y=case.y[:200]), 0, crossed=False)


if __name__ == "__main__":
    sys.exit(main())
