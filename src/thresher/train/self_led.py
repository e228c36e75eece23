"""Learning from rows that are all at hand, by a learner that leads itself through the passes."""

from collections.abc import Callable

import numpy as np

from thresher.data.vocabulary import Vocabulary
from thresher.kernels.philox import round_keys
from thresher.kernels.reading import Reading
from thresher.kernels.rows import Rows
from thresher.learners.pace import Pace, stable_steps
from thresher.learners.paths import Paths
from thresher.learners.stabilized import StabilizedTruncatedSGD
from thresher.train.feed import Batch
from thresher.train.passes import Passes
from thresher.train.problem import Problem
from thresher.train.work import SheddingWork
from thresher.workers import Workers


class SelfLedWork(SheddingWork):
    """Rows and paths that go through all passes in one call, and shed on the way."""

    def __init__(
        self,
        rows: Rows,
        paths: Paths,
        vocabulary: Vocabulary,
        lent: bool,
        learner: StabilizedTruncatedSGD,
    ) -> None:
        super().__init__(rows, paths, vocabulary, lent)
        self.learner = learner

    def fit(
        self,
        problem: Problem,
        batch: Batch,
        targets: np.ndarray,
        passes: Passes,
        run_all: Workers,
        report: Callable[[int, Problem], None],
    ) -> None:
        """Learn the rows; whoever wants to hear of every pass has a call for each."""
        pace, n_rows = Pace(problem.pace.updates, float(batch.norms.mean())), batch.norms.size
        reading = reading_of(self.learner, batch, targets, passes, pace)
        fit = self.learner.whole_fit(
            self.state, self.vocabulary, self._own_rows(), self.counts, reading, passes.tol
        )
        last = n_rows * (passes.most or 0)
        while fit.updates < last and not (fit.settled or self.learner.finished(self.state)):
            fit.go_on(fit.updates + n_rows if passes.watched else last, run_all)
            self.rows, self.counts = fit.rows, fit.counts
            problem.pace.reach(pace.updates + fit.updates, pace.mean_norm)
            if passes.watched:
                with self.whole():
                    report(-(-fit.updates // n_rows), problem)

    def _own_rows(self) -> Rows:
        """Return the rows to be changed where they lie."""
        if self.lent:
            starts, slots, values = self.rows
            self.rows, self.lent = Rows(starts.copy(), slots.copy(), values.copy()), False
        return self.rows


def reading_of(
    learner: StabilizedTruncatedSGD, batch: Batch, targets: np.ndarray, passes: Passes, pace: Pace
) -> Reading:
    """Return how the paths are to read the rows.

    Paths see other rows first: common to them is the mean over all rows.
    """
    schedule, n_rows, n_paths = learner.pace, batch.norms.size, learner.n_paths
    biases, bounds = schedule.biases(np.full(n_rows, pace.mean_norm)), np.full(n_rows, np.inf)
    if schedule.within:
        bounds = stable_steps(bounds, batch.importance * (batch.norms + biases**2))
    step, vary = schedule.step(pace.mean_norm), schedule.within or schedule.decaying
    return Reading(
        orders=np.tile(np.arange(n_rows), (n_paths, 1)),
        steps=np.full((n_paths if vary else 1, n_rows), step),
        biases=biases,
        targets=targets,
        importance=batch.importance,
        bounds=bounds,
        keys=round_keys(passes.seed, 0),
        step=step,
        first=pace.updates,
        most=batch.slice_size,
        drawn=passes.shuffle,
        vary=vary,
        decay=schedule.decaying,
    )
