"""Our fits looked at every few updates, on every path, as the authors look at theirs."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from experiments.datasets import Split
from experiments.methods import method
from thresher import ThresherClassifier
from thresher.data.vocabulary import Vocabulary
from thresher.estimators.decisions.decision import without
from thresher.estimators.decisions.levelling import Margins
from thresher.estimators.decisions.step_lengths import LongerSteps
from thresher.kernels.rows import Rows, Updates
from thresher.learners.adaptive_paths import units_of
from thresher.learners.pace import Schedule
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
    """The flagship's learner, which shows its paths every few updates."""

    show: Callable[[Look], None] = field(kw_only=True)
    every: int = field(kw_only=True)  # updates between looks
    most: int = field(kw_only=True)  # features of paths that are worth a look

    def room(self, paths: Paths) -> int:
        """Return how many updates there are before the next look, and maybe the stage's end."""
        return min(super().room(paths), self.every - paths.stage.done % self.every)

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
        if stable.size > self.most or paths.stage.done % self.every:
            return
        weights = [unit.arrays["weights"][stable, : unit.lanes] for unit in units_of(paths)]
        biases = [unit.arrays["bias"][0, : unit.lanes] for unit in units_of(paths)]
        columns = vocabulary.columns_of(paths.slots(stable))
        size = updates[0].biases[-1]  # of the input that carries the intercept
        self.show(Look(columns, np.hstack(weights), size * np.hstack(biases)))


@dataclass(kw_only=True, eq=False, repr=False)
class PacedClassifier(ThresherClassifier):
    """The flagship, with steps that are so many ``times`` as long as usual, whatever rows say."""

    decisions = without(ThresherClassifier.decisions, LongerSteps)
    times: float = 1.0

    def _steps(self, share: float = 1.0) -> Schedule:
        return super()._steps(self.times * share)


@dataclass(kw_only=True, eq=False, repr=False)
class WatchedClassifier(PacedClassifier):
    """The same, which shows its paths wherever they have no more than ``most_looked_at``.

    Margins are left as they are: folds that level them are other paths.
    """

    decisions = without(PacedClassifier.decisions, Margins)
    show: Callable[[Look], None] | None = None
    look_every: int = 1
    most_looked_at: int = 0

    def _learner(self, n_rows: int | None) -> Learner:
        learner = super()._learner(n_rows)
        if self.show is None:
            return learner
        known = {one.name: getattr(learner, one.name) for one in fields(learner)}
        return Watched(**known, show=self.show, every=self.look_every, most=self.most_looked_at)


PACED, WATCHED = (
    replace(method("thresher"), make=f"{__name__}:{kind.__name__}")
    for kind in (PacedClassifier, WatchedClassifier)
)


class Best:
    """The smallest test error of all paths at all looks, with its number of nonzero weights."""

    def __init__(self, model: ThresherClassifier, data: Split) -> None:
        """Look with a test part's rows, as a model of the same training rows learns them."""
        self._rows = _as_learnt(model, data.X_test)
        self._labels = data.y_test[:, None]
        self._columns = np.empty(0, np.int64)
        self._seen = self._rows[:, self._columns]
        self.found: tuple[float, int] = (np.inf, 0)

    def __call__(self, look: Look) -> None:
        """Judge the paths of one look."""
        if not np.array_equal(look.columns, self._columns):
            self._columns, self._seen = look.columns, self._rows[:, look.columns]
        margins = self._seen @ look.weights.astype(np.float64) + look.intercepts
        errors = (np.where(margins > 0, 1, -1) != self._labels).mean(axis=0)
        nonzeros = np.count_nonzero(look.weights, axis=0)
        self.found = min(self.found, *zip(errors.tolist(), nonzeros.tolist(), strict=True))


def _as_learnt(model: ThresherClassifier, X: Any) -> sparse.csc_array:
    """Return rows as the model learns them: around zero, in one unit, of unit length."""
    rows = sparse.csr_array(X)
    if model.column_offsets_.any():
        rows = sparse.csr_array(rows.toarray() - model.column_offsets_)
    rows = rows * model.column_scales_[None, :]
    if model.rows_normalized_:
        lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
        rows = rows.multiply(1.0 / np.where(lengths > 0, lengths, 1.0)[:, None])
    return sparse.csc_array(rows)
