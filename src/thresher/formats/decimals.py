"""Numbers in text: any decimal, whole numbers, and eight or sixteen digits at once.

A decimal becomes the nearest double: what Python's ``float`` gives, bit by bit. Small numbers are
exact quotients (Clinger 1990). Others are multiplied by a power of five of 128 bits (Lemire 2021),
which for 19 digits always suffices (Mushtak and Lemire 2023). More than 19 digits lie between two
such numbers; where these round differently the text is HARD: Python must read it.
"""

import numpy as np

from thresher.jit import jit

PLAIN, HARD, MALFORMED = range(3)  # what a text can be

LOWEST, HIGHEST = -342, 308  # powers of ten beyond which all is 0 or infinite

_u = np.uint64  # together with signed integers Numba would turn these into doubles
U0, U1, U2, U3, U4, U5, U6, U7, U8, U10 = (_u(n) for n in (0, 1, 2, 3, 4, 5, 6, 7, 8, 10))
U16, U24, U32, U40, U48, U52, U56, U63 = (_u(n) for n in (16, 24, 32, 40, 48, 52, 56, 63))
LOW_HALF = _u(0xFFFFFFFF)
TRAILING = _u(0x1FF)  # bits of a product that no double has
EXACT = _u(1 << 53)  # all integers up to this are doubles
HIDDEN = _u(1 << 52)  # the bit of a double that is not stored
BIAS, INFINITE = 1023, 2047  # of a double's exponent

TENS = np.array([10.0**k for k in range(23)])  # exact

FAR = 1 << 40  # beyond every exponent that the digits of a line could make up for
PLUS, MINUS, POINT, NOUGHT, NINE, SMALL_E, LARGE_E = (int(byte) for byte in b"+-.09eE")

ROOM = _u(10**18)  # below this, another digit fits
LARGEST = _u(2**63 - 1)
TENTH = LARGEST // U10
NOUGHTS = _u(0x3030303030303030)
ABOVE_NINE, HIGH_BITS = _u(0x7676767676767676), _u(0x8080808080808080)
BYTES = _u(0x000000FF000000FF)
PAIRS_1, PAIRS_2 = _u(100 + (1000000 << 32)), _u(1 + (10000 << 32))
WHOLE_TENS = np.array([10**k for k in range(20)], np.uint64)


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


@jit
def eight_digits(word, count):
    """Return the number in the first ``count`` of eight bytes, and 0 if they are digits."""
    half = U32 - np.uint64(count) * U4
    digits = ((word ^ NOUGHTS) << half) << half  # drops what follows, puts zeros before
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
def digits_around_point(whole, before, parts, after):
    """Return the number that digits around a point make without it, at most 19 of them.

    ``whole`` has the bytes before the point, ``parts`` three times eight bytes after it. The second
    result is 0 unless they are no digits, or too many.
    """
    first, second, third = parts
    number, stray = eight_digits(whole, before)
    if after == 0:
        return number, stray
    if after <= 16:
        part, more = sixteen_digits(first, second, after)
        too_many = number >= WHOLE_TENS[19 - after]
        return number * WHOLE_TENS[after] + part, stray | more | np.uint64(too_many)
    part, more = sixteen_digits(first, second, 16)
    rest, most = eight_digits(third, after - 16)
    too_many = number != U0 or part >= WHOLE_TENS[35 - after]
    return part * WHOLE_TENS[after - 16] + rest, stray | more | most | np.uint64(too_many)


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
    """Return what a text is (PLAIN, HARD, MALFORMED) and its number."""
    signed = begin < stop and (data[begin] == MINUS or data[begin] == PLUS)
    first = begin + 1 if signed else begin
    p, digits, power, lost = _read_digits(data, first, stop, U0, 0, False, False)
    count = p - first
    if p < stop and data[p] == POINT:
        after = p + 1
        p, digits, power, lost = _read_digits(data, after, stop, digits, power, True, lost)
        count += p - after
    p, shift = _read_exponent(data, p, stop)
    if count == 0 or p != stop:
        return MALFORMED, 0.0
    value = nearest(digits, power + shift)
    fate = HARD if lost and nearest(digits + U1, power + shift) != value else PLAIN
    return fate, -value if data[begin] == MINUS else value


@jit
def _read_digits(data, p, stop, digits, power, after_point, lost):
    """Pass over digits; those that do not fit only shift the power, and set ``lost`` if not 0."""
    while p < stop and NOUGHT <= data[p] <= NINE:
        if digits < ROOM:
            digits = digits * U10 + (np.uint64(data[p]) - U48)
            power -= after_point
        else:
            lost |= data[p] != NOUGHT
            power += not after_point
        p += 1
    return p, digits, power, lost


@jit
def read_short_exponent(data, stop):
    """Return the exponent in a sign and two digits, and whether they are that."""
    tens, ones = np.int64(data[stop - 2]) - NOUGHT, np.int64(data[stop - 1]) - NOUGHT
    negative, positive = data[stop - 3] == MINUS, data[stop - 3] == PLUS
    exponent = 10 * tens + ones
    valid = 0 <= tens <= 9 and 0 <= ones <= 9 and (negative or positive)
    return -exponent if negative else exponent, valid


@jit
def _read_exponent(data, p, stop):
    """Return where an exponent ends and its value; where there is none, the place as it was."""
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
