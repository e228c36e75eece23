"""Rows that lose slots where they lie, on all threads."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from thresher.kernels.rows import Rows
from thresher.kernels.slots import close_gap, keep_slots
from thresher.workers import Workers


def shed_in_place(
    rows: Rows, places: np.ndarray, others: Sequence[Callable[[], None]], run_all: Workers
) -> Rows:
    """Return the rows without the slots whose place is negative, the others renumbered.

    Every thread writes a share of them where it was; then they are moved together. What else there
    is to do meanwhile are ``others``.
    """
    cuts = list(pairwise(equal_shares(rows, run_all.n_threads)))
    begins = [int(rows.starts[first]) for first, _ in cuts]
    shares = [partial(keep_slots, *rows, places, *cut, rows) for cut in cuts]
    ends = run_all(lambda step: step(), [*shares, *others])[: len(shares)]
    n = 0
    for (first, last), begin, end in zip(cuts, begins, map(int, ends), strict=True):
        if begin > n:
            rows.starts[first:last] -= begin - n
            close_gap(rows, begin, end, begin - n)
        n += end - begin
    rows.starts[-1] = n
    return Rows(rows.starts, rows.slots[:n], rows.values[:n])


def equal_shares(rows: Rows, n_shares: int) -> list[int]:
    """Return the rows at which shares of about as many nonzeros begin, and where the last ends."""
    n_rows, wanted = rows.starts.size - 1, np.arange(1, n_shares) * (rows.slots.size // n_shares)
    inner = np.searchsorted(rows.starts[1:], wanted).tolist()
    return [0, *inner, n_rows]
