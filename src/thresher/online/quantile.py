"""The exact quantile of many numbers, without sorting them."""

import math

import numpy as np

from thresher.jit import jit

# Numbers that are not negative have the order of their bits. They are counted by some of those at
# a time, from the leading ones on; the last digit overlaps the one before it, which does no harm.
DIGITS = 1 << 11
SHIFTS = (52, 41, 30, 19, 8, 0)


@jit
def digit_of(key, shift):
    """Return the digit of a number's bits that begins at bit ``shift``."""
    return np.int64((key >> np.uint64(shift)) & np.uint64(DIGITS - 1))


@jit
def digit_with(counts, k):
    """Return the digit of the k-th smallest, and how many numbers have a smaller digit."""
    digit, below = 0, 0
    while below + counts[digit] < k:
        below += counts[digit]
        digit += 1
    return digit, below


@jit
def count_digits(keys, shift, counts):
    """Add to the counts of the numbers that have each digit."""
    for i in range(keys.size):
        counts[digit_of(keys[i], shift)] += 1


@jit
def keep_digit(keys, shift, digit, kept, n):
    """Write the numbers with a digit to ``kept`` from place ``n`` on; return where they end.

    ``kept`` needs a place more than that: it is written before it is counted.
    """
    for i in range(keys.size):
        kept[n] = keys[i]
        n += digit_of(keys[i], shift) == digit
    return n


@jit
def kth_smallest(keys, lengths, k):
    """Return the k-th smallest (k from 1) of the bits; row i has ``lengths[i]`` in use."""
    counts = np.zeros(DIGITS, np.int64)
    for row in range(lengths.size):
        count_digits(keys[row, : lengths[row]], SHIFTS[0], counts)
    digit, below = digit_with(counts, k)
    left, n = np.empty(counts[digit] + 1, np.uint64), 0
    for row in range(lengths.size):
        n = keep_digit(keys[row, : lengths[row]], SHIFTS[0], digit, left, n)
    for shift in SHIFTS[1:]:
        k -= below
        if n == 1:
            break
        counts[:] = 0
        count_digits(left[:n], shift, counts)
        digit, below = digit_with(counts, k)
        n = keep_digit(left[:n], shift, digit, left, 0)
    return left[:1].view(np.float64)[0]


@jit
def quantile(numbers, lengths, share):
    """Return the quantile of numbers that are not negative; row i has ``lengths[i]`` in use.

    It is the k-th smallest with k = ceil(share N), so that at least the share of them is no larger;
    0 where k is 0.
    """
    n = lengths.sum()
    k = min(math.ceil(share * n), n)
    return kth_smallest(numbers.view(np.uint64), lengths, k) if k > 0 else 0.0
