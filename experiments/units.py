"""``python -m experiments.units``: errors when columns are in other units.

A random tenth of the columns is multiplied, in training and test rows alike, by 1000 or by 1/1000.
fit finds such columns by itself; a stream warns, and learns them as they are or after the remedy.
"""

import argparse
import warnings

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.base import BaseEstimator

from experiments.datasets import Split, load
from thresher import ThresherClassifier, UnitScaler

SETS = ("farm_ads", "rcv1-sample", "gisette-mini", "reuters_moneyfx", "dexter")
FACTORS = (1000.0, 0.001)
SHARE, SIZE, SEEDS = 0.1, 100, 3


def in_other_units(data: Split, factor: float, seed: int) -> Split:
    """Return the rows with some of the columns in another unit."""
    width = data.X_train.shape[1]
    scale = np.ones(width)
    scale[np.random.default_rng(seed).permutation(width)[: int(SHARE * width)]] = factor
    rows = (csr_matrix(part @ diags(scale)) for part in (data.X_train, data.X_test))
    return Split(next(rows), data.y_train, next(rows), data.y_test)


def in_one_unit(data: Split) -> Split:
    """Return the rows after the remedy that a warning names."""
    scaler = UnitScaler().fit(data.X_train)
    rows = (scaler.transform(part) for part in (data.X_train, data.X_test))
    return Split(next(rows), data.y_train, next(rows), data.y_test)


def fitted(data: Split, seed: int) -> BaseEstimator:
    """Return a model of all rows."""
    model = ThresherClassifier(n_features_to_select=SIZE, random_state=seed)
    return model.fit(data.X_train, data.y_train)


def streamed(data: Split, seed: int) -> BaseEstimator:
    """Return a model of one pass over the rows in a random order."""
    model = ThresherClassifier(n_features_to_select=SIZE, random_state=seed)
    order = np.random.default_rng(seed).permutation(len(data.y_train))
    return model.partial_fit(data.X_train[order], data.y_train[order], np.unique(data.y_train))


def error(model: BaseEstimator, data: Split) -> float:
    """Return the test error in per cent."""
    return 100 * float(np.mean(model.predict(data.X_test) != data.y_test))


def row(name: str, factor: float) -> str:
    """Return a line of the table: the mean errors over several choices of columns."""
    data, found = load(name), []
    for seed in range(SEEDS):
        odd = in_other_units(data, factor, seed)
        mended = in_one_unit(odd)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ways = [(fitted, data), (fitted, odd), (streamed, data), (streamed, odd)]
            errors = [error(learn(rows, seed), rows) for learn, rows in ways]
        warned = sum("different units" in str(one.message) for one in caught)
        found.append([*errors, error(streamed(mended, seed), mended), warned])
    *errors, warned = np.mean(found, axis=0)
    cells = " | ".join(f"{one:.2f}" for one in errors)
    return f"| {name} | {factor:g} | {cells} | {warned:.0f} |"


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.units", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", help="one set; repeatable")
    options = command.parse_args(words)
    heads = "fit before", "fit", "stream before", "stream", "remedied", "warnings"
    print("| set | a tenth times |", " | ".join(heads), "|")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.data or SETS:
        for factor in FACTORS:
            print(row(name, factor), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
