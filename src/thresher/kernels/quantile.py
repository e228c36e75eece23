"""Exact order statistics without sorting everything."""

import numpy as np

from thresher.jit import jit

# Numbers are counted by some bits of their representation at a time, the leading ones first: the
# bits of floating-point numbers that are not negative have the order of the numbers.
DIGIT_BITS = 13  # the first digit is sign, exponent and one bit more
DIGITS = 1 << DIGIT_BITS
FEW = 1024  # of which the one that is wanted is found by comparing them


@jit
def digit_of(key, shift):
    """Return the digit of a key that starts at bit ``shift``."""
    return np.int64((key >> np.uint64(shift)) & np.uint64(DIGITS - 1))


@jit
def kth_of_few(keys, size, k):
    """Return the k-th smallest (k from 1) of the first keys, which lose their order.

    Those on the wrong side of one of them change sides, until it is the one (Hoare's way).
    """
    first, last, wanted = 0, size - 1, k - 1
    while first < last:
        pivot = keys[(first + last) // 2]
        i, j = first, last
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while pivot < keys[j]:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if wanted <= j:
            last = j
        elif wanted >= i:
            first = i
        else:
            break
    return keys[wanted]


@jit
def kth_of(keys, size, k):
    """Return the k-th smallest (k from 1) of the first keys, which lose their order and others."""
    if size <= FEW:
        return kth_of_few(keys, size, k)
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
    return kth_of_few(keys, size, k)


@jit
def kth_smallest(values, k):
    """Return the k-th smallest (k from 1) of numbers that are not negative, ties counted singly."""
    keys = values.view(np.uint64).copy()
    found = np.empty(1, np.uint64)
    found[0] = kth_of(keys, keys.size, k)
    return found.view(np.float64)[0]
