"""Pairs of an index and a value, sorted where they lie."""

from thresher.jit import jit


@jit
def sort_pairs(indices, values):
    """Sort by index (heapsort: in place, and never slow)."""
    for root in range(indices.size // 2 - 1, -1, -1):
        _sink(indices, values, root, indices.size)
    for last in range(indices.size - 1, 0, -1):
        _exchange(indices, values, 0, last)
        _sink(indices, values, 0, last)


@jit
def _sink(indices, values, root, stop):
    """Let a pair sink into the heap of those before ``stop`` until none below is larger."""
    child = 2 * root + 1
    while child < stop:
        if child + 1 < stop and indices[child] < indices[child + 1]:
            child += 1
        if indices[root] >= indices[child]:
            return
        _exchange(indices, values, root, child)
        root, child = child, 2 * child + 1


@jit
def _exchange(indices, values, one, other):
    indices[one], indices[other] = indices[other], indices[one]
    values[one], values[other] = values[other], values[one]
