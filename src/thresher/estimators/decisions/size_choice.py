"""The size that a model has chosen, why, in words, and as a part of its file."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from thresher.files import access
from thresher.train.judges import Judge
from thresher.train.size_rule import Leniency, Verdict
from thresher.train.sizing import Table, columns_of

RULE = "one per cent of the columns that occur, at least 100, and all if there are fewer"


@dataclass(frozen=True)
class SizeChoice:
    """How many features a model was to keep for each class, why, and what else was tried.

    ``path`` is a table, a dict of arrays with an entry for every size: ``size``, ``log_loss`` and
    ``error`` on held-out rows with their standard errors ``log_loss_se`` and ``error_se``,
    ``nonzeros`` (mean over folds) and ``stability`` (mean kappa between the folds' selections). Of
    regressors it is ``squared_error`` or ``huber``, in units of the targets' spread, and ``r2``.
    ``path`` is None where nothing was tried.
    """

    size: int
    why: str
    path: Table | None = None

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        return {"size": self.size, "why": self.why, "path": self.path}

    @classmethod
    def from_tree(cls, tree: dict[str, Any], judge: Judge) -> "SizeChoice":
        """Return the choice that gave a tree, made by a judge."""
        path = None if tree.get("path") is None else access.branch(tree, "path")
        if path is not None:
            first, *others = columns_of(judge)
            sizes = access.array(path, first, np.int64, (None,))
            table = {name: access.array(path, name, np.float64, sizes.shape) for name in others}
            path = {first: sizes, **table}
        return cls(access.whole(tree, "size", 0), access.word(tree, "why"), path)


def counted(size: int, n_problems: int = 1) -> str:
    """Return so many features, for each of several problems, in words."""
    features = "1 feature" if size == 1 else f"{size:,} features"
    return f"{features} for each class" if n_problems > 1 else features


def as_asked_for(given: int | float, wanted: int, left: int, n_problems: int) -> SizeChoice:
    """Return the size that was given, if there are so many features.

    ``wanted`` are no more than occur; ``left`` are those that earlier learning did not purge.
    """
    asked, size = int(given) if isinstance(given, Integral) else wanted, min(wanted, left)
    why = "as asked for"
    if size < asked:
        those = "all that earlier learning left" if left < wanted else "all that occur"
        why = f"{those}: {asked:,} were asked for"
    return SizeChoice(size, f"{counted(size, n_problems)}, {why}.")


def reason(
    judge: Judge,
    table: Table,
    verdict: Verdict,
    n_folds: int,
    lenient: Leniency,
    n_problems: int = 1,
) -> str:
    """Say why a size was chosen."""
    size, best = (int(table["size"][place]) for place in (verdict.chosen, verdict.best))
    loss, least = (float(table[judge.loss][place]) for place in (verdict.chosen, verdict.best))
    score = float(table[judge.score][verdict.chosen])
    features = counted(size, n_problems)
    found = f"{features}: {judge.words(loss, score)} on held-out rows of {n_folds} folds"
    if size == best:
        return f"{found}, the best of {table['size'].size} sizes."
    explained = f"{100 * (verdict.share or 0):g} % of what it explains"
    within = lenient.named if verdict.share is None else explained
    return (
        f"{found}. The best of {table['size'].size} sizes, {best:,}, has "
        f"{judge.named} {least:.4f}; this is the smallest within {within} ({verdict.margin:.4f}) "
        "of it."
    )
