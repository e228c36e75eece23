"""Numbers by slot of which few are not 0."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Scattered:
    """The numbers that are not 0, and where they stand: a value, replaced and never changed."""

    slots: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    numbers: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, by_slot: np.ndarray) -> "Scattered":
        """Return the numbers of an array, which has many zeros."""
        slots = np.flatnonzero(by_slot)
        return cls(slots.astype(np.uint32), by_slot[slots])

    def spread(self, n_slots: int) -> np.ndarray:
        """Return all numbers of so many slots."""
        by_slot = np.zeros(n_slots, self.numbers.dtype)
        by_slot[self.slots] = self.numbers
        return by_slot
