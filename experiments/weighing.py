"""``python -m experiments.weighing``: what it gives to weigh features where only few columns speak.

As many features are asked for as tell the class, half and twice as many. Means over drawings that
chose nothing: in how many fits features were weighed, how many of those that tell are found, error
in % and log loss on other rows, and Cohen's kappa between the selections from two halves of the
rows. The default, and the default that weighs nothing.

With ``--heard``: what columns of the real sets say alone, on all training rows, on halves of them
and on drawings of a few, and whether few of them speak.
"""

import argparse
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn.metrics import log_loss

from experiments.ablation.variants import DEFAULT, VARIANTS
from experiments.claim.matching import halves_of
from experiments.claim.steps import SCALING
from experiments.few_speak import SETS, Told
from experiments.fitting import prepared
from experiments.overlaps import overlaps_of
from experiments.registry import named
from experiments.scope import FULL
from thresher.data.given_rows import GivenRows
from thresher.data.vocabulary import Vocabulary
from thresher.learners.alone import ask, few_speak, said_and_loud
from thresher.stability import kappa_from_overlaps

DRAWINGS, FIRST_SEED = 5, 100
TIMES = (0.5, 1.0, 2.0)
SHOWN = {"unweighed": "nothing weighed", DEFAULT: "the default"}
FEW_ROWS, TIMES_DRAWN = (100, 300, 1000), 10
HEARD = ("set", "rows", "fits", "asked", "loud", "mean of the others", "few speak in")
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


def heard_in(X: csr_matrix, y: np.ndarray) -> tuple[int, int, float, bool]:
    """Return how many columns can be asked, how many are loud, and the mean of what others say."""
    vocabulary = Vocabulary(X.shape[1])
    rows = csr_array(X)
    vocabulary.learn_by_frequency(rows)
    vocabulary.count(rows)
    given = GivenRows(rows, vocabulary, np.dtype(np.float64))
    heard = ask(given, y.astype(np.float64), np.ones(y.size))
    said, loud = said_and_loud(heard, vocabulary)
    quiet = float(np.mean(said[~loud])) if not loud.all() else np.nan
    return said.size, int(np.count_nonzero(loud)), quiet, few_speak(heard, vocabulary)


def heard_lines(name: str) -> Iterator[str]:
    """Yield what columns of a set say: of all rows, of halves, and of drawings of a few."""
    data = prepared(name, SCALING)
    n, rng = len(data.y_train), np.random.default_rng(0)
    drawings = {
        count: [rng.permutation(n)[:count] for _ in range(TIMES_DRAWN)]
        for count in FEW_ROWS
        if count < n / 2
    }
    for count, parts in {n: [np.arange(n)], n // 2: halves_of(data.y_train), **drawings}.items():
        found = [heard_in(data.X_train[rows], data.y_train[rows]) for rows in parts]
        asked, loud = np.mean([one[:2] for one in found], axis=0)
        means = [one[2] for one in found if not np.isnan(one[2])]
        quiet = f"{np.mean(means):.2f}" if means else ""
        cells = f"{len(found)} | {asked:,.0f} | {loud:,.1f} | {quiet}"
        yield f"| {named(name).title} | {count:,} | {cells} | {sum(few for *_, few in found)} |"


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.weighing", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", choices=list(SETS))
    command.add_argument("--drawings", metavar="N", type=int, default=DRAWINGS)
    command.add_argument("--heard", action="store_true", help="what columns of real sets say")
    options = command.parse_args(words)
    if options.heard:
        print(f"| {' | '.join(HEARD)} |\n{'|---' * len(HEARD)}|")
        for name in FULL.sets:
            print(*heard_lines(name), sep="\n", flush=True)
        return 0
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for name in options.data or SETS:
        for line in lines(name, options.drawings):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
