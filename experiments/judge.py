"""Error, log loss, stability and time at the same numbers of features, beside fair rivals.

    python -m experiments.judge                                  measure what is missing
    python -m experiments.judge --only method=thresher --again
    python -m experiments.judge --only-tables --page docs/claim.md

Every method sees the same rows: tf-idf of counts, standardized columns of dense sets, rows of unit
length otherwise; at most 6,000 rows of a set, 30 % of them to test. A method wins a cell (a set at
a size) if its error is lower by more than one standard error of the difference, row by row over all
splits; it loses by the same rule. Sets that the library was tuned on are shown apart.
"""

import base64
import math
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, normalize

from experiments import data, markdown, records
from experiments.data import Split
from experiments.records import Record
from experiments.rivals import METHODS, OURS, RIVALS, TITLES
from thresher.stability import mean_pairwise_kappa

SIZES = (20, 50, 100, 200, 500)
MOST_SHARE = 0.4  # of the columns that occur: larger sizes are left out
MOST_ROWS, TEST_SHARE, FEW_TESTED = 6000, 0.3, 100
SPLITS = 2
HALVES, STABILITY_SIZES = 3, (50, 100)
GROUPS = {"new": ("new",), "tuned on": ("paper", "extension")}  # roles of sets

Cell = tuple[str, int]  # a set at a size


def prepare(name: str, split: int, scale: bool = True) -> Split:
    """Return the rows of a split as every method sees them; what scales them is learned on some."""
    X, y = data.load_all(name)
    kept = np.sort(np.random.default_rng(0).permutation(y.size)[:MOST_ROWS])
    X, y = X[kept], y[kept]
    train, test = train_test_split(
        np.arange(y.size), test_size=TEST_SHARE, random_state=split, stratify=y
    )
    A, B = X[train], X[test]
    if not scale:
        return Split(A, y[train], B, y[test])
    if data.named(name).counts:
        tfidf = TfidfTransformer().fit(A)
        A, B = tfidf.transform(A), tfidf.transform(B)
    elif X.nnz > 0.5 * X.shape[0] * X.shape[1]:
        scaler = StandardScaler().fit(A.toarray())
        A, B = scaler.transform(A.toarray()), scaler.transform(B.toarray())
    else:
        A, B = normalize(A), normalize(B)
    return Split(sparse.csr_matrix(A), y[train], sparse.csr_matrix(B), y[test])


_prepared = lru_cache(maxsize=1)(prepare)


def judge(task: Record) -> Record:
    """Return what a method does at every size on one split of a set; lists have a place a size."""
    split, seed = _prepared(task["set"], task["split"]), task["split"]
    method = METHODS[task["method"]]
    occurring = np.count_nonzero(split.X_train.getnnz(axis=0))
    found: Record = defaultdict(list)
    for size in (one for one in SIZES if one <= MOST_SHARE * occurring):
        started = time.process_time()
        selected = method(split.X_train, split.y_train, size, seed)
        found["seconds"].append(round(time.process_time() - started, 3))
        margins = selected.margins(split.X_test)
        wrong = (margins > 0) != (split.y_test > 0)
        found["sizes"].append(size)
        found["selected"].append(selected.columns.size)
        found["errors"].append(float(wrong.mean()))
        found["losses"].append(float(np.logaddexp(0, -split.y_test * margins).mean()))
        found["mistakes"].append(pack(wrong))
        if seed == 0 and size in STABILITY_SIZES:
            found["kappas"].append(kappa(split, lambda X, y, s, size=size: method(X, y, size, s)))
    return {"tested": split.y_test.size, **found}


def kappa(split: Split, select: Callable[..., Any]) -> float:
    """Return the mean kappa of the features selected from random halves of the training rows."""
    X, y = split.X_train, split.y_train
    masks = np.zeros((HALVES, X.shape[1]), np.bool_)
    for seed, mask in enumerate(masks):
        half, _ = train_test_split(np.arange(y.size), test_size=0.5, random_state=seed, stratify=y)
        mask[select(X[half], y[half], seed).columns] = True
    return mean_pairwise_kappa(masks)


def pack(wrong: np.ndarray) -> str:
    """Return which rows are wrong, as short text."""
    return base64.b64encode(zlib.compress(np.packbits(wrong).tobytes(), 9)).decode("ascii")


def unpack(text: str, n_rows: int) -> np.ndarray:
    """Return the rows of ``pack``."""
    bits = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return np.unpackbits(bits, count=n_rows).astype(np.bool_)


# ---------------------------------------------------------------------------- from records only


def log_ratios(ours: Record, theirs: Record, what: str) -> list[float]:
    """Return the logarithm of ours over theirs at every size; no error is quite zero."""
    n = ours["tested"]
    pairs = zip(ours[what], theirs[what], strict=True)
    if what == "errors":
        return [math.log((a * n + 0.5) / (b * n + 0.5)) for a, b in pairs]
    return [math.log(max(a, 1e-3) / max(b, 1e-3)) for a, b in pairs]


def mean_ratio(by_set: Iterable[Sequence[float]]) -> str:
    """Return the geometric mean over sets, each of which counts once, and its standard error."""
    means = np.array([np.mean(one) for one in by_set if len(one)])
    if means.size < 2:
        return markdown.NOTHING
    error = means.std(ddof=1) / math.sqrt(means.size)
    return f"{math.exp(means.mean()):.3f} ± {error:.3f} ({means.size})"


def wins_and_losses(pairs: Iterable[tuple[Record, Record]]) -> tuple[int, int, int]:
    """Return in how many cells ours wins, and loses, and how many there are."""
    gains: dict[Cell, list[np.ndarray]] = defaultdict(list)
    for ours, theirs in pairs:
        n = ours["tested"]
        for k, size in enumerate(ours["sizes"]):
            mine, other = (unpack(one["mistakes"][k], n).astype(int) for one in (ours, theirs))
            gains[ours["set"], size].append(other - mine)
    rows = [np.concatenate(one) for one in gains.values()]
    scores = [(one.mean(), one.std() / math.sqrt(one.size)) for one in rows]
    won, lost = (sum(side * gain > error for gain, error in scores) for side in (1, -1))
    return won, lost, len(rows)


def pairs_of(found: Sequence[Record], rival: str) -> list[tuple[Record, Record]]:
    """Return our records with those of a rival on the same split."""
    theirs = {(one["set"], one["split"]): one for one in found if one["method"] == rival}
    ours = [one for one in found if one["method"] == OURS]
    keys = [(one["set"], one["split"]) for one in ours]
    return [(one, theirs[key]) for one, key in zip(ours, keys, strict=True) if key in theirs]


def table(found: Sequence[Record]) -> str:
    """Return our results over those of every rival."""
    header = ["rival", *(f"error, {group} sets" for group in GROUPS), "log loss"]
    header += [f"won, lost: {group}" for group in GROUPS]
    header += ["few test rows, points", "kappa: ours, theirs", "time"]
    rows = []
    for rival in RIVALS:
        pairs = pairs_of(found, rival)
        grouped = [_in_group(pairs, group) for group in GROUPS]
        row = [TITLES[rival], *(_ratio(group, "errors") for group in grouped)]
        row.append(_ratio(pairs, "losses"))
        row += ["{}, {} of {}".format(*wins_and_losses(group)) for group in grouped]
        row += [_points(pairs), _kappas(pairs), _ratio(pairs, "seconds").partition(" ")[0]]
        rows.append(row)
    return markdown.table(header, rows)


def _in_group(pairs: list[tuple[Record, Record]], group: str) -> list[tuple[Record, Record]]:
    return [pair for pair in pairs if data.named(pair[0]["set"]).role in GROUPS[group]]


def _ratio(pairs: list[tuple[Record, Record]], what: str) -> str:
    by_set: dict[str, list[float]] = defaultdict(list)
    for ours, theirs in pairs:
        if ours["tested"] >= FEW_TESTED:
            by_set[ours["set"]] += log_ratios(ours, theirs, what)
    return mean_ratio(by_set.values())


def _points(pairs: list[tuple[Record, Record]]) -> str:
    few = [pair for pair in pairs if pair[0]["tested"] < FEW_TESTED]
    gains = [np.subtract(ours["errors"], theirs["errors"]) for ours, theirs in few]
    return f"{100 * np.mean(np.concatenate(gains)):+.1f}" if gains else markdown.NOTHING


def _kappas(pairs: list[tuple[Record, Record]]) -> str:
    both = [(o.get("kappas", []), t.get("kappas", [])) for o, t in pairs]
    sides = [np.concatenate(side) for side in zip(*both, strict=True)] if both else [np.zeros(0)]
    if not sides[0].size:
        return markdown.NOTHING
    return ", ".join(f"{np.nanmean(side):.3f}" for side in sides)


def table_by_set(found: Sequence[Record]) -> str:
    """Return our error over every rival's, set by set."""
    rows = []
    for name in dict.fromkeys(one["set"] for one in found):
        ratios = []
        for rival in RIVALS:
            pairs = [pair for pair in pairs_of(found, rival) if pair[0]["set"] == name]
            logs = np.concatenate([log_ratios(*pair, "errors") for pair in pairs] or [[np.nan]])
            ratios.append(markdown.number(math.exp(logs.mean())))
        rows.append([data.named(name).title, data.named(name).role, *ratios])
    return markdown.table(["set", "role", *(TITLES[one] for one in RIVALS)], rows)


TASKS: list[Record] = [
    {"set": name, "split": split, "method": method}
    for name in data.of_role("new", "paper", "extension")
    for split in range(SPLITS)
    for method in METHODS
]
TABLES = {"judge": table, "judge by set": table_by_set}

if __name__ == "__main__":
    raise SystemExit(records.study(__doc__, Path("results/judge.jsonl"), TASKS, judge, TABLES))
