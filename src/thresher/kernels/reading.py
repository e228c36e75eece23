"""How independent paths read the rows: pass after pass, each in an order of its own."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels.lone_bursts import run_path
from thresher.kernels.permuting import write_order
from thresher.kernels.rows import Updates
from thresher.kernels.tickets import given_up
from thresher.kernels.units import Tally, Unit


class Reading(NamedTuple):
    """Rows to learn from, in every pass.

    ``orders`` and ``steps`` are those of the pass that each path is in: orders that are ``drawn``
    by the seed's ``keys``, and steps that ``vary``, because they decay or keep within the
    ``bounds`` of rows. ``first`` updates came before the first pass; no more than ``most`` rows are
    learnt without a look at whether everybody has been told to give up.
    """

    orders: NDArray[np.int64]
    steps: NDArray[np.float64]
    biases: NDArray[np.float64]
    targets: NDArray[np.float64]
    importance: NDArray[np.float64]
    bounds: NDArray[np.float64]
    keys: NDArray[np.uint64]
    step: float
    first: int
    most: int
    drawn: bool
    vary: bool
    decay: bool


@jit
def open_pass(reading, path, number):
    """Give a path the order and the steps of a pass."""
    order = reading.orders[path]
    if reading.drawn:
        write_order(reading.keys, path, number, order)
    if reading.vary:
        before = reading.first + number * order.size
        for t in range(order.size):
            step = reading.step
            if reading.decay:
                step /= math.sqrt(before + t + 1)
            reading.steps[path, t] = min(step, reading.bounds[order[t]])


@jit
def run_share(rows, reading, burst, done, begin, end, stable, stack, tallies, path, desk):
    """Give a path its updates from ``begin`` to ``end``; return how many rows it learnt.

    ``done`` updates of the stage came before. It learns fewer where numbers overflow, or where
    everybody is told to give up.
    """
    n_rows = reading.orders.shape[1]
    updates = Updates(
        reading.orders[path],
        reading.steps[path if reading.vary else 0],
        reading.biases,
        reading.biases,  # mean norms, which nobody asks for here
        reading.targets,
        reading.importance,
    )
    unit = Unit(
        stack.weights[path],
        stack.bias[path],
        stack.touches[path],
        stack.touched[path],
        stack.before[path],
        stack.cursor[path],
    )
    tally = Tally(
        tallies.evidence[path],
        tallies.selected[path][: stable.size],
        tallies.owners[path],
        tallies.ratios[path],
        tallies.pooled[path],
    )
    position = begin
    while position < end and not given_up(desk):
        first = position % n_rows
        if first == 0:
            open_pass(reading, path, position // n_rows)
        last = first + min(end - position, n_rows - first, reading.most)
        filled = (done + position - begin) % burst.size
        takes = np.ones((filled + last - first) // burst.size + 1)
        ends = (done + position - begin) // burst.size
        learnt = run_path(
            rows, updates, first, last, burst, filled, takes, ends, stable, unit, tally
        )
        position += learnt
        if learnt < last - first:
            break
    return position - begin
