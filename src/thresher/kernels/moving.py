"""Entries of arrays moved up to where others have left, and back to where they came from."""

from thresher.jit import jit


@jit
def move_up(entries, places):
    """Move the entries at the given places, in ascending order, to the front."""
    for k in range(places.size):
        if places[k] != k:
            for b in range(entries.shape[1]):
                entries[k, b] = entries[places[k], b]


@jit
def spread_out(entries, places):
    """Move the first entries to the given places, in ascending order, with zeros between them."""
    k = places.size - 1
    for i in range(entries.shape[0] - 1, -1, -1):
        if k >= 0 and places[k] == i:
            for b in range(entries.shape[1]):
                entries[i, b] = entries[k, b]
            k -= 1
        else:
            for b in range(entries.shape[1]):
                entries[i, b] = 0
