"""``python -m experiments.streams``: one pass over rows that tell much, and over rows that do not.

Log loss and area under the ROC curve, on rows that had no part in training, of models that have
read every row once, in a random order; means over two splits. The default; the default with one of
its parts for streams taken away; and FTRL, whose penalty is bisected to the same number of features
and whose step is the best of five on the last third of the rows that train. Real rows are re-splits
of the training rows, of unit length; where labels are wrong they are so in both parts. Ids are made
up: sixteen kinds of them with long tails, half of which say something of rare clicks.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import normalize

from experiments.ablation.variants import changed
from experiments.claim.sizing import Penalised
from experiments.likeliest import mislabelled, real
from experiments.made_up import Kind, long_tails
from experiments.methods import method
from thresher import ThresherClassifier

SIZES = (50, 200, 1000)
SPLITS, HELD_OUT = 2, 0.2
STEPS = (0.3, 1.0, 3.0, 10.0, 30.0)  # FTRL's
SETS: dict[str, Callable[[], Kind]] = {
    "rcv1-sample": lambda: real("rcv1-sample"),
    "rcv1-sample, 10 % mislabelled": lambda: mislabelled("rcv1-sample", 0.1),
    "rcv1-sample, 25 % mislabelled": lambda: mislabelled("rcv1-sample", 0.25),
    "farm_ads": lambda: real("farm_ads"),
    "farm_ads, 15 % mislabelled": lambda: mislabelled("farm_ads", 0.15),
    "reuters_moneyfx": lambda: real("reuters_moneyfx"),
    "dexter": lambda: real("dexter"),
    "a9a": lambda: real("a9a"),
    "20,000 clicks": lambda: long_tails(20_000),
    "100,000 clicks": lambda: long_tails(100_000),
    "400,000 clicks": lambda: long_tails(400_000),
}
OURS: dict[str, type[ThresherClassifier]] = {
    "the default": ThresherClassifier,
    "long steps only": changed(lambda learner: replace(learner, short=1.0)),
    "rare features judged at once": changed(lambda learner: replace(learner, waits=False)),
    "chance counts in full": changed(lambda learner: replace(learner, doubtful=0.0)),
}
FTRL = "FTRL, step chosen"


def one_pass(kind: type[ThresherClassifier], rows: Any, labels: Any, size: int, seed: int) -> Any:
    """Return a model that has read every row once."""
    model = kind(n_features_to_select=size, random_state=seed)
    return model.partial_fit(rows, labels, classes=np.unique(labels))


def ftrl(rows: Any, labels: np.ndarray, sizes: list[int], seed: int) -> dict[int, Any]:
    """Return models of every size, with the steps that do best on the last rows."""
    cut = 2 * labels.size // 3
    early, late = (rows[:cut], labels[:cut]), (rows[cut:], labels[cut:])
    sizers = [Penalised(method("ftrl"), {"alpha": step, "max_iter": 1}) for step in STEPS]
    tried = [(sizer, sizer.settings(*early, sizes)) for sizer in sizers]
    models = {}
    for size in sizes:
        losses = [
            judged(sizer.model(settings[size], *early, seed), *late)[0] for sizer, settings in tried
        ]
        best = sizers[int(np.argmin(losses))]
        setting = best.settings(rows, labels, [size])[size]
        models[size] = best.model(setting, rows, labels, seed)
    return models


def judged(model: Any, rows: Any, labels: np.ndarray) -> tuple[float, float]:
    """Return a model's log loss and area under the curve."""
    chances = model.predict_proba(rows)[:, 1]
    return log_loss(labels, chances), roc_auc_score(labels, chances)


def table(name: str) -> dict[str, np.ndarray]:
    """Return what each method's models are worth, by size."""
    kind = SETS[name]()
    rows = sparse.csr_matrix(normalize(kind.rows))
    sizes = [size for size in SIZES if size < rows.shape[1] // 2]
    splits = StratifiedShuffleSplit(SPLITS, test_size=HELD_OUT, random_state=0)
    found: dict[str, list[Any]] = {one: [] for one in (*OURS, FTRL)}
    for seed, (train, test) in enumerate(splits.split(rows, kind.labels)):
        mine, others = (rows[train], kind.labels[train]), (rows[test], kind.labels[test])
        for one, ours in OURS.items():
            found[one].append([judged(one_pass(ours, *mine, n, seed), *others) for n in sizes])
        rivals = ftrl(*mine, sizes, seed)
        found[FTRL].append([judged(rivals[size], *others) for size in sizes])
    return {one: np.mean(many, axis=0) for one, many in found.items()}


def main(words: list[str] | None = None) -> int:
    """Print the table."""
    command = argparse.ArgumentParser(prog="python -m experiments.streams", description=__doc__)
    command.add_argument("--data", metavar="NAME", action="append", choices=tuple(SETS))
    options = command.parse_args(words)
    sizes = " | ".join(f"{size:,} features" for size in SIZES)
    print(f"| set | method | {sizes} |")
    print("|---" * (len(SIZES) + 2) + "|")
    for name in options.data or SETS:
        for one, numbers in table(name).items():
            cells = [f"{loss:.4f}, {area:.3f}" for loss, area in numbers]
            cells += [""] * (len(SIZES) - len(cells))
            print(f"| {name} | {one} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
