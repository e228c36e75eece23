"""Renumbering of columns."""

import numpy as np

from thresher.jit import jit


@jit
def assign_slots(columns, slot_of, known):
    """Give every column not seen before the next slot; return the new columns in that order.

    ``slot_of`` holds slot + 1, so that the zeros of a fresh array mean "never seen".
    """
    fresh = np.empty(min(columns.size, slot_of.size), columns.dtype)
    n = 0
    for k in range(columns.size):
        if slot_of[columns[k]] == 0:
            fresh[n] = columns[k]
            n += 1
            slot_of[columns[k]] = known + n
    return fresh[:n]


@jit
def number_columns(columns, slot_of, known):
    """Return the slots of columns, and those columns that were not seen before, now with a slot."""
    slots = np.empty(columns.size, np.uint32)
    fresh = np.empty(min(columns.size, slot_of.size), columns.dtype)
    n = 0
    for k in range(columns.size):
        slot = slot_of[columns[k]]
        if slot == 0:
            fresh[n] = columns[k]
            n += 1
            slot = slot_of[columns[k]] = known + n
        slots[k] = slot - 1
    return slots, fresh[:n]


@jit
def count_fresh(columns, slot_of, known):
    """Return the columns not seen before, which get the next slots, and how often each occurs."""
    room = min(columns.size, slot_of.size)
    fresh, counts = np.empty(room, columns.dtype), np.zeros(room, np.int64)
    n = 0
    for k in range(columns.size):
        slot = slot_of[columns[k]]
        if slot == 0:
            fresh[n] = columns[k]
            n += 1
            slot = slot_of[columns[k]] = known + n
        if slot > known:
            counts[slot - known - 1] += 1
    return fresh[:n], counts[:n]


@jit
def by_frequency(counts):
    """Return the places of counts, the largest first, equal ones as they come."""
    starts = np.zeros(counts.max() + 2, np.int64) if counts.size else np.zeros(1, np.int64)
    for k in range(counts.size):
        starts[counts[k]] += 1
    above = 0
    for count in range(starts.size - 1, -1, -1):
        many, starts[count] = starts[count], above
        above += many
    order = np.empty(counts.size, np.int64)
    for k in range(counts.size):
        order[starts[counts[k]]] = k
        starts[counts[k]] += 1
    return order


@jit
def distinct_slots(columns, slot_of, n_slots):
    """Return the known slots among the columns, each once."""
    found = np.empty(min(columns.size, n_slots), np.int64)
    n = 0
    for k in range(columns.size):
        slot = slot_of[columns[k]] if columns[k] < slot_of.size else 0
        if slot > 0:
            found[n] = slot - 1
            n += 1
            slot_of[columns[k]] = -slot  # until all are found
    for k in range(columns.size):
        if columns[k] < slot_of.size and slot_of[columns[k]] < 0:
            slot_of[columns[k]] = -slot_of[columns[k]]
    return found[:n]


@jit
def write_scaled(starts, values, scales, found):
    """Write the values times their row's scale."""
    last = np.uint64(starts[0])
    for i in range(starts.size - 1):
        # unsigned, since Numba lets signed places count from an array's end
        first, last, scale = last, np.uint64(starts[i + 1]), scales[i]
        for k in range(first, last):
            found[k] = values[k] * scale


@jit
def keep_slots(starts, slots, values, place_of, begin, end, room):
    """Write the rows from ``begin`` to ``end`` without the slots whose place is negative.

    The others are renumbered. They are written from where the first row has begun on, maybe over
    themselves; returns where they end. Where a row begins is written for all of them, and nothing
    is of the row that comes next.
    """
    new_starts, new_slots, new_values = room
    # unsigned, since Numba lets signed places count from an array's end
    n = first = np.uint64(starts[begin])
    final = np.uint64(starts[end])
    for i in range(begin, end):
        last = np.uint64(starts[i + 1]) if i + 1 < end else final
        new_starts[i] = n
        for k in range(first, last):
            # written on every visit, but it stays only if the slot is kept
            place = place_of[slots[k]]
            new_slots[n] = place
            new_values[n] = values[k]
            n += np.uint64(place >= 0)
        first = last
    return n


@jit
def close_gap(rows, begin, end, shift):
    """Let the entries from ``begin`` to ``end`` lie so many places before where they are."""
    first, last, by = np.uint64(begin), np.uint64(end), np.uint64(shift)
    for k in range(first, last):
        rows.slots[k - by] = rows.slots[k]
        rows.values[k - by] = rows.values[k]


@jit
def slot_counts(slots, n_slots):
    """Return how often each slot occurs."""
    counts = np.zeros(n_slots, np.int64)
    for k in range(slots.size):
        counts[slots[k]] += 1
    return counts


@jit
def column_sums(slots, values, occurrences, squares):
    """Add to each slot the number of rows it occurs in and its sum of squares."""
    for k in range(slots.size):
        occurrences[slots[k]] += 1
        squares[slots[k]] += values[k] * values[k]
