"""Independent paths of the flagship, led through the updates of a stage by one call per thread."""

import numpy as np

from thresher.kernels.adaptive_shares import run_paths
from thresher.kernels.bundle import Rules, Shares
from thresher.kernels.rows import Rows, Updates
from thresher.kernels.tickets import new_desk
from thresher.learners.adaptive_unit import AdaptiveUnit
from thresher.learners.stacking import stacked_bundles, stacked_orders
from thresher.workers import Workers


def run_independent(
    units: list[AdaptiveUnit],
    rows: Rows,
    updates: list[Updates],
    rules: Rules,
    done: int,
    shares: Shares,
    run_all: Workers,
) -> list[int]:
    """Give every path its updates; return how many each has learnt."""
    orders = stacked_orders(updates)
    alike = all(one.steps is updates[0].steps for one in updates)
    steps = np.stack([one.steps for one in (updates[:1] if alike else updates)])
    stack, n_slots = stacked_bundles(units), units[0].arrays.n_slots
    learnt = np.zeros(len(units), np.int64)
    n_threads = min(run_all.n_threads, len(units))
    desk = new_desk(len(units), n_threads)
    known = rows, orders, steps, updates[0], rules, done, shares, stack, n_slots, learnt
    run_all(lambda thread: run_paths(thread, desk, *known), range(n_threads))
    return learnt.tolist()
