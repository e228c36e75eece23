"""Random bits by number: Philox 4x64-10 (Salmon et al. 2011), the words that NumPy's has.

Written again, for NumPy's holds Python's lock while it draws and other threads wait. What it gives
depends on no version of NumPy's.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from thresher.jit import jit

_config: Any = numba.config

FIRST, SECOND = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)  # multipliers
ROUNDS = 10
DRAWS = 8  # of 32 bits that a number gives
STEPS = np.array([0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B], np.uint64)  # of keys, by round


def round_keys(key: int, other: int) -> np.ndarray:
    """Return the two keys of every round."""
    numbers = np.arange(ROUNDS, dtype=np.uint64)[:, np.newaxis]
    return np.array([key, other], np.uint64) + numbers * STEPS


def _high(_typing, _one, _other):
    """Return the upper half of a product."""

    def generate(_context, builder, _signature, arguments):
        wide = ir.IntType(128)
        one, other = (builder.zext(argument, wide) for argument in arguments)
        product = builder.lshr(builder.mul(one, other), ir.Constant(wide, 64))
        return builder.trunc(product, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


def _low(_typing, _one, _other):
    """Return the lower half of a product."""

    def generate(_context, builder, _signature, arguments):
        return builder.mul(*arguments)

    return types.uint64(types.uint64, types.uint64), generate


def _plain_high(one, other):
    return np.uint64(int(one) * int(other) >> 64)


def _plain_low(one, other):
    return np.uint64(int(one) * int(other) & 0xFFFFFFFFFFFFFFFF)


high: Any = _plain_high if _config.DISABLE_JIT else intrinsic(_high)
low: Any = _plain_low if _config.DISABLE_JIT else intrinsic(_low)


@jit
def draw(keys, first, draws):
    """Fill an array with the 32-bit draws of the numbers from ``first`` on."""
    half = np.uint64(32)
    for block in range(draws.size // DRAWS):
        a, b, c, d = np.uint64(first + block), np.uint64(0), np.uint64(0), np.uint64(0)
        for n in range(ROUNDS):
            of_a, of_c = low(a, FIRST), low(c, SECOND)
            a, c = high(c, SECOND) ^ b ^ keys[n, 0], high(a, FIRST) ^ d ^ keys[n, 1]
            b, d = of_c, of_a
        at = DRAWS * block
        for word in (a, b, c, d):
            draws[at] = word & np.uint64(0xFFFFFFFF)
            draws[at + 1] = word >> half
            at += 2
