"""Independent paths led through whole stages by one kernel call per thread."""

import numpy as np

from thresher.kernels.rows import Rows, Updates
from thresher.kernels.stage_sums import new_sums
from thresher.kernels.stages import (
    BEGIN,
    BROKEN,
    END,
    GRAVITY,
    NONZERO,
    REJECTION_RATE,
    SEEN,
    SIZE,
    STABLE,
    STAGE,
    Course,
    Features,
    Rules,
    entries_needed,
    run_stages,
)
from thresher.kernels.tickets import OVER, new_desk
from thresher.learners.counting_unit import CountingUnit
from thresher.learners.paths import Paths
from thresher.learners.protocol import Overflow
from thresher.learners.stacking import stacked, stacked_orders
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
SPARE = 1.25  # of what the first stage of a call may pool: others may pool more


def run_independent(
    paths: Paths,
    units: list[CountingUnit],
    rows: Rows,
    updates: list[Updates],
    rules: Rules,
    run_all: Workers,
) -> int:
    """Give every path its updates, or its first ones; return how many, or raise an Overflow."""
    orders, first = stacked_orders(updates)
    if orders.shape[1] > updates[0].order.size:
        orders = orders[:, first : first + updates[0].order.size].copy()
    stack, tallies = stacked(units, _pool_size(paths, units, rows, orders, rules))
    course, features = _course(paths, orders.shape, tallies.ratios.size, rules), _features(paths)
    n_threads = min(run_all.n_threads, len(units))
    desk = new_desk(len(units), n_threads)
    sums = new_sums(n_threads, paths.n_slots, tallies.ratios.size)
    known = rows, orders, updates[0], rules, features, stack, tallies, sums, course

    def run(thread: int) -> None:
        try:
            run_stages(thread, desk, *known)
        except BaseException:
            desk[OVER] = 1
            raise

    run_all(run, range(n_threads))
    _take_over(paths, course)
    _refuse_overflow(orders, course)
    return int(course.whole[BEGIN])


def _pool_size(
    paths: Paths, units: list[CountingUnit], rows: Rows, orders: np.ndarray, rules: Rules
) -> int:
    """Return how many entries a pool must have room for until the stage ends."""
    stage = paths.stage
    end = min(rules.bursts * stage.burst_size - stage.done, orders.shape[1])
    most = rules.bursts * paths.n_slots
    needed = 0
    for unit, order in zip(units, orders, strict=True):
        entries = entries_needed(rows, order, 0, end, unit.burst.length[0], most)
        needed = max(needed, int(unit.pool.length[0] + entries))
    enough = all(unit.pool.room + unit.pool.length[0] >= needed for unit in units)
    return needed if enough else int(SPARE * needed)


def _course(paths: Paths, shape: tuple[int, ...], n_ratios: int, rules: Rules) -> Course:
    """Return where the paths are, with room for what happens to them."""
    n_paths, n_updates = shape
    n_stages = n_updates // rules.bursts + 1
    stage = paths.stage
    end = min(rules.bursts * stage.burst_size - stage.done, n_updates)
    whole = [*(int(getattr(stage, name)) for name in WHOLE), 0, end, 0]
    return Course(
        np.array(whole, np.int64),
        np.array([stage.gravity, stage.rejection_rate]),
        np.zeros(n_paths, np.int64),
        np.zeros((n_stages, 5), np.int64),
        np.zeros((n_stages, 2)),
        np.zeros(1, np.int64),
        np.empty(n_ratios + 1),
    )


def _features(paths: Paths) -> Features:
    """Return what is known of every slot as the kernel knows it."""
    names = ("purged_at", "evidence", "selected", "probability")
    slots = paths.slots(np.arange(paths.n_slots))
    return Features(slots, paths.stable, *(paths.feature(name) for name in names))


def _take_over(paths: Paths, course: Course) -> None:
    """Note where the paths have come to, and the stages on the way."""
    for name, value in zip(WHOLE, course.whole.tolist(), strict=False):
        setattr(paths.stage, name, bool(value) if name in FLAGS else value)
    paths.stage.gravity, paths.stage.rejection_rate = course.real.tolist()
    closed = slice(course.closed[0])
    for count, rate in zip(
        course.counts[closed].tolist(), course.rates[closed].tolist(), strict=True
    ):
        paths.history.append(
            {
                "stage": count[STAGE],
                "rows_seen": count[SEEN],
                "stable": count[STABLE],
                "nonzero": count[NONZERO],
                "rejection_rate": rate[REJECTION_RATE],
                "gravity": rate[GRAVITY],
                "burst_size": count[SIZE],
            }
        )


def _refuse_overflow(orders: np.ndarray, course: Course) -> None:
    """Raise an Overflow at the first path that has not made all updates of the last stretch."""
    if course.whole[BROKEN]:
        begin, end = course.whole[[BEGIN, END]].tolist()
        path = int(np.flatnonzero(course.learnt < end - begin)[0])
        raise Overflow(int(orders[path, begin + course.learnt[path]]))
