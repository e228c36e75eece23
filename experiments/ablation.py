"""What each part of the flagship gives: error, log loss, stability and time without it.

    python -m experiments.ablation --page docs/ablation.md

Only training rows of the judge's first split take part: each variant learns from 70 % of them and
is tested on the others, twice. A part stays if it pays 1 % of error, .02 of kappa or a fifth of the
time on the sets that nothing was tuned on.
"""

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.model_selection import train_test_split

from experiments import data, markdown, records
from experiments.data import Split
from experiments.judge import GROUPS, MOST_SHARE, SIZES, STABILITY_SIZES, kappa, prepare
from experiments.records import Record
from experiments.rivals import Selected
from thresher import ThresherClassifier
from thresher.winnow import folds, screen

WHOLE = "as it is"
SPLITS = 2
EVERYTHING = 1 << 40

# By variant: parameters of the estimator, and constants of the winnowing.
VARIANTS: dict[str, tuple[Record, list[tuple[Any, str, Any]]]] = {
    WHOLE: ({}, []),
    "no marginal certainty in the metric": ({}, [(screen, "CERTAINTY", 0.0)]),
    "raw columns in the metric": ({}, [(screen, "SPREAD", 0.0)]),
    "columns of unit variance": ({}, [(screen, "SPREAD", 0.5)]),
    "no screening": ({}, [(screen, "FEWEST", EVERYTHING)]),
    "rows as long as all columns make them": ({}, [(folds, "WAYS", folds.WAYS[:2])]),
    "one penalty while selecting": ({}, [(folds, "STRENGTHS", (0.5,))]),
    "one final penalty": ({}, [(folds, "FINALS", (3.0,))]),
    "no caution": ({"caution": 0.0}, []),
    "the largest caution": ({"caution": 10.0}, []),
    "five folds": ({"cv": 5}, []),
}


def inner_split(name: str, number: int) -> Split:
    """Return a split of the training rows of the judge's first split."""
    whole = prepare(name, 0)
    rows = np.arange(whole.y_train.size)
    some, others = train_test_split(
        rows, test_size=0.3, random_state=100 + number, stratify=whole.y_train
    )
    X, y = whole.X_train, whole.y_train
    return Split(X[some], y[some], X[others], y[others])


@contextmanager
def changed(constants: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """Let constants have other values for a while."""
    with ExitStack() as stack:
        for module, name, value in constants:
            stack.enter_context(patch.object(module, name, value))
        yield


def ablate(task: Record) -> Record:
    """Return what a variant does on a split; lists have a place a size."""
    parameters, constants = VARIANTS[task["variant"]]
    split = inner_split(task["set"], task["split"])
    occurring = np.count_nonzero(split.X_train.getnnz(axis=0))

    def select(X: Any, y: np.ndarray, size: int, seed: int) -> Selected:
        with changed(constants):
            model = ThresherClassifier(
                n_features_to_select=size, random_state=seed, **parameters
            ).fit(X, y)
        return Selected(model.get_support(indices=True), model.decision_function)

    found: Record = defaultdict(list)
    for size in (one for one in SIZES if one <= MOST_SHARE * occurring):
        started = time.process_time()
        selected = select(split.X_train, split.y_train, size, task["split"])
        found["seconds"].append(round(time.process_time() - started, 3))
        margins = selected.margins(split.X_test)
        found["errors"].append(float(((margins > 0) != (split.y_test > 0)).mean()))
        found["losses"].append(float(np.logaddexp(0, -split.y_test * margins).mean()))
        if task["split"] == 0 and size in STABILITY_SIZES:
            halves = kappa(split, lambda X, y, seed, size=size: select(X, y, size, seed))
            found["kappas"].append(halves)
    return {"tested": split.y_test.size, **found}


def table(found: Sequence[Record]) -> str:
    """Return what is lost, or gained, without each part."""
    by_task = {(one["variant"], one["set"], one["split"]): one for one in found}
    rows = []
    for variant in VARIANTS:
        pairs = [
            (one, by_task[WHOLE, one["set"], one["split"]])
            for one in found
            if one["variant"] == variant and (WHOLE, one["set"], one["split"]) in by_task
        ]
        if pairs:
            rows.append([variant, *_row(pairs)])
    groups = [f"{what}, {group} sets" for what in ("error", "log loss") for group in GROUPS]
    return markdown.table(["variant", *groups, "kappa", "time"], rows)


def _row(pairs: list[tuple[Record, Record]]) -> list[str]:
    cells = []
    for what in ("errors", "losses"):
        for roles in GROUPS.values():
            mine = [pair for pair in pairs if data.named(pair[0]["set"]).role in roles]
            cells.append(_mean_ratio(mine, what))
    kappas = [
        float(np.mean(one["kappas"]) - np.mean(whole["kappas"]))
        for one, whole in pairs
        if one.get("kappas")
    ]
    cells.append(f"{np.mean(kappas):+.3f}" if kappas else markdown.NOTHING)
    spent = [sum(one["seconds"]) / max(sum(whole["seconds"]), 1e-3) for one, whole in pairs]
    return [*cells, f"{math.exp(np.mean(np.log(np.maximum(spent, 1e-3)))):.2f}"]


def _mean_ratio(pairs: list[tuple[Record, Record]], what: str) -> str:
    """Return the geometric mean over sets of a variant's figure over that of the whole."""
    by_set = defaultdict(list)
    for one, whole in pairs:
        n = one["tested"]
        for mine, theirs in zip(one[what], whole[what], strict=True):
            extra = 0.5 / n if what == "errors" else 0.0
            by_set[one["set"]].append(math.log((mine + extra) / (theirs + extra)))
    means = np.array([np.mean(one) for one in by_set.values()])
    if means.size < 2:
        return markdown.NOTHING
    error = means.std(ddof=1) / math.sqrt(means.size)
    return f"{math.exp(means.mean()):.3f} ± {error:.3f}"


TASKS: list[Record] = [
    {"set": name, "split": split, "variant": variant}
    for name in data.of_role("new", "paper", "extension")
    for split in range(SPLITS)
    for variant in VARIANTS
]

if __name__ == "__main__":
    raise SystemExit(
        records.study(__doc__, Path("results/ablation.jsonl"), TASKS, ablate, {"ablation": table})
    )
