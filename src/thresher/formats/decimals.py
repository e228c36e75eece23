"""Numbers in text, read by kernels: runs of digits, and decimals.

A decimal becomes the nearest double, as with Python's ``float``, bit by bit. Small numbers are
exact quotients (Clinger 1990). Others are multiplied by a power of ten, both as sums of two doubles
(Dekker 1971); where the error could change the rounding, the number is not *known*, and Python must
read it. So it is with numbers of more than 19 digits, and with very large and very small ones.

A text must end with a byte that is neither digit nor sign, point or exponent: a newline.
"""

from fractions import Fraction

import numpy as np

from thresher.jit import inlined

_u = np.uint64  # together with signed integers Numba would turn these into doubles
U0, U1, U2, U3, U4, U5, U6, U7, U8, U9, U10 = (_u(n) for n in range(11))
U16, U24, U32, U40, U48, U56 = (_u(8 * n) for n in range(2, 8))
PLUS, MINUS, POINT, NOUGHT, SMALL_E, LARGE_E = (int(byte) for byte in b"+-.0eE")

NOUGHTS, ONES = _u(0x3030303030303030), _u(0x0101010101010101)
ABOVE_NINE, HIGH_BITS = _u(0x7676767676767676), _u(0x8080808080808080)
BYTES = _u(0x000000FF000000FF)
PAIRS_1, PAIRS_2 = _u(100 + (1000000 << 32)), _u(1 + (10000 << 32))
WHOLE_TENS = np.array([10**k for k in range(9)], np.uint64)

EXACT = _u(1 << 53)  # all integers up to this are doubles
LARGEST = 22  # power of ten that is a double
MOST_DIGITS = 19  # that fit 64 bits
LOWEST, HIGHEST = -270, 280  # powers of ten between which nothing underflows or overflows
SPLIT = 134217729.0  # 2^27 + 1
DOUBT = 2.0**-98  # relative error of a product; 2^-102 can be shown


def _powers_of_ten():
    """Return powers as doubles, and what these lack."""
    exact = [Fraction(10) ** power for power in range(LOWEST, HIGHEST + 1)]
    near = [float(power) for power in exact]
    rest = [float(power - Fraction(ten)) for power, ten in zip(exact, near, strict=True)]
    return np.array(near), np.array(rest)


TENS, RESTS = _powers_of_ten()


@inlined
def take_digits(text, p, number):
    """Append the digits from ``p`` on to a number; return where they end, and the number."""
    while p + U8 <= np.uint64(text.size):
        word = eight_bytes(text, p) ^ NOUGHTS
        strays = ((word + ABOVE_NINE) | word) & HIGH_BITS  # of bytes that are no digits
        lowest = strays & ~(strays - U1)
        size = U8 if strays == U0 else (((lowest - U1) & ONES) * ONES >> U56) - U1
        half = U32 - size * U4
        word = (word << half) << half  # drops what follows, puts zeros before
        pairs = word * U10 + (word >> U8)
        eight = ((pairs & BYTES) * PAIRS_1 + ((pairs >> U16) & BYTES) * PAIRS_2) >> U32
        number = number * WHOLE_TENS[size] + eight
        p += size
        if size < U8:
            return p, number
    while np.uint64(text[p]) - U48 <= U9:
        number = number * U10 + (np.uint64(text[p]) - U48)
        p += U1
    return p, number


@inlined
def eight_bytes(text, p):
    """Return eight bytes as one number, the first one lowest; compiled, this is a single load."""
    word = np.uint64(text[p])
    word |= np.uint64(text[p + U1]) << U8
    word |= np.uint64(text[p + U2]) << U16
    word |= np.uint64(text[p + U3]) << U24
    word |= np.uint64(text[p + U4]) << U32
    word |= np.uint64(text[p + U5]) << U40
    word |= np.uint64(text[p + U6]) << U48
    word |= np.uint64(text[p + U7]) << U56
    return word


@inlined
def read_decimal(text, p):
    """Return the number that begins at ``p``, where it ends, and whether it is known."""
    negative = text[p] == MINUS
    if negative or text[p] == PLUS:
        p += U1
    first = p
    p, digits = take_digits(text, p, U0)
    count, power = np.int64(p - first), 0
    if text[p] == POINT:
        after = p + U1
        p, digits, more = _take_fraction(text, after, digits)
        count, power = count + more, -np.int64(p - after)
    known = 0 < count <= MOST_DIGITS
    if text[p] == SMALL_E or text[p] == LARGE_E:
        p, exponent, valid = _take_exponent(text, p + U1)
        power, known = power + exponent, known and valid
    value, sure = nearest(digits, power)
    return -value if negative else value, p, known and sure


@inlined
def _take_fraction(text, p, digits):
    """Append digits after the point; return where they end, the number, and how many count."""
    first = p
    if digits == U0:
        while text[p] == NOUGHT:
            p += U1
    noughts = p > first
    first = p
    p, digits = take_digits(text, p, digits)
    return p, digits, np.int64(p - first) + noughts


@inlined
def _take_exponent(text, p):
    """Return where an exponent ends, its value, and whether it is a short number."""
    negative = text[p] == MINUS
    if negative or text[p] == PLUS:
        p += U1
    first = p
    p, digits = take_digits(text, p, U0)
    exponent = np.int64(digits)
    return p, -exponent if negative else exponent, U0 < p - first <= U4


@inlined
def nearest(digits, power):
    """Return the double nearest to ``digits * 10^power``, and whether it is certainly that."""
    number = np.float64(digits)
    if digits <= EXACT and -LARGEST <= power <= LARGEST:
        ten = TENS[abs(power) - LOWEST]
        return (number / ten if power < 0 else number * ten), True
    if not LOWEST <= power <= HIGHEST:
        return 0.0, False
    rest = np.float64(np.int64(digits - np.uint64(number)))
    ten, more = TENS[power - LOWEST], RESTS[power - LOWEST]
    product = number * ten
    (a, b), (c, d) = _halves(number), _halves(ten)
    error = ((a * c - product) + a * d + b * c) + b * d + number * more + rest * ten
    doubt = product * DOUBT
    value = product + (error - doubt)
    return value, value == product + (error + doubt)


@inlined
def _halves(number):
    """Return two doubles of half as many digits that add up to a number."""
    shifted = SPLIT * number
    upper = shifted - (shifted - number)
    return upper, number - upper
