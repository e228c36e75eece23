"""``python -m experiments.weighing``: what it gives to weigh features where only few columns speak.

As many features are asked for as tell the class, half and twice as many. Means over drawings that
chose nothing: in how many fits features were weighed, how many of those that tell are found, error
in % and log loss on other rows, and Cohen's kappa between the selections from two halves of the
rows. The default, and the default that weighs nothing.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import log_loss

from experiments.ablation.variants import DEFAULT, VARIANTS
from experiments.few_speak import SETS, Told
from experiments.overlaps import overlaps_of
from thresher.stability import kappa_from_overlaps

DRAWINGS, FIRST_SEED = 5, 100
TIMES = (0.5, 1.0, 2.0)
SHOWN = {"unweighed": "nothing weighed", DEFAULT: "the default"}
COLUMNS = ("set", "features", "", "weighed", "found", "error %", "log loss", "kappa, halves")


def measure(told: Told, size: int, name: str, seed: int) -> list[float]:
    """Return the numbers of one fit, and of two on halves."""

    def fitted(rows: np.ndarray) -> np.ndarray:
        model = VARIANTS[name].build(size, seed).set_params(normalize="auto")
        return model.fit(told.X[rows], told.y[rows])

    order = np.random.default_rng(seed).permutation(told.y.size)
    model, *halves = (fitted(rows) for rows in (np.arange(order.size), *np.array_split(order, 2)))
    selected = [half.get_support(indices=True) for half in halves]
    right = model.classes_[0] != told.y_test
    return [
        float(model.features_weighed_),
        np.nan if told.telling is None else np.count_nonzero(told.telling & model.get_support()),
        100 * np.mean(model.predict(told.X_test) != told.y_test),
        log_loss(right, model.predict_proba(told.X_test)[:, 1]),
        kappa_from_overlaps(overlaps_of(selected), told.X.shape[1]),
    ]


def lines(name: str, drawings: int) -> Iterator[str]:
    """Yield the lines of a set: sizes, and for each the variants."""
    drawn = [SETS[name](FIRST_SEED + number) for number in range(drawings)]
    for times in TIMES:
        size = round(times * drawn[0].size)
        for variant, title in SHOWN.items():
            rows = [measure(one, size, variant, seed) for seed, one in enumerate(drawn)]
            weighed, found, error, loss, kappa = np.mean(rows, axis=0)
            share = "" if np.isnan(found) else f"{found:.1f} of {drawn[0].size}"
            cells = f"{weighed:.1f} | {share} | {error:.2f} | {loss:.4f} | {kappa:.2f}"
            yield f"| {name} | {size} | {title} | {cells} |"


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.weighing", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", choices=list(SETS))
    command.add_argument("--drawings", metavar="N", type=int, default=DRAWINGS)
    options = command.parse_args(words)
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for name in options.data or SETS:
        for line in lines(name, options.drawings):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
