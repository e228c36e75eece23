"""Independent paths led through all passes over some rows by one kernel call per thread."""

from dataclasses import dataclass, field

import numpy as np

from thresher.kernels.leaving import new_leaving
from thresher.kernels.reading import Reading
from thresher.kernels.rows import Rows
from thresher.kernels.stage_sums import LINE, new_sums
from thresher.kernels.stages import (
    GRAVITY,
    KNOWN,
    NONZERO,
    REJECTION_RATE,
    SEEN,
    SIZE,
    STABLE,
    STAGE,
    Features,
    History,
    Rules,
)
from thresher.kernels.tickets import OVER, new_desk
from thresher.kernels.units import EVERY
from thresher.kernels.whole_fits import BEGIN, BROKEN, END, SETTLED, Course, Fit, next_end, run_fit
from thresher.learners.counting_unit import CountingUnit
from thresher.learners.paths import Paths
from thresher.learners.pooling import most_pooled
from thresher.learners.protocol import Overflow
from thresher.learners.stacking import stacked
from thresher.workers import Workers

# in the order of the kernel's places for them
WHOLE = (
    "burst_size",
    "number",
    "done",
    "bursts",
    "known",
    "rows_seen",
    "ends",
    "over",
    "closed",
)
FLAGS = ("over", "closed")
MOST_STAGES = 1 << 20  # that a call can take down; if there are more, it is called again


@dataclass
class WholeFit:
    """Paths and rows, as far as they have come.

    ``counts`` are the nonzeros of every slot. Rows and paths lose what is purged on the way, and
    agree on what is left after every call. ``before`` are the weights when they were last compared,
    of those that are left, and ``lost`` the largest of others.
    """

    paths: Paths
    units: list[CountingUnit]
    rows: Rows
    counts: np.ndarray
    reading: Reading
    rules: Rules
    tol: float
    updates: int = 0
    settled: bool = False
    before: np.ndarray = field(init=False)
    lost: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing to compare weights with."""
        self.before, self.lost = np.zeros(self.paths.n_slots), np.zeros(1)

    def go_on(self, until: int, run_all: Workers) -> None:
        """Give every path its updates up to that of a number, or fewer, or raise an Overflow."""
        paths, units = self.paths, self.units
        most = most_pooled(paths, units, self.rows, self.rules, until - self.updates)
        stack, tallies = stacked(units, most)
        n_threads, n_ratios = min(run_all.n_threads, len(units)), tallies.ratios.size
        fit = Fit(
            self.rows,
            self.reading,
            self.rules,
            self._features(),
            stack,
            tallies,
            new_sums(n_threads, paths.n_slots, n_ratios),
            self._course(until, n_ratios),
            self._history(until),
            new_leaving(paths.n_slots, len(units)),
        )
        fit.course.way[END] = next_end(fit)
        self._count_standing(-1)
        desk = new_desk(len(units), n_threads)

        def give_up() -> None:
            desk[OVER] = 1

        run_all.attended(lambda thread: run_fit(thread, desk, fit), n_threads, give_up)
        self._take_over(fit)
        if fit.course.way[BROKEN]:
            raise Overflow(self._row_that_broke(fit.course))

    def _features(self) -> Features:
        """Return what is known of every slot as the kernel knows it."""
        paths, names = self.paths, ("purged_at", "evidence", "selected", "probability")
        n_slots = paths.n_slots
        return Features(
            np.array([n_slots]),
            np.arange(n_slots),
            paths.stable,
            self.counts,
            *(paths.feature(name) for name in names),
        )

    def _course(self, until: int, n_ratios: int) -> Course:
        """Return where the paths are."""
        stage = self.paths.stage
        return Course(
            np.array([int(getattr(stage, name)) for name in WHOLE]),
            np.array([stage.gravity, stage.rejection_rate]),
            np.array([self.updates, 0, until, 0, 0, 0]),
            np.zeros((len(self.units), LINE), np.int64),
            np.empty(n_ratios + 1),
            self.before,
            self.lost,
            self.tol,
        )

    def _history(self, until: int) -> History:
        """Return room for the stages to come."""
        n_stages = min((until - self.updates) // self.rules.bursts + 1, MOST_STAGES)
        return History(
            np.empty((n_stages, 5), np.int64), np.empty((n_stages, 2)), np.zeros(1, np.int64)
        )

    def _take_over(self, fit: Fit) -> None:
        """Note where the paths have come to, what has left them, and the stages on the way."""
        paths, course, n_left = self.paths, fit.course, fit.features.in_play[0]
        for name, value in zip(WHOLE, course.whole.tolist(), strict=True):
            setattr(paths.stage, name, bool(value) if name in FLAGS else value)
        paths.stage.gravity, paths.stage.rejection_rate = course.real.tolist()
        if fit.history.closed[0] > 0 and paths.stage.known > 0:  # of those in play at first
            paths.stage.known = int(paths.slots(course.whole[[KNOWN]] - 1)[0]) + 1
        paths.history.extend(**columns_of(fit.history))
        paths.have_left(fit.features.home[:n_left])
        for unit in self.units:
            unit.pool = unit.pool.copy()  # it had room for a thousand times as much, maybe
            unit.rest_empty()
        self._count_standing(1)
        starts, slots, values = self.rows
        self.rows = Rows(starts, slots[: starts[-1]], values[: starts[-1]])
        self.counts, self.before = self.counts[:n_left], self.before[:n_left]
        self.updates, self.settled = int(course.way[BEGIN]), bool(course.way[SETTLED])

    def _count_standing(self, times: int) -> None:
        """Count weights that are there for the stage's bursts so far, or take it back."""
        stage = self.paths.stage
        if self.rules.event == EVERY:
            for unit in self.units:
                unit.count_standing(np.array([times * (stage.done // stage.burst_size)]))

    def _row_that_broke(self, course: Course) -> int:
        """Return the row at which the first path overflowed that did."""
        begin, end = course.way[[BEGIN, END]].tolist()
        path = int(np.flatnonzero(course.learnt[:, 0] < end - begin)[0])
        order = self.reading.orders[path]
        return int(order[(begin + course.learnt[path, 0]) % order.size])


def columns_of(history: History) -> dict[str, np.ndarray]:
    """Return what is to be told of the stages that were closed, by its names."""
    closed = slice(history.closed[0])
    counts, rates = history.counts[closed].T, history.rates[closed].T
    return {
        "stage": counts[STAGE],
        "rows_seen": counts[SEEN],
        "stable": counts[STABLE],
        "nonzero": counts[NONZERO],
        "rejection_rate": rates[REJECTION_RATE],
        "gravity": rates[GRAVITY],
        "burst_size": counts[SIZE],
    }
