"""Sums that do not depend on the order of their terms, nor on how they are cut into parts.

Every term is cut at fixed places into three whole numbers of 32 bits, which add up without
rounding. A sum keeps the three highest places that any of its terms reaches: at least 65 bits,
while a float has 53. What is below 2^-1024 vanishes.
"""

from typing import NamedTuple, Self

import numpy as np

from thresher.jit import jit

BITS = 32  # of a place; a sum has room for 2^31 terms
N_PLACES = 3
LOWEST, NOT_FINITE = -30, 32  # places of the first number: of tiny ones, and beyond all floats
SCALES = 2.0 ** (-BITS * np.arange(LOWEST, NOT_FINITE, dtype=np.float64))


class ExactSums(NamedTuple):
    """Sums to be added to: their whole numbers from the highest place on, and that place."""

    digits: np.ndarray  # int64, of shape (n_sums, 3)
    places: np.ndarray  # int64

    @classmethod
    def of(cls, numbers: np.ndarray, terms: np.ndarray, n_sums: int) -> Self:
        """Return the sums of terms, each of which belongs to the sum with its number."""
        found = cls.none(n_sums)
        terms = np.ascontiguousarray(terms, np.float64)
        add_terms(np.asarray(numbers, np.int64), terms, terms.view(np.int64), *found)
        return found

    @classmethod
    def none(cls, n_sums: int) -> Self:
        """Return sums without terms."""
        return cls(np.zeros((n_sums, N_PLACES), np.int64), np.full(n_sums, LOWEST, np.int64))

    def add(self, numbers: np.ndarray, other: Self) -> None:
        """Add other sums to those with such numbers."""
        add_sums(np.asarray(numbers, np.int64), *other, *self)

    def totals(self) -> np.ndarray:
        """Return the sums as floats; one that has overflowed is infinite."""
        scale = np.ldexp(1.0, BITS * np.minimum(self.places, NOT_FINITE - 1))
        units = 2.0 ** (-BITS * np.arange(N_PLACES))
        with np.errstate(over="ignore"):
            found = (self.digits[:, 0] + self.digits[:, 1] * units[1]) + self.digits[:, 2] * units[
                2
            ]
            return np.where(self.places == NOT_FINITE, np.inf, found * scale)


@jit
def add_terms(numbers, terms, bits, digits, places):
    """Add terms, and the same as they are stored, to their sums."""
    for k in range(numbers.size):
        exponent, number = (bits[k] >> 52) & 2047, numbers[k]
        if exponent == 2047:
            places[number] = NOT_FINITE
            continue
        place = max((exponent - 1023) >> 5, LOWEST)
        if place > places[number]:
            move(digits, places, number, place)
        rest = terms[k] * SCALES[place - LOWEST]
        for p in range(places[number] - place, N_PLACES):
            whole = np.int64(rest)
            digits[number, p] += whole
            rest = (rest - whole) * 4294967296.0


@jit
def add_sums(numbers, digits, places, sums, their_places):
    """Add sums to others with such numbers."""
    for k in range(numbers.size):
        number = numbers[k]
        if places[k] > their_places[number]:
            move(sums, their_places, number, places[k])
        shift = their_places[number] - places[k]
        for p in range(shift, N_PLACES):
            sums[number, p] += digits[k, p - shift]


@jit
def move(digits, places, number, place):
    """Move a sum to a higher place; what falls out at the end is below the last place."""
    shift = place - places[number]
    for p in range(N_PLACES - 1, -1, -1):
        digits[number, p] = digits[number, p - shift] if p >= shift else 0
    places[number] = place
