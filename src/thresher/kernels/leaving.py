"""Features that leave the play, and what they leave: shorter rows, fewer weights."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.kernels.slots import close_gap, keep_slots

# Purged features are thrown out of the rows once that makes them this much smaller.
NONZEROS_LEFT, FEATURES_LEFT = 0.9, 0.5


class Leaving(NamedTuple):
    """Where the features that stay will be, -1 for others, and how the rows are shared out.

    A share has the rows from one of the ``cuts`` to the next; ``begins`` and ``ends`` are where it
    lies in the arrays before it is moved together with others.
    """

    places: NDArray[np.int32]
    cuts: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


def new_leaving(n_slots: int, n_shares: int) -> Leaving:
    """Return room for what is to be known of features that leave."""
    shares = (np.zeros(n_shares + extra, np.int64) for extra in (1, 0, 0))
    return Leaving(np.zeros(n_slots, np.int32), *shares)


@jit
def much_smaller(counts, stable, n_nonzeros):
    """Return whether rows become much smaller if what is not stable leaves them."""
    left = nonzeros = 0
    for j in range(stable.size):
        if stable[j]:
            left += 1
            nonzeros += counts[j]
    if left == stable.size:
        return False
    return left < FEATURES_LEFT * stable.size or nonzeros < NONZEROS_LEFT * n_nonzeros


@jit
def worth_leaving(rows, features):
    """Return whether what was purged should leave rows and paths now."""
    n_slots = features.in_play[0]
    n_nonzeros = rows.starts[rows.starts.size - 1]
    return much_smaller(features.counts[:n_slots], features.stable[:n_slots], n_nonzeros)


@jit
def share_out(starts, cuts, begins):
    """Cut the rows into shares of about as many nonzeros."""
    n_shares, n_rows = begins.size, starts.size - 1
    n_nonzeros = starts[n_rows]
    cuts[n_shares] = n_rows
    for k in range(n_shares):
        wanted = n_nonzeros // n_shares * k
        cuts[k] = np.searchsorted(starts[1:], wanted) if k > 0 else 0
        begins[k] = starts[cuts[k]]


@jit
def move_together(rows, cuts, begins, ends):
    """Let shares of rows, each shorter than it was, follow upon each other."""
    n = 0
    for k in range(begins.size):
        gap = begins[k] - n
        if gap > 0:
            for i in range(cuts[k], cuts[k + 1]):
                rows.starts[i] -= gap
            close_gap(rows, begins[k], ends[k], gap)
        n += ends[k] - begins[k]
    rows.starts[rows.starts.size - 1] = n


@jit
def begin_leaving(rows, features, leaving):
    """Decide where everything will be."""
    n = 0
    for j in range(features.in_play[0]):
        leaving.places[j] = n if features.stable[j] else -1
        n += features.stable[j]
    share_out(rows.starts, leaving.cuts, leaving.begins)


@jit
def leave_share(rows, weights, n_slots, leaving, number):
    """Shorten a share of the rows, and move the weights of the path of the same number."""
    begin, end = leaving.cuts[number], leaving.cuts[number + 1]
    starts, slots, values = rows
    leaving.ends[number] = keep_slots(starts, slots, values, leaving.places, begin, end, rows)
    mine = weights[number]
    for j in range(n_slots):
        if leaving.places[j] >= 0:
            mine[leaving.places[j]] = mine[j]


@jit
def end_leaving(rows, features, before, leaving):
    """Move all together once every share is done; return the largest of what left ``before``."""
    move_together(rows, leaving.cuts, leaving.begins, leaving.ends)
    n, largest = 0, 0.0
    for j in range(features.in_play[0]):
        if leaving.places[j] < 0:
            largest = max(largest, abs(before[j]))
        else:
            features.home[n] = features.home[j]
            features.counts[n] = features.counts[j]
            features.stable[n] = True
            before[n] = before[j]
            n += 1
    features.in_play[0] = n
    return largest
