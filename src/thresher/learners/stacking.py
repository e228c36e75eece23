"""Paths that are alone, laid one after the other so that a kernel can run them all in one call."""

import numpy as np

from thresher.kernels.units import Tally, Unit
from thresher.learners.counting_unit import CountingUnit


def one_array(rows: list[np.ndarray], size: int) -> np.ndarray:
    """Return an array that has all rows in it, each with room for so many entries.

    That is the one they are views of already, if there is such a one and it is large enough.
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
        mine[: len(row)] = row
    return base


def stacked(units: list[CountingUnit], pool_size: int) -> tuple[Unit, Tally]:
    """Return the arrays of all units with a first axis of paths; the units become views of them."""
    n_slots = max(unit.arrays["weights"].shape[0] for unit in units)

    def joined(groups: list[dict[str, np.ndarray]], name: str, size: int) -> np.ndarray:
        base = one_array([group[name] for group in groups], size)
        for group, row in zip(groups, base, strict=True):
            group[name] = row
        return base.reshape(len(units), -1)

    by_slot = [unit.arrays.by_slot for unit in units]
    whole = [unit.arrays.whole for unit in units]
    burst, pool = [unit.burst.arrays for unit in units], [unit.pool.arrays for unit in units]
    cursors = one_array([unit.burst.length for unit in units], 1)
    pooled = one_array([unit.pool.length for unit in units], 1)
    for unit, cursor, length in zip(units, cursors, pooled, strict=True):
        unit.burst.length, unit.pool.length = cursor, length
    return Unit(
        joined(by_slot, "weights", n_slots),
        joined(whole, "bias", 1),
        joined(by_slot, "touches", n_slots),
        joined(burst, "touched", n_slots + 1),
        joined(burst, "before", n_slots + 1),
        cursors,
    ), Tally(
        joined(by_slot, "evidence", n_slots),
        joined(by_slot, "selected", n_slots),
        joined(pool, "owners", pool_size),
        joined(pool, "ratios", pool_size),
        pooled,
    )
