"""Decimal numbers in text, read as the nearest double: what Python's ``float`` gives, bit by bit.

Small numbers are exact quotients (Clinger 1990). Others are multiplied by a power of five of 128
bits (Lemire 2021), which for 19 digits always suffices (Mushtak and Lemire 2023). More than 19
digits lie between two such numbers; where these round differently the text is HARD: someone with
large integers must read it.
"""

import numpy as np

from thresher.jit import jit

PLAIN, HARD, MALFORMED = range(3)  # what can become of a text

LOWEST, HIGHEST = -342, 308  # powers of ten beyond which all is 0 or infinite

_u = np.uint64  # together with signed integers Numba would turn these into doubles
U0, U1, U3, U10, U32, U48, U52, U63 = (_u(n) for n in (0, 1, 3, 10, 32, 48, 52, 63))
LOW_HALF = _u(0xFFFFFFFF)
TRAILING = _u(0x1FF)  # bits of a product that no double has
EXACT = _u(1 << 53)  # all integers up to this are doubles
HIDDEN = _u(1 << 52)  # the bit of a double that is not stored
BIAS, INFINITE = 1023, 2047  # of a double's exponent

TENS = np.array([10.0**k for k in range(23)])  # exact


def _powers_of_five():
    """Return 5^q as 128 bits, the first one set; rounded up from q = -27 to -1, else down."""
    table = np.empty((HIGHEST - LOWEST + 1, 2), np.uint64)
    for row, q in enumerate(range(LOWEST, HIGHEST + 1)):
        power = 5 ** abs(q)
        length = power.bit_length()
        if q < 0:
            bits = (1 << (length + 127)) // power + (q >= -27)
        else:
            bits = power << (128 - length) if length <= 128 else power >> (length - 128)
        table[row] = bits >> 64, bits & (2**64 - 1)
    return table


FIVES = _powers_of_five()


@jit
def full_product(a, b):
    """Return the upper and the lower 64 bits of a product."""
    a_low, a_high = a & LOW_HALF, a >> U32
    b_low, b_high = b & LOW_HALF, b >> U32
    middle = a_high * b_low + ((a_low * b_low) >> U32)
    carry = a_low * b_high + (middle & LOW_HALF)
    return a_high * b_high + (middle >> U32) + (carry >> U32), a * b


@jit
def leading_zeros(word):
    """Return how many of 64 bits come before the first that is set; one must be."""
    count = U0
    for width in (32, 16, 8, 4, 2, 1):
        step = np.uint64(width)
        if word >> (np.uint64(64) - step) == U0:
            word <<= step
            count += step
    return count


@jit
def times_power_of_five(digits, power):
    """Return 128 bits of ``digits * 5^power``: enough to round, if ``digits`` has its first bit."""
    row = power - LOWEST
    high, low = full_product(digits, FIVES[row, 0])
    if high & TRAILING == TRAILING:
        more, _ = full_product(digits, FIVES[row, 1])
        low += more
        if low < more:
            high += U1
    return high, low


@jit
def times_power_of_ten(digits, power):
    """Return the double nearest to ``digits * 10^power``, ties to even."""
    if digits == U0 or power < LOWEST:
        return 0.0
    if power > HIGHEST:
        return np.inf
    shift = leading_zeros(digits)
    high, low = times_power_of_five(digits << shift, power)
    top = high >> U63
    cut = top + np.uint64(9)
    bits = high >> cut  # 54 of them, the last one for rounding
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - np.int64(shift) + BIAS
    if exponent <= 0:
        return _subnormal(bits, exponent)
    exact_tie = low <= U1 and -4 <= power <= 23 and bits & U3 == U1 and bits << cut == high
    if exact_tie:
        bits -= U1
    bits = (bits + (bits & U1)) >> U1
    if bits == EXACT:
        bits, exponent = HIDDEN, exponent + 1
    if exponent >= INFINITE:
        return np.inf
    stored = (bits & (HIDDEN - U1)) | (np.uint64(exponent) << U52)
    return np.uint64(stored).view(np.float64)


@jit
def _subnormal(bits, exponent):
    """Return the double of 54 bits whose exponent is too low to be stored."""
    if exponent <= -62:
        return 0.0
    bits >>= np.uint64(1 - exponent)
    return np.uint64((bits + (bits & U1)) >> U1).view(np.float64)


@jit
def nearest(digits, power):
    """Return the double nearest to ``digits * 10^power``, the short way where there is one."""
    if digits <= EXACT and -22 <= power <= 22:
        if power < 0:
            return np.float64(digits) / TENS[-power]
        return np.float64(digits) * TENS[power]
    return times_power_of_ten(digits, power)
