"""``python -m experiments.units``: errors when columns are in other units, and after the remedy.

A random tenth of the columns is multiplied, in training and test rows alike, by 1000 or by 1/1000.
"""

import argparse
import warnings

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

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


def error(model: BaseEstimator, data: Split) -> float:
    """Return the test error in per cent."""
    model.fit(data.X_train, data.y_train)
    return 100 * float(np.mean(model.predict(data.X_test) != data.y_test))


def row(name: str, factor: float) -> str:
    """Return a line of the table: the mean errors over several choices of columns."""
    data, found = load(name), []
    for seed in range(SEEDS):
        model = ThresherClassifier(n_features_to_select=SIZE, random_state=seed)
        odd = in_other_units(data, factor, seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            errors = [error(model, data), error(model, odd)]
        warned = sum("different units" in str(one.message) for one in caught)
        found.append([*errors, error(make_pipeline(UnitScaler(), model), odd), warned])
    plain, broken, mended, warned = np.mean(found, axis=0)
    return f"| {name} | {factor:g} | {plain:.2f} | {broken:.2f} | {warned:.0f} | {mended:.2f} |"


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.units", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", help="one set; repeatable")
    options = command.parse_args(words)
    print("| set | a tenth of the columns times | error before | after | warnings | remedied |")
    print("|---|---|---|---|---|---|")
    for name in options.data or SETS:
        for factor in FACTORS:
            print(row(name, factor), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
