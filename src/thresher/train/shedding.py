"""Rows that lose slots where they lie, on all threads."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from thresher.kernels.leaving import move_together, share_out
from thresher.kernels.rows import Rows
from thresher.kernels.slots import keep_slots
from thresher.workers import Workers


def shed_in_place(
    rows: Rows, places: np.ndarray, others: Sequence[Callable[[], None]], run_all: Workers
) -> Rows:
    """Return the rows without the slots whose place is negative, the others renumbered.

    Every thread writes a share of them where it was; then they are moved together. What else there
    is to do meanwhile are ``others``.
    """
    n_shares = run_all.n_threads
    cuts, begins = np.empty(n_shares + 1, np.int64), np.empty(n_shares, np.int64)
    share_out(rows.starts, cuts, begins)
    shares = [
        partial(keep_slots, *rows, places, cuts[k], cuts[k + 1], rows) for k in range(n_shares)
    ]
    ends = run_all(lambda step: step(), [*shares, *others])[:n_shares]
    move_together(rows, cuts, begins, np.array(ends, np.int64))
    n = rows.starts[-1]
    return Rows(rows.starts, rows.slots[:n], rows.values[:n])
