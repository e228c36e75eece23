"""``python -m experiments.unequal``: margins where rows are few, or those of one class.

Some rows are drawn from the training rows of a set, of unit length, in which one class has a share
of its own, and others with that share, 6,000 at most, are the test; some have wrong labels, in both
parts. Error in %, log loss and F1 of the positive class by size, means over eight drawings:
the default, which asks held-out rows what its margins mean, and how long weights should be, where
rows are few; and the default with both as the refit has them. The sets' own test rows take no part.
Where both lines are the same, nobody was asked. ``--balanced`` has class weights that make up for
the shares, and the error is the mean over both classes.
"""

import argparse
from typing import NamedTuple

import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss

from experiments.ablation.variants import DEFAULT, VARIANTS
from experiments.datasets import Split
from experiments.fitting import training_rows
from experiments.registry import named
from experiments.scaling import scaled

SIZES = (30, 100, 300, 1000)
DRAWINGS, MOST_TESTED = 8, 6000


class Drawn(NamedTuple):
    """A set, how many rows are drawn, which share of them is positive, and which mislabelled."""

    dataset: str
    n_rows: int
    share: float | None = None
    wrong: float = 0.0


DRAWN = (
    Drawn("rcv1-sample", 300, 0.4),
    Drawn("rcv1-sample", 500, 0.2),
    Drawn("rcv1-sample", 1000, 0.1),
    Drawn("rcv1-sample", 3000, 0.05),
    Drawn("reuters_moneyfx", 1000),
    Drawn("reuters_moneyfx", 5000),
    Drawn("farm_ads", 300, 0.3),
    Drawn("farm_ads", 1000, 0.1),
    Drawn("dorothea", 500),
    Drawn("dexter", 150, 0.3),
    Drawn("gisette-mini", 200, 0.2),
    Drawn("a9a", 500),
    Drawn("rcv1-sample", 300, 0.5),
    Drawn("farm_ads", 500, 0.5),
    Drawn("dexter", 200, 0.5),
    Drawn("gisette-mini", 300, 0.5),
    Drawn("rcv1-sample", 1000, 0.5, 0.15),
    Drawn("farm_ads", 1000, 0.5, 0.15),
)
SHOWN = {DEFAULT: "the default", "unlevelled": "as refitted"}


def drawing(drawn: Drawn, seed: int) -> Split:
    """Return some of a set's training rows, and others to test on; a share of both is positive."""
    (X, y), share = training_rows(drawn.dataset), drawn.share
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    if share is not None:
        positive, negative = order[y[order] > 0], order[y[order] < 0]
        total = int(min(positive.size / share, negative.size / (1 - share)))
        few = round(share * total)
        order = rng.permutation(np.r_[positive[:few], negative[: total - few]])
    y = np.where(rng.random(y.size) < drawn.wrong, -y, y)
    mine, others = np.split(order[: drawn.n_rows + MOST_TESTED], [drawn.n_rows])
    return scaled(Split(X[mine], y[mine], X[others], y[others]), "row-l2")


def judged(name: str, size: int, seed: int, data: Split, balanced: bool) -> tuple[float, ...]:
    """Return a model's error in %, log loss and F1; of balanced classes the error only."""
    model = VARIANTS[name].build(size, seed)
    model.set_params(class_weight="balanced" if balanced else None)
    guesses = model.fit(data.X_train, data.y_train).predict(data.X_test)
    if balanced:
        return (100 * (1 - balanced_accuracy_score(data.y_test, guesses)),)
    error = 100 * float(np.mean(guesses != data.y_test))
    loss = log_loss(data.y_test, model.predict_proba(data.X_test))
    return error, loss, f1_score(data.y_test, guesses, zero_division=0)


def line(drawn: Drawn, name: str, drawings: int, balanced: bool) -> str:
    """Return a variant's line of the table."""
    draws = [drawing(drawn, seed) for seed in range(drawings)]
    rarer = np.mean([100 * np.mean(data.y_train > 0) for data in draws])
    cells = []
    for size in sizes_of(drawn):
        found = [judged(name, size, seed, data, balanced) for seed, data in enumerate(draws)]
        words = zip(np.mean(found, axis=0), (".2f", ".4f", ".2f"), strict=False)
        cells.append(", ".join(format(number, digits) for number, digits in words))
    cells += [""] * (len(SIZES) - len(cells))
    wrong = f", {100 * drawn.wrong:.0f} % mislabelled" if drawn.wrong else ""
    first = f"| {drawn.dataset}{wrong} | {drawn.n_rows:,} | {rarer:.0f} | {SHOWN[name]}"
    return f"{first} | {' | '.join(cells)} |"


def sizes_of(drawn: Drawn) -> list[int]:
    """Return the sizes that a set has columns for."""
    return [size for size in SIZES if size < named(drawn.dataset).columns]


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.unequal", description=__doc__)
    known = sorted({drawn.dataset for drawn in DRAWN})
    command.add_argument("--data", metavar="NAME", action="append", choices=known)
    command.add_argument("--drawings", metavar="N", type=int, default=DRAWINGS)
    command.add_argument("--balanced", action="store_true")
    options = command.parse_args(words)
    sizes = " | ".join(f"{size:,} features" for size in SIZES)
    print(f"| set | rows | % positive | weights | {sizes} |")
    print("|---" * (len(SIZES) + 4) + "|")
    for drawn in DRAWN:
        for name in SHOWN if drawn.dataset in (options.data or known) else ():
            print(line(drawn, name, options.drawings, options.balanced), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
