"""Bursts of SGD updates on one path, compiled (the paper's Algorithms 2 and 3)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.jit import jit
from thresher.losses import slope_of
from thresher.online.passes import soft_threshold
from thresher.online.prefetch import LATER, SOON, prefetch, prefetch_span

LINEAR, SQRT = range(2)  # how the shrinkage of a feature follows its touches
INFORMATIVE, EVERY = range(2)  # the bursts by which a feature is examined

PURGED = -1  # instead of the touches of a feature


class Burst(NamedTuple):
    """What is the same in all bursts of a stage."""

    loss: int
    shrinkage: int
    selection: int
    size: int
    gravity: float


class Paths(NamedTuple):
    """What every path knows, in a first axis, which the arrays of a single path do not have.

    ``touches`` are those of the open burst; before it, slots ``touched[: n_touched]`` had the
    weights ``before``. ``ratios[: n_pooled]`` are |dw_j| / k_j of the stage's bursts, by burst and
    slot; ``owners`` are the slots. ``ends`` are the stage's bursts in which the path took part.
    ``selected`` is twice the number of those that selected a slot (see ``end_burst``), and one more
    if it had a weight when the stage began.
    """

    weights: NDArray[np.float64]
    touches: NDArray[np.int32]
    selected: NDArray[np.int32]
    bias: NDArray[np.float64]
    ends: NDArray[np.int64]
    touched: NDArray[np.uint32]
    before: NDArray[np.float64]
    n_touched: NDArray[np.int64]
    owners: NDArray[np.uint32]
    ratios: NDArray[np.float64]
    n_pooled: NDArray[np.int64]


@jit
def path_of(paths, m):
    """Return the arrays of one path."""
    return Paths(
        paths.weights[m],
        paths.touches[m],
        paths.selected[m],
        paths.bias[m : m + 1],
        paths.ends[m : m + 1],
        paths.touched[m],
        paths.before[m],
        paths.n_touched[m : m + 1],
        paths.owners[m],
        paths.ratios[m],
        paths.n_pooled[m : m + 1],
    )


@jit
def information(shrinkage, touches):
    """Return by how many times gravity a feature touched so often is shrunk: k, or its root."""
    return float(touches) if shrinkage == LINEAR else math.sqrt(touches)


@jit
def end_burst(burst, n, pool, path):
    """Truncate what the burst has touched, and count; return how many ratios there are now.

    Informative truncation (Algorithm 2): w_j <- T(w_j, g_0 k_j). If every burst counts for every
    feature, only changes are counted: a weight that comes misses the bursts before this one, one
    that goes has had them, and what is left in the end is given all when the stage is closed.
    """
    ends = path.ends[0]
    for m in range(n):
        j = path.touched[m]
        times = information(burst.shrinkage, path.touches[j])
        path.owners[pool] = j
        path.ratios[pool] = abs(path.weights[j] - path.before[m]) / times
        pool += np.uint64(1)
        weight = soft_threshold(path.weights[j], burst.gravity * times)
        path.weights[j] = weight
        path.touches[j] = 0
        now, before = np.int64(weight != 0.0), np.int64(path.before[m] != 0.0)
        path.selected[j] += 2 * (now if burst.selection == INFORMATIVE else (before - now) * ends)
    path.ends[0] = ends + 1
    return pool


@jit
def run_path(burst, rows, updates, begin, end, filled, takes, path):
    """Learn from the rows of the updates from ``begin`` to ``end``, ending bursts that are full.

    ``filled`` updates of the first burst came before. Burst b has the weight ``takes[b]``, 0 where
    the path does not take part. Return the update at which numbers overflowed, -1 if none did.
    Rows are learned in this function: Numba would count arrays handed to others for every row.
    """
    starts, slots, values = rows
    order, steps, biases, targets, importance = updates
    weights, touches, touched, before = path.weights, path.touches, path.touched, path.before
    n, pool = np.uint64(path.n_touched[0]), np.uint64(path.n_pooled[0])
    constant, final = path.bias[0], order.size - 1
    for take in takes:
        stop = min(begin + burst.size - filled, end)
        for t in range(begin if take > 0.0 else stop, stop):
            later = order[min(t + LATER, final)]
            prefetch(starts, later)
            prefetch(targets, later)
            prefetch(importance, later)
            i, following = order[t], order[min(t + SOON, final)]
            # unsigned, since Numba lets signed places count from an array's end
            first, last = np.uint64(starts[i]), np.uint64(starts[i + 1])
            margin = 0.0
            for k in range(first, last):
                margin += weights[slots[k]] * values[k]
            prefetch_span(slots, starts[following], starts[following + 1])
            prefetch_span(values, starts[following], starts[following + 1])
            margin += biases[t] * constant
            if not math.isfinite(margin):
                return t
            change = -(steps[t] * importance[i]) * take * slope_of(burst.loss, margin, targets[i])
            constant += change * biases[t]
            for k in range(first, last):
                j = slots[k]
                count = touches[j]
                if count != PURGED:
                    # noted on every visit; it stays noted only if the slot was untouched so far
                    touched[n] = j
                    before[n] = weights[j]
                    n += np.uint64(count == 0)
                    touches[j] = count + 1
                    weights[j] += change * values[k]
        if take > 0.0 and stop - begin + filled == burst.size:
            pool = end_burst(burst, n, pool, path)
            n = np.uint64(0)
        begin, filled = stop, 0
    path.bias[0], path.n_touched[0], path.n_pooled[0] = constant, n, pool
    return -1
