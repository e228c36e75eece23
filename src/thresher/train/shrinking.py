"""One run that shrinks through many sizes, judged at each on rows it has not seen.

Selecting takes short steps, so the weights at the end of a stage are those of a model on its way.
What is judged is therefore a copy of it, refitted for a short while, or, of numbers, to the end:
sizes are compared by what their features can do, not by how far the run had come.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.rows import Rows
from thresher.learners.pace import Pace
from thresher.learners.paths import Paths
from thresher.learners.selection import shrinking_size
from thresher.learners.thresher import Thresher
from thresher.learners.timetable import Timetable
from thresher.train.feed import Batch, Feed
from thresher.train.folds import Fold
from thresher.train.follow import follow
from thresher.train.passes import Passes
from thresher.train.restraint import restrained
from thresher.train.settling import best_of, lesson_of
from thresher.train.work import SheddingWork, Work
from thresher.workers import Workers

REFIT_BURSTS = 20
REFIT_PASS = 1 << 20  # the number from which the refits count their passes


@dataclass(frozen=True)
class Sight:
    """What a run was at some size: its features with a weight, and the held rows' margins.

    ``restrained`` are their margins by weights under each of the plan's penalties.
    """

    slots: np.ndarray
    margins: np.ndarray
    restrained: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """The sizes to look at, in how many stages, and how long a copy is refitted to be judged.

    A run shrinks to ``least`` features, the smallest size unless it is given; still smaller sizes
    are the strongest of those. Beside the refit's, weights under some ``penalties`` are looked at.
    """

    sizes: Sequence[int]
    n_stages: int
    refit_updates: int
    least: int | None = None
    penalties: Sequence[float] = ()

    @property
    def shrinks_to(self) -> int:
        """Return how many features are left when a run ends."""
        return min(self.sizes) if self.least is None else self.least

    def due(self, n_slots: int) -> list[list[int]]:
        """Return the sizes to look at before the first stage, and at the end of each.

        Before the first nothing is known of the features, and only all of them can be looked at.
        """
        left = [
            shrinking_size(n_slots, self.shrinks_to, stage, self.n_stages)
            for stage in range(self.n_stages + 1)
        ]
        due: list[list[int]] = [[] for _ in left]
        for size in self.sizes:
            last = max(stage for stage, many in enumerate(left) if many >= size)
            due[last if last or size >= n_slots else 1].append(size)
        return due


class ShrinkingRun(SheddingWork):
    """The rows and paths of a run that is looked at whenever a stage has ended."""

    def __init__(
        self,
        learner: Thresher,
        plan: Plan,
        vocabulary: Vocabulary,
        batch: Batch,
        targets: np.ndarray,
        fold: Fold,
        passes: Passes,
    ) -> None:
        self.learner = replace(learner, n_features=plan.shrinks_to)
        paths = self.learner.start()
        paths.grow(len(vocabulary))
        self.learner.resume(paths)
        super().__init__(batch.rows, paths, vocabulary)
        self.plan = plan
        self.batch, self.targets, self.fold, self.passes = batch, targets, fold, passes
        self.pace = Pace()
        training = batch.only(fold.training)
        self.lesson = lesson_of(learner, training.importance, training.mean_norm, targets)
        self.due = plan.due(len(vocabulary))
        self.seen: dict[int, Sight] = {}

    def run(self, run_all: Workers) -> dict[int, Sight]:
        """Shrink to the smallest size; return what was seen at each."""
        self.run_all = run_all
        self._look()
        number, n_rows = 0, self.fold.training.size
        while not self.learner.finished(self.state):
            count = self.passes.at_once(n_rows, number)
            follow(self.learner, self, self._feed(number, count, self.pace), run_all)
            number += count
        return self.seen

    def shed(self, run_all: Workers) -> None:
        """Look at the sizes that are due, then throw out what is no longer in play."""
        self._look()
        super().shed(run_all)

    def _look(self) -> None:
        for size in self.due.pop(0):
            keep = self.learner.leaders(self.state, self.vocabulary, size)
            self.seen[size] = self._sight(keep)

    def _sight(self, keep: np.ndarray) -> Sight:
        """Return what the run is with the given features only."""
        rows, paths = self.rows_with(keep), self.state.take(np.flatnonzero(keep))
        slots = paths.members
        weights, intercept = self._refitted(rows, paths)
        shape = self.batch.norms.size, weights.size
        held = sparse.csr_array((rows.values, rows.slots, rows.starts), shape)[self.fold.held]
        start = np.append(weights, intercept)
        others = restrained(self.lesson, rows, start, self.plan.penalties)
        margins, *restrained_margins = (held @ one[:-1] + one[-1] for one in (start, *others))
        return Sight(slots[weights != 0], margins, restrained_margins)

    def _refitted(self, rows: Rows, paths: Paths) -> tuple[np.ndarray, float]:
        """Return weights and intercept of a copy of the paths after a short refit."""
        if self.lesson.of_numbers:
            settled = best_of(self.lesson, rows, self.learner.selected(paths, self.pace))
            if settled is not None:
                return settled[:-1], float(settled[-1])
        updates, n_rows = self.plan.refit_updates, self.fold.training.size
        timetable = Timetable(0, -(-updates // REFIT_BURSTS), REFIT_BURSTS)
        wanted = int(np.count_nonzero(paths.stable))
        learner = replace(self.learner, timetable=timetable, n_features=wanted)
        pace = replace(self.pace)
        learner.resume(paths)
        feed = self._feed(REFIT_PASS, -(-updates // n_rows) + 1, pace)
        follow(learner, Work(rows, paths, self.vocabulary), feed, self.run_all)
        weights, bias = learner.weights(paths, self.vocabulary)
        return weights, bias * learner.schedule(paths).constant(pace)

    def _feed(self, first: int, count: int, pace: Pace) -> Feed:
        """Return some passes over the rows that train."""
        training = self.fold.training
        orders = self.passes.orders(first, count, training.size, 1, self.run_all)
        order = training[orders[0]]
        return Feed(self.batch, self.targets, [order], pace, streams=True)
