"""Exact order statistics without sorting everything."""

import numpy as np

from thresher.jit import jit

# Numbers are counted by the leading bits of their representation, 12 at a time (the counts fit the
# innermost cache): the bits of floating-point numbers that are not negative have their order.
DIGIT_BITS = 12
DIGITS = 1 << DIGIT_BITS
FEW = 128


@jit
def digit_of(key, shift):
    """Return the 12 bits of a key that start at ``shift``."""
    return np.int64((key >> np.uint64(shift)) & np.uint64(DIGITS - 1))


@jit
def keep_digit(keys, shift, digit, count):
    """Return the ``count`` keys whose digit at ``shift`` is the given one."""
    kept = np.empty(count, np.uint64)
    n = 0
    for i in range(keys.size):
        if digit_of(keys[i], shift) == digit:
            kept[n] = keys[i]
            n += 1
    return kept


@jit
def kth_smallest(values, k):
    """Return the k-th smallest (k from 1) of numbers that are not negative, ties counted singly."""
    keys = values.view(np.uint64)
    shift = 64 - DIGIT_BITS
    counts = np.zeros(DIGITS, np.int64)
    while keys.size > FEW and shift >= 0:
        counts[:] = 0
        for i in range(keys.size):
            counts[digit_of(keys[i], shift)] += 1
        digit = 0
        while counts[digit] < k:
            k -= counts[digit]
            digit += 1
        keys = keep_digit(keys, shift, digit, counts[digit])
        shift -= DIGIT_BITS
    return np.sort(keys).view(np.float64)[k - 1]
