"""``python -m experiments.likeliest``: what it gives that rows may insist on the likeliest weights.

Error in % and log loss on rows that had no part in training, means over three splits: the default,
and the default with the weights that its refit has come to. Real rows are re-splits of the training
rows, of unit length; generated ones are documents about two topics, marks and clicks. Where labels
are wrong they are so in both parts. The last column is the processor's time of all fits, relative
to that of the fits without.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit

from experiments.ablation.variants import DEFAULT, VARIANTS
from experiments.fitting import training_rows
from experiments.made_up import Kind, clicks, drawn, topics

SIZES = (10, 30, 100, 300, 1000)
SPLITS, HELD_OUT = 3, 0.3
SHOWN = {"unsettled": "refit", DEFAULT: "the default"}


def marks() -> Kind:
    """Return some marks, all of which say something."""
    rng = np.random.default_rng(3)
    rows = (rng.random((8000, 68)) < rng.uniform(0.05, 0.6, 68)).astype(float)
    margins = rows @ rng.normal(0, 1.2, 68)
    return Kind(sparse.csr_array(rows), drawn(rng, 2 * (margins - np.median(margins))), 50)


def first(kind: Kind, n_rows: int) -> Kind:
    """Return the first rows of some."""
    return kind._replace(rows=kind.rows[:n_rows], labels=kind.labels[:n_rows])


def real(name: str) -> Kind:
    """Return the training rows of a set."""
    rows, labels = training_rows(name)
    return Kind(sparse.csr_array(rows), labels, 100)


def mislabelled(name: str, share: float) -> Kind:
    """Return the training rows of a set, with a share of the labels turned round."""
    kind = real(name)
    wrong = np.random.default_rng(4).random(kind.labels.size) < share
    return kind._replace(labels=np.where(wrong, -kind.labels, kind.labels))


SETS: dict[str, Callable[[], Kind]] = {
    "documents": lambda: topics(share=0.5, own=0.35),
    "1,500 documents": lambda: first(topics(share=0.5, own=0.35), 1500),
    "documents, much alike": lambda: topics(share=0.5, own=0.12),
    "documents, few of one topic": lambda: topics(share=0.05, own=0.3),
    "marks": marks,
    "rcv1-sample": lambda: real("rcv1-sample"),
    "reuters_moneyfx": lambda: real("reuters_moneyfx"),
    "farm_ads": lambda: real("farm_ads"),
    "a9a": lambda: real("a9a"),
    "clicks": clicks,
    "rcv1-sample, 20 % mislabelled": lambda: mislabelled("rcv1-sample", 0.2),
    "farm_ads, 20 % mislabelled": lambda: mislabelled("farm_ads", 0.2),
    "reuters_moneyfx, 5 % mislabelled": lambda: mislabelled("reuters_moneyfx", 0.05),
}


def lines(name: str) -> Iterator[str]:
    """Yield the lines of a set, one for each variant."""
    rows, labels, _ = SETS[name]()
    sizes = [size for size in SIZES if size < rows.shape[1]]
    splits = StratifiedShuffleSplit(SPLITS, test_size=HELD_OUT, random_state=0)
    found, seconds = np.zeros((len(SHOWN), SPLITS, len(sizes), 2)), np.zeros(len(SHOWN))
    for split, (train, test) in enumerate(splits.split(rows, labels)):
        for place, size in enumerate(sizes):
            for number, variant in enumerate(SHOWN):
                model, started = VARIANTS[variant].build(size, split), time.process_time()
                model.fit(rows[train], labels[train])
                seconds[number] += time.process_time() - started
                error = 100 * (1 - model.score(rows[test], labels[test]))
                loss = log_loss(labels[test], model.predict_proba(rows[test]))
                found[number, split, place] = error, loss
    every = zip(SHOWN.values(), found.mean(axis=1), seconds / seconds[0], strict=True)
    for title, means, times in every:
        cells = [f"{error:.2f}, {loss:.4f}" for error, loss in means]
        cells += [""] * (len(SIZES) - len(sizes))
        yield f"| {name} | {title} | {' | '.join(cells)} | {times:.2f} |"


def _warm_up() -> None:
    """Fit on next to nothing once, so that no time holds a compilation."""
    rows, labels, size = marks()
    VARIANTS[DEFAULT].build(size, 0).fit(rows[:2500], labels[:2500])


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.likeliest", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", choices=SETS)
    options = command.parse_args(words)
    print(f"| set | weights | {' | '.join(f'{size} features' for size in SIZES)} | time |")
    print("|---" * (len(SIZES) + 3) + "|")
    _warm_up()
    for name in options.data or SETS:
        for line in lines(name):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
