"""``python -m experiments.few_rows``: errors and stability where rows are few.

Some rows are drawn from the training rows of a set, of unit length, and others of them, 6,000 at
most, are the test: mean error in % over eight drawings at several sizes, and Cohen's kappa between
the features that the drawings select at a hundred of them. The default, and the default with the
steps that it takes while selecting from many rows. The sets' own test rows take no part.
"""

import argparse

import numpy as np

from experiments.ablation.variants import DEFAULT, VARIANTS
from experiments.claim.judging import missed, support
from experiments.datasets import Split
from experiments.fitting import training_rows
from experiments.overlaps import overlaps_of
from experiments.registry import named
from experiments.scaling import scaled
from thresher.stability import kappa_from_overlaps

SIZES = (20, 50, 100, 200, 500)
COMPARED = 100  # features, for kappa
DRAWINGS, MOST_TESTED = 8, 6000
DRAWN = (
    ("rcv1-sample", 100),
    ("rcv1-sample", 300),
    ("farm_ads", 300),
    ("gisette-mini", 350),
    ("reuters_moneyfx", 700),
    ("rcv1-sample", 1000),
    ("farm_ads", 1000),
)
SHOWN = {DEFAULT: "the default", "usual-steps": "steps as of many rows"}


def drawing(dataset: str, n_rows: int, seed: int) -> Split:
    """Return some of a set's training rows, and others to test on."""
    X, y = training_rows(dataset)
    order = np.random.default_rng(seed).permutation(len(y))
    mine, others = order[:n_rows], order[n_rows : n_rows + MOST_TESTED]
    return scaled(Split(X[mine], y[mine], X[others], y[others]), "row-l2")


def line(dataset: str, n_rows: int, name: str, drawings: int = DRAWINGS) -> str:
    """Return a variant's line of the table."""
    errors, supports = np.zeros((drawings, len(SIZES))), []
    for seed in range(drawings):
        data = drawing(dataset, n_rows, seed)
        for place, size in enumerate(SIZES):
            model = VARIANTS[name].build(size, seed).fit(data.X_train, data.y_train)
            errors[seed, place] = 100 * missed(model, data).mean()
            if size == COMPARED:
                supports.append(support(model, data))
    kappa = kappa_from_overlaps(overlaps_of(supports), named(dataset).columns)
    cells = [f"{one:.2f}" for one in errors.mean(axis=0)]
    return f"| {dataset} | {n_rows:,} | {SHOWN[name]} | {' | '.join(cells)} | {kappa:.3f} |"


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.few_rows", description=__doc__)
    known = {dataset for dataset, _ in DRAWN}
    command.add_argument("--data", metavar="NAME", action="append", choices=sorted(known))
    command.add_argument("--drawings", metavar="N", type=int, default=DRAWINGS)
    options = command.parse_args(words)
    print(f"| set | rows | steps | {' | '.join(map(str, SIZES))} | kappa at {COMPARED} |")
    print("|---" * (len(SIZES) + 4) + "|")
    wanted = [drawn for drawn in DRAWN if drawn[0] in (options.data or known)]
    for dataset, n_rows in wanted:
        for name in SHOWN:
            print(line(dataset, n_rows, name, options.drawings), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
