"""Sums that do not depend on the order of their terms, nor on how they are cut into parts.

Every term is cut at fixed places into three whole numbers of 32 bits, which add up without
rounding. A sum keeps the three highest places that any of its terms reaches: at least 65 bits,
while a float has 53. What is below 2^-1024 vanishes.
"""

from typing import NamedTuple, Self

import numpy as np

from thresher.jit import jit

BITS = 32  # of a place; a sum has room for 2^31 terms
N_PLACES = PLACE = 3
UNIT = 2.0**BITS
LOWEST, NOT_FINITE = -30, 32  # places of the first number: of tiny ones, and beyond all floats
SCALES = 2.0 ** (-BITS * np.arange(LOWEST, NOT_FINITE, dtype=np.float64))


class ExactSums(NamedTuple):
    """Sums to be added to: three whole numbers from the highest place on, and that place."""

    parts: np.ndarray  # int64, of shape (n_sums, 4): each in one line of a cache

    @classmethod
    def of(cls, numbers: np.ndarray, terms: np.ndarray, n_sums: int) -> Self:
        """Return the sums of terms, each of which belongs to the sum with its number."""
        found = cls.none(n_sums)
        terms = np.ascontiguousarray(terms, np.float64)
        add_terms(np.asarray(numbers, np.int64), terms, terms.view(np.int64), found.parts)
        return found

    @classmethod
    def none(cls, n_sums: int) -> Self:
        """Return sums without terms."""
        parts = np.zeros((n_sums, N_PLACES + 1), np.int64)
        parts[:, PLACE] = LOWEST
        return cls(parts)

    @property
    def n(self) -> int:
        """Return the number of sums."""
        return self.parts.shape[0]

    def add(self, numbers: np.ndarray, other: Self) -> None:
        """Add other sums to those with such numbers."""
        add_sums(np.asarray(numbers, np.int64), other.parts, self.parts)

    def totals(self) -> np.ndarray:
        """Return the sums as floats; one that has overflowed is infinite."""
        digits, places = self.parts[:, :PLACE], self.parts[:, PLACE]
        scale = np.ldexp(1.0, BITS * np.minimum(places, NOT_FINITE - 1))
        units = 2.0 ** (-BITS * np.arange(N_PLACES))
        with np.errstate(over="ignore"):
            found = (digits[:, 0] + digits[:, 1] * units[1]) + digits[:, 2] * units[2]
            return np.where(places == NOT_FINITE, np.inf, found * scale)


@jit
def add_terms(numbers, terms, bits, sums):
    """Add terms, and the same as they are stored, to their sums."""
    for k in range(numbers.size):
        number = np.uint64(numbers[k])
        place = max((((bits[k] >> 52) & 2047) - 1023) >> 5, LOWEST)
        if place == NOT_FINITE:
            sums[number, PLACE] = place
            continue
        if place > sums[number, PLACE]:
            move(sums, number, place)
        first = terms[k] * SCALES[np.uint64(place - LOWEST)]
        high = np.int64(first)
        rest = (first - high) * UNIT
        middle = np.int64(rest)
        low = np.int64((rest - middle) * UNIT)
        shift = sums[number, PLACE] - place
        if shift == 0:  # as it usually is
            sums[number, 0] += high
            sums[number, 1] += middle
            sums[number, 2] += low
        elif shift == 1:
            sums[number, 1] += high
            sums[number, 2] += middle
        elif shift == 2:
            sums[number, 2] += high


@jit
def add_sums(numbers, others, sums):
    """Add sums to others with such numbers."""
    for k in range(numbers.size):
        number, place = np.uint64(numbers[k]), others[k, PLACE]
        if place > sums[number, PLACE]:
            move(sums, number, place)
        shift = sums[number, PLACE] - place
        for p in range(shift, N_PLACES):
            sums[number, p] += others[k, p - shift]


@jit
def move(sums, number, place):
    """Move a sum to a higher place; what falls out at the end is below the last place."""
    shift = place - sums[number, PLACE]
    for p in range(N_PLACES - 1, -1, -1):
        sums[number, p] = sums[number, p - shift] if p >= shift else 0
    sums[number, PLACE] = place
