"""What rows that still carry their own column numbers say of every feature, and some of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit

# What is summed up of a feature's values x: of pull x, bend x and bend x^2, by row.
PULL, LEVEL, BEND = range(3)


class Entries(NamedTuple):
    """Sparse rows by column; values count times their row's scale, and columns have slots.

    ``slot_of`` holds slot + 1.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.uint32]
    values: NDArray[np.float64]
    scales: NDArray[np.float64]
    slot_of: NDArray[np.int32]


@jit
def add_evidence(entries, pulls, bends, found):
    """Add what the values of each slot say to its row of ``found``."""
    starts, columns, values, scales, slot_of = entries
    for i in range(pulls.size):
        # unsigned, since Numba lets signed places count from an array's end
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            slot = np.uint64(slot_of[columns[k]] - 1)
            value = values[k] * scales[i]
            bent = bends[i] * value
            found[slot, PULL] += pulls[i] * value
            found[slot, LEVEL] += bent
            found[slot, BEND] += bent * value


@jit
def count_kept(entries, place_of):
    """Return how many entries have a slot whose place is not negative."""
    count = 0
    for k in range(entries.columns.size):
        count += place_of[entries.slot_of[entries.columns[k]] - 1] >= 0
    return count


@jit
def pick_slots(entries, place_of, room):
    """Write the rows without the slots whose place is negative, the others renumbered.

    There must be room for one entry more than are kept: what is written last may not stay.
    """
    starts, columns, values, scales, slot_of = entries
    new_starts, new_slots, new_values = room
    n = np.uint64(0)
    new_starts[0] = 0
    for i in range(starts.size - 1):
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            place = place_of[slot_of[columns[k]] - 1]
            new_slots[n] = place
            new_values[n] = values[k] * scales[i]
            n += np.uint64(place >= 0)
        new_starts[i + 1] = n


@jit
def join_slot(entries, column, rows, place, room):
    """Write rows with the values of a column behind their own; slots from its place on move up."""
    columns, values, scales = entries.columns, entries.values, entries.scales
    starts, slots, own_values = rows
    new_starts, new_slots, new_values = room
    n = np.uint64(0)
    new_starts[0] = 0
    for i in range(starts.size - 1):
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            new_slots[n] = slots[k] + (slots[k] >= place)
            new_values[n] = own_values[k]
            n += np.uint64(1)
        for k in range(np.uint64(entries.starts[i]), np.uint64(entries.starts[i + 1])):
            if columns[k] == column:
                new_slots[n] = place
                new_values[n] = values[k] * scales[i]
                n += np.uint64(1)
        new_starts[i + 1] = n
