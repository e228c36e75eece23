"""Numbers in text: any decimal, whole numbers, and eight or sixteen digits at once."""

import numpy as np

from thresher.jit import jit
from thresher.kernels.decimal import HARD, MALFORMED, PLAIN, nearest

FAR = 1 << 40  # beyond every exponent that the digits of a line could make up for
PLUS, MINUS, POINT, NOUGHT, NINE, SMALL_E, LARGE_E = (int(byte) for byte in b"+-.09eE")

_u = np.uint64
U0, U1, U2, U3, U4, U5, U6, U7, U8, U10 = (_u(n) for n in (0, 1, 2, 3, 4, 5, 6, 7, 8, 10))
U16, U24, U32, U40, U48, U56 = (_u(n) for n in (16, 24, 32, 40, 48, 56))
ROOM = _u(10**18)  # below this, another digit fits
LARGEST = _u(2**63 - 1)
TENTH = LARGEST // U10
NOUGHTS = _u(0x3030303030303030)
ABOVE_NINE, HIGH_BITS = _u(0x7676767676767676), _u(0x8080808080808080)
BYTES = _u(0x000000FF000000FF)
PAIRS_1, PAIRS_2 = _u(100 + (1000000 << 32)), _u(1 + (10000 << 32))
WHOLE_TENS = np.array([10**k for k in range(20)], np.uint64)


@jit
def eight_digits(word, count):
    """Return the number in the first ``count`` of eight bytes; not 0 behind it: no digits."""
    half = U32 - np.uint64(count) * U4
    digits = ((word ^ NOUGHTS) << half) << half  # what stands behind is gone, noughts before
    stray = ((digits + ABOVE_NINE) | digits) & HIGH_BITS
    pairs = digits * U10 + (digits >> U8)
    return ((pairs & BYTES) * PAIRS_1 + ((pairs >> U16) & BYTES) * PAIRS_2) >> U32, stray


@jit
def sixteen_digits(upper_word, lower_word, count):
    """Return the same of two times eight bytes that follow each other."""
    if count <= 8:
        return eight_digits(upper_word, count)
    upper, stray = eight_digits(upper_word, 8)
    lower, more = eight_digits(lower_word, count - 8)
    return upper * WHOLE_TENS[count - 8] + lower, stray | more


@jit
def digits_around_point(whole, before, parts, behind):
    """Return the number that digits before and behind a point make without it, at most 19 of them.

    ``whole`` has the bytes before the point, ``parts`` three times eight bytes behind it. Not 0
    behind the number: they are no digits, or too many.
    """
    first, second, third = parts
    number, stray = eight_digits(whole, before)
    if behind == 0:
        return number, stray
    if behind <= 16:
        part, more = sixteen_digits(first, second, behind)
        too_many = number >= WHOLE_TENS[19 - behind]
        return number * WHOLE_TENS[behind] + part, stray | more | np.uint64(too_many)
    part, more = sixteen_digits(first, second, 16)
    rest, most = eight_digits(third, behind - 16)
    too_many = number != U0 or part >= WHOLE_TENS[35 - behind]
    return part * WHOLE_TENS[behind - 16] + rest, stray | more | most | np.uint64(too_many)


@jit
def eight_bytes(data, begin):
    """Return eight bytes as one number, the first one lowest; compiled, this is a single load."""
    p = np.uint64(begin)
    word = np.uint64(data[p])
    word |= np.uint64(data[p + U1]) << U8
    word |= np.uint64(data[p + U2]) << U16
    word |= np.uint64(data[p + U3]) << U24
    word |= np.uint64(data[p + U4]) << U32
    word |= np.uint64(data[p + U5]) << U40
    word |= np.uint64(data[p + U6]) << U48
    word |= np.uint64(data[p + U7]) << U56
    return word


@jit
def twenty_four_bytes(data, begin):
    """Return the same of three times eight bytes."""
    return eight_bytes(data, begin), eight_bytes(data, begin + 8), eight_bytes(data, begin + 16)


@jit
def read_whole(data, begin, stop):
    """Return the number that digits are, and whether they are digits and it fits 63 bits."""
    number = U0
    for p in range(begin, stop):
        if not NOUGHT <= data[p] <= NINE or number > TENTH:
            return 0, False
        number = number * U10 + (np.uint64(data[p]) - U48)
    return np.int64(number), stop > begin and number <= LARGEST


@jit
def read_decimal(data, begin, stop):
    """Return what became of a text (PLAIN, HARD, MALFORMED) and the number it says."""
    signed = begin < stop and (data[begin] == MINUS or data[begin] == PLUS)
    first = begin + 1 if signed else begin
    p, digits, power, lost = _read_digits(data, first, stop, U0, 0, False, False)
    count = p - first
    if p < stop and data[p] == POINT:
        behind = p + 1
        p, digits, power, lost = _read_digits(data, behind, stop, digits, power, True, lost)
        count += p - behind
    p, shift = _read_exponent(data, p, stop)
    if count == 0 or p != stop:
        return MALFORMED, 0.0
    value = nearest(digits, power + shift)
    fate = HARD if lost and nearest(digits + U1, power + shift) != value else PLAIN
    return fate, -value if data[begin] == MINUS else value


@jit
def _read_digits(data, p, stop, digits, power, behind_point, lost):
    """Go over digits; those that do not fit only count, and ``lost`` says that one was not 0."""
    while p < stop and NOUGHT <= data[p] <= NINE:
        if digits < ROOM:
            digits = digits * U10 + (np.uint64(data[p]) - U48)
            power -= behind_point
        else:
            lost |= data[p] != NOUGHT
            power += not behind_point
        p += 1
    return p, digits, power, lost


@jit
def read_short_exponent(data, stop):
    """Return the exponent that two digits, a sign before them, are, and whether they are that."""
    tens, ones = np.int64(data[stop - 2]) - NOUGHT, np.int64(data[stop - 1]) - NOUGHT
    negative, positive = data[stop - 3] == MINUS, data[stop - 3] == PLUS
    exponent = 10 * tens + ones
    fine = 0 <= tens <= 9 and 0 <= ones <= 9 and (negative or positive)
    return -exponent if negative else exponent, fine


@jit
def _read_exponent(data, p, stop):
    """Return where an exponent ends and what it is; where there is none, the place as it was."""
    if p >= stop or (data[p] != SMALL_E and data[p] != LARGE_E):
        return p, 0
    q = p + 1
    signed = q < stop and (data[q] == MINUS or data[q] == PLUS)
    first = q + 1 if signed else q
    q, exponent = first, 0
    while q < stop and NOUGHT <= data[q] <= NINE:
        exponent = min(exponent * 10 + np.int64(data[q]) - NOUGHT, FAR)
        q += 1
    if q == first:
        return p, 0
    return q, -exponent if data[p + 1] == MINUS else exponent
