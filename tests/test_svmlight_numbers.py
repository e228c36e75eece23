"""Numbers in svmlight text are, to the last bit, what Python's float makes of them."""

import random
import struct
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from thresher.data.sources.svmlight_blocks import BlockReader, _in_17_digits
from thresher.kernels import svmlight as kernel
from thresher.kernels.svmlight import Rules


def values_of(tokens):
    """Return the values that the reader finds, half of them read in haste and half carefully."""
    text = b"".join(b"0 1:%s\n" % token.encode() for token in tokens)
    rules = Rules(0, 9, True, False)
    return BlockReader().read(memoryview(bytearray(text)), rules)


def assert_read_as_floats(tokens):
    tokens = [token for token in tokens if float(token) != 0]
    found = values_of(tokens)
    assert len(found.faults) == 0
    expected = np.array([float(token) for token in tokens])
    wrong = np.flatnonzero(found.values.view(np.int64) != expected.view(np.int64))
    assert [tokens[k] for k in wrong[:5]] == []


def random_double(rng):
    while True:
        (number,) = struct.unpack("d", rng.randbytes(8))
        if number - number == 0:
            return number


def halfway_tokens(rng):
    """Return the exact decimal half-way between two doubles, and what is a little off it."""
    number = abs(random_double(rng)) or 5e-324
    following = np.nextafter(number, np.inf)
    middle = (Fraction(number) + Fraction(min(float(following), 1.7976931348623157e308))) / 2
    with localcontext() as context:
        context.prec = 1100
        exact = Decimal(middle.numerator) / Decimal(middle.denominator)
        digits = format(exact, "f" if rng.random() < 0.5 else "e")
    head, _, tail = digits.lower().partition("e")
    power = "e" + tail if tail else ""
    above = head + ("000001" if "." in head else ".000001")
    return [head + power, above + power, f"{exact:.19e}", f"{exact:.17e}"]


def random_token(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return repr(random_double(rng))
    if kind == 1:
        return f"{random_double(rng):.{rng.randrange(25)}e}"
    if kind == 2:
        return f"{rng.uniform(-1, 1):.{rng.randrange(1, 22)}f}"
    if kind == 3:
        return f"{rng.randrange(10 ** rng.randrange(1, 30))}e{rng.randrange(-345, 280)}"
    if kind == 4:
        return f"{rng.randrange(10**16)}.{rng.randrange(10 ** rng.randrange(1, 20))}"
    return f"{rng.randrange(10**19)}e{rng.randrange(-345, -290)}"


@pytest.mark.jit
def test_a_hundred_thousand_numbers_are_what_python_reads():
    rng = random.Random(0)
    assert_read_as_floats([random_token(rng) for _ in range(100_000)])


@pytest.mark.jit
def test_numbers_half_way_between_doubles():
    rng = random.Random(1)
    assert_read_as_floats([token for _ in range(2_000) for token in halfway_tokens(rng)])


def test_numbers_at_the_edges():
    tokens = [
        "4.9406564584124654e-324 2.4703282292062328e-324 2.2250738585072011e-308",
        "2.2250738585072014e-308 1.7976931348623157e308 1.7976931348623158e308",
        "9007199254740992 9007199254740993 9007199254740991.5 9007199254740993.0000000000000000001",
        "0.000000000000000000000000000000000000000000000000000000000001e60 1e22 1e23 8.5e22",
        "10000000000000000000 18446744073709551615 99999999999999999999 123456789012345678",
        "0.1000000000000000055511151231257827 1234567812345678.12345678 0000000000000000001.5",
        "12345678.1234567812345678 5e-1 .5 5. 5.e1 +5 -5 +.5e+1 " + "0" * 50 + "7" + "0" * 300,
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017",
        "0." + "0" * 400 + "1e400",
        "1" + "0" * 400 + "e-400",
        "2." + "0" * 30 + "1e0",
    ]
    assert_read_as_floats(" ".join(tokens).split())


def test_numbers_too_small_are_zero_and_too_large_are_faults():
    found = values_of(
        ["1e-400", "2e-324", "0." + "0" * 400 + "1", "1" * 25 + "e-400", "1e-99999999"]
    )
    assert len(found.faults) == len(found.values) == 0
    assert len(found.labels) == 5
    largest_and_a_half = "1797693134862315807937289714053034150799341327100378269361737789804449"
    for token in [
        "1e309",
        "1.7976931348623159e308",
        largest_and_a_half + "9e239",
        "1e99999999999999999",
    ]:
        rules = Rules(0, 9, True, True)
        text = memoryview(bytearray(b"0 1:%s\n" % token.encode()))
        assert BlockReader().read(text, rules).faults[:, 0].tolist() == [kernel.BAD_VALUE]


def test_long_numbers_fit_where_they_stood():
    """Seventeen digits never take more bytes than the twenty or more they stand for."""
    rng = random.Random(2)
    for _ in range(500):
        n_digits, point = rng.randrange(20, 40), rng.randrange(45)
        digits = "".join(rng.choices("0123456789", k=n_digits))
        digits = (str(rng.randrange(1, 10)) + digits[1:]).rjust(point, "0")
        token = digits[: len(digits) - point] + "." + digits[len(digits) - point :]
        token = rng.choice([token, digits]) + rng.choice(["", "e0", "e9", "e-9", "e-99", "e-280"])
        short = _in_17_digits(float(token))
        assert len(short) <= len(token)
        assert float(short) == float(token)
