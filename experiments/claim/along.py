"""Our fits looked at after every burst, on every path, as the authors look at theirs."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from experiments.datasets import Split
from experiments.methods import method
from thresher import ThresherClassifier
from thresher.data.vocabulary import Vocabulary
from thresher.kernels.rows import Rows, Updates
from thresher.learners.adaptive_paths import units_of
from thresher.learners.paths import Paths
from thresher.learners.protocol import Learner
from thresher.learners.thresher import Thresher
from thresher.workers import Workers


class Look(NamedTuple):
    """The weights of some columns, a column for each path, and the paths' intercepts."""

    columns: np.ndarray
    weights: np.ndarray
    intercepts: np.ndarray


@dataclass(frozen=True)
class Watched(Thresher):
    """The flagship's learner, which shows its paths whenever a burst has ended."""

    show: Callable[[Look], None] = field(kw_only=True)
    most: int = field(kw_only=True)  # features of paths that are worth a look

    def room(self, paths: Paths) -> int:
        """Return how many updates there are before the burst ends, and maybe the stage."""
        stage = paths.stage
        return min(super().room(paths), stage.burst_size - stage.done % stage.burst_size)

    def advance(
        self,
        paths: Paths,
        vocabulary: Vocabulary,
        rows: Rows,
        updates: list[Updates],
        run_all: Workers,
    ) -> None:
        """Learn as ever, and show what has come of it."""
        super().advance(paths, vocabulary, rows, updates, run_all)
        stable = np.flatnonzero(paths.stable)
        if stable.size > self.most or paths.stage.done % paths.stage.burst_size:
            return
        weights = [unit.arrays["weights"][stable, : unit.lanes] for unit in units_of(paths)]
        biases = [unit.arrays["bias"][0, : unit.lanes] for unit in units_of(paths)]
        columns = vocabulary.columns_of(paths.slots(stable))
        size = updates[0].biases[-1]  # of the input that carries the intercept
        self.show(Look(columns, np.hstack(weights), size * np.hstack(biases)))


@dataclass(kw_only=True, eq=False, repr=False)
class WatchedClassifier(ThresherClassifier):
    """The flagship, with looks at its paths wherever they have no more than ``most_looked_at``.

    Margins are left as they are: folds that level them are other paths.
    """

    levels = False
    most_looked_at: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "WatchedClassifier":
        """Fit as ever; looks are in ``looks_``."""
        looks: list[Look] = []
        self._looks = looks
        super().fit(X, y, sample_weight)
        self.looks_ = looks
        return self

    def _learner(self, n_rows: int | None) -> Learner:
        learner = super()._learner(n_rows)
        known = {one.name: getattr(learner, one.name) for one in fields(learner)}
        return Watched(**known, show=self._looks.append, most=self.most_looked_at)


OURS = method("thresher")
WATCHED = replace(OURS, make=f"{__name__}:{WatchedClassifier.__name__}")


def errors_along(model: WatchedClassifier, data: Split) -> list[tuple[float, int]]:
    """Return the test error of every path at every look, with its number of nonzero weights."""
    rows = _as_learnt(model, data.X_test)
    wrong = []
    for columns, weights, intercepts in model.looks_:
        margins = rows[:, columns] @ weights.astype(np.float64) + intercepts
        errors = (np.where(margins > 0, 1, -1) != data.y_test[:, None]).mean(axis=0)
        wrong += zip(errors.tolist(), np.count_nonzero(weights, axis=0).tolist(), strict=True)
    return wrong


def _as_learnt(model: WatchedClassifier, X: Any) -> sparse.csc_array:
    """Return rows as the model learns them: around zero, in one unit, of unit length."""
    rows = sparse.csr_array(X)
    if model.column_offsets_.any():
        rows = sparse.csr_array(rows.toarray() - model.column_offsets_)
    rows = rows * model.column_scales_[None, :]
    if model.rows_normalized_:
        lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
        rows = rows.multiply(1.0 / np.where(lengths > 0, lengths, 1.0)[:, None])
    return sparse.csc_array(rows)
