"""Exact order statistics without sorting everything."""

import numpy as np

from thresher.jit import jit

# Numbers are counted by some bits of their representation at a time, the leading ones first: the
# bits of floating-point numbers that are not negative have the order of the numbers.
DIGIT_BITS = 13  # the first digit is sign, exponent and one bit more
DIGITS = 1 << DIGIT_BITS
FEW = 256


@jit
def digit_of(key, shift):
    """Return the digit of a key that starts at bit ``shift``."""
    return np.int64((key >> np.uint64(shift)) & np.uint64(DIGITS - 1))


@jit
def kth_of(keys, size, k):
    """Return the k-th smallest (k from 1) of the first keys, which lose their order and others."""
    counts = np.empty(DIGITS, np.int32)
    shift = 64 - DIGIT_BITS
    while size > FEW and shift >= 0:
        counts[:] = 0
        for i in range(size):
            counts[digit_of(keys[i], shift)] += 1
        digit = 0
        while counts[digit] < k:
            k -= counts[digit]
            digit += 1
        n = 0
        for i in range(size):
            key = keys[i]
            keys[n] = key
            n += digit_of(key, shift) == digit
        size = n
        shift -= DIGIT_BITS
    return np.sort(keys[:size])[k - 1]


@jit
def kth_smallest(values, k):
    """Return the k-th smallest (k from 1) of numbers that are not negative, ties counted singly."""
    keys = values.view(np.uint64).copy()
    found = np.empty(1, np.uint64)
    found[0] = kth_of(keys, keys.size, k)
    return found.view(np.float64)[0]
