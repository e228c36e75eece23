"""Paths that are alone, laid one after the other so that a kernel can run them all in one call."""

from collections.abc import Sequence

import numpy as np

from thresher.data.growth import Log
from thresher.kernels.bundle import Bundle
from thresher.kernels.rows import Updates
from thresher.kernels.stage_sums import LINE
from thresher.kernels.units import Tally, Unit
from thresher.learners.adaptive_unit import AdaptiveUnit
from thresher.learners.counting_unit import CountingUnit


def one_array(rows: list[np.ndarray], size: int, used: int | None = None) -> np.ndarray:
    """Return an array that has all rows in it, each with room for so many entries.

    That is the one they are views of already, if there is such a one and it is large enough. Only
    the entries of each row that are ``used`` need be there: what is never written takes no time,
    and no memory.
    """
    base = rows[0].base
    if (
        isinstance(base, np.ndarray)
        and all(row.base is base for row in rows)
        and base.ndim == 1 + rows[0].ndim
        and base.shape[0] == len(rows)
        and base.shape[1] >= size
    ):
        return base
    shape = len(rows), max(size, *(len(row) for row in rows)), *rows[0].shape[1:]
    base = np.zeros(shape, rows[0].dtype)
    for mine, row in zip(base, rows, strict=True):
        mine[: len(row[:used])] = row[:used]
    return base


def joined(
    groups: list[dict[str, np.ndarray]], name: str, size: int, used: int | None = None
) -> np.ndarray:
    """Return the arrays of a name as one; those in the groups become views of it."""
    rows = [group[name] for group in groups]
    base = one_array(rows, size, used)
    if base is not rows[0].base:
        for group, row in zip(groups, base, strict=True):
            group[name] = row
    return base


def stacked_orders(updates: Sequence[Updates]) -> tuple[np.ndarray, int]:
    """Return an array whose rows have the orders of all updates, and where in them they begin.

    Orders that lie in one array as they are, as those of a pass do, are not copied.
    """
    orders = [one.order for one in updates]
    base = orders[0].base
    if (
        isinstance(base, np.ndarray)
        and base.flags.c_contiguous
        and base.shape[:-1] == (len(orders),)
    ):
        first = (_address(orders[0]) - _address(base)) // base.itemsize
        there = base[:, first : first + orders[0].size]
        if all(
            order.base is base and _address(order) == _address(mine)
            for order, mine in zip(orders, there, strict=True)
        ):
            return base, first
    return np.stack(orders), 0


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def joined_lengths(logs: list[Log]) -> np.ndarray:
    """Return the lengths of logs as one array, each in a cache line of its own.

    Threads that write what lies in one line wait for each other.
    """
    lengths = one_array([log.length for log in logs], LINE)
    for log, length in zip(logs, lengths, strict=True):
        log.length = length[:1]
    return lengths


def stacked(units: list[CountingUnit], pool_size: int) -> tuple[Unit, Tally]:
    """Return the arrays of all units with a first axis of paths; the units become views of them."""
    n_slots = units[0].arrays.n_slots
    touched = max(int(unit.burst.length[0]) for unit in units)
    pooled = max(int(unit.pool.length[0]) for unit in units)

    def flat(
        groups: list[dict[str, np.ndarray]], name: str, size: int, used: int | None = None
    ) -> np.ndarray:
        return joined(groups, name, size, used).reshape(len(units), -1)

    by_slot = [unit.arrays.by_slot for unit in units]
    whole = [unit.arrays.whole for unit in units]
    burst, pool = [unit.burst.arrays for unit in units], [unit.pool.arrays for unit in units]
    biases = one_array([group["bias"] for group in whole], LINE)
    for group, bias in zip(whole, biases, strict=True):
        group["bias"] = bias[:1]
    stack = Unit(
        flat(by_slot, "weights", n_slots),
        biases,
        flat(by_slot, "touches", n_slots),
        flat(burst, "touched", n_slots + 1, touched),
        flat(burst, "before", n_slots + 1, touched),
        joined_lengths([unit.burst for unit in units]),
    )
    tally = Tally(
        flat(by_slot, "evidence", n_slots),
        flat(by_slot, "selected", n_slots),
        flat(pool, "owners", pool_size, pooled),
        flat(pool, "ratios", pool_size, pooled),
        joined_lengths([unit.pool for unit in units]),
    )
    for unit in units:
        unit.arrays.resting.clear()  # those lie in zeros now
    return stack, tally


def stacked_bundles(units: list[AdaptiveUnit]) -> Bundle:
    """Return the same of the flagship's; arrays that rest on all units are empty."""
    by_slot = [unit.arrays.by_slot for unit in units]
    whole = [unit.arrays.whole for unit in units]
    pool = [unit.pool.arrays for unit in units]
    return Bundle(
        joined(by_slot, "weights", 0),
        joined(by_slot, "pace", 0),
        joined(by_slot, "squares", 0),
        joined(by_slot, "push", 0),
        joined(by_slot, "places", 0),
        np.stack([unit.fits for unit in units]),
        joined(whole, "bias", 1),
        joined(whole, "bias_facts", 1),
        joined(by_slot, "total", 0),
        joined(whole, "bias_total", 1),
        joined(whole, "behind", 1),
        joined(pool, "owners", 0),
        joined(pool, "ratios", 0),
        joined_lengths([unit.pool for unit in units]),
    )
