"""A bundle of paths that read the same rows, as the learners keep it."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from thresher.data.growth import Arrays, Log, Restore
from thresher.files import access

MOST_LANES = 1 << 10  # paths in a bundle that a file may claim to have


class PathUnit(ABC):
    """A bundle of paths that read the same rows: weights, tallies, open burst, pooled ratios.

    Arrays ``weights`` and those named in ``by_lane`` have a column per path, or more: the paths are
    the first ``lanes`` of them.
    """

    tallies: ClassVar[tuple[str, ...]]
    by_lane: ClassVar[tuple[str, ...]]
    lanes: int
    arrays: Arrays
    burst: Log
    pool: Log

    @abstractmethod
    def single(self, lane: int) -> Self:
        """Return one path as a unit of its own; tallies stay with the first."""

    @abstractmethod
    def touched_marks(self) -> np.ndarray:
        """Return, by slot, a number that is positive where the open burst has touched it."""

    @abstractmethod
    def forget_burst(self) -> None:
        """Leave an open burst as it is."""

    def grow(self, n_slots: int, purged: bool) -> None:
        """Make room for features that have appeared, or that are purged as they appear."""
        self.arrays.grow(n_slots)
        self.make_room()

    def finite(self, slots: np.ndarray) -> bool:
        """Return whether all numbers of the given slots, and of none in particular, are finite."""
        return self.arrays.finite(slots)

    def purge(self, gone: np.ndarray) -> None:
        """Let the features of some slots go, weights and all."""
        self.arrays["weights"][gone] = 0.0

    def bring_back(self, slots: np.ndarray) -> None:
        """Let purged features learn again, from nothing."""
        self.arrays["weights"][slots] = 0.0

    def make_room(self) -> None:
        """Let a burst touch every slot, with one place more: kernels write before they count."""
        self.burst.grow(self.arrays.n_slots + 1)

    def begin_tallies(self) -> None:
        """Start all tallies anew."""
        for name in set(self.tallies) - set(self.arrays.resting):
            self.arrays[name][...] = 0
        self.pool.length[0] = 0

    def take(self, other: "PathUnit", slots: np.ndarray) -> None:
        """Take over what another unit has at the given slots; its burst must not be open."""
        self.arrays = other.arrays.take(slots)
        self.pool.length[0] = 0
        self.make_room()

    def keep(self, slots: np.ndarray, places: np.ndarray) -> None:
        """Let the given slots be all there are; ``places`` are their new numbers, others' -1."""
        self.arrays.keep(slots)
        self._renumber(places)

    def spread(self, slots: np.ndarray, n_slots: int) -> None:
        """Let what is here be at the given slots of so many; the others are purged."""
        self.arrays.spread(slots, n_slots)
        self._renumber(slots)
        self.make_room()

    def _renumber(self, numbers: np.ndarray) -> None:
        self.burst.renumber("touched", numbers)
        self.pool.renumber("owners", numbers)

    def split(self) -> "list[Self]":
        """Return the paths one by one; tallies, which are sums over them, stay with the first."""
        if self.lanes == 1:
            return [self]
        singles = [self.single(lane) for lane in range(self.lanes)]
        for lane, single in enumerate(singles):
            single.arrays = self.arrays.take(np.arange(self.arrays.n_slots))
            for name in ("weights", *self.by_lane):
                group = single.arrays.by_slot if name == "weights" else single.arrays.whole
                group[name] = np.ascontiguousarray(group[name][..., [lane]])
            if lane > 0:
                for name in set(self.tallies) - set(single.arrays.resting):
                    single.arrays[name][...] = 0
            single.make_room()
        return singles

    def savepoint(self, slots: np.ndarray | None) -> list[Restore]:
        """Return what brings the unit back; a pool is only added to until a stage ends."""
        burst = self.burst.copy()
        pool = self.pool.copy() if slots is None else self.pool
        length = self.pool.length[0]

        def restore_logs() -> None:
            self.burst, self.pool = burst, pool
            self.make_room()
            self.pool.length[0] = length

        return [self.arrays.savepoint(slots), restore_logs]

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        return {
            "lanes": self.lanes,
            "arrays": self.arrays.tree(),
            "burst": self.burst.tree(),
            "pool": self.pool.tree(),
        }

    def fill(self, tree: dict[str, Any]) -> None:
        """Take over everything from a tree."""
        self.arrays = self.arrays.from_tree(access.branch(tree, "arrays"))
        self.burst = self.burst.from_tree(access.branch(tree, "burst"))
        self.pool = self.pool.from_tree(access.branch(tree, "pool"))
        self._refuse_strange_slots()
        self.make_room()

    def _refuse_strange_slots(self) -> None:
        """Refuse slots that do not exist, and a burst that does not know what it has touched.

        Kernels trust in both: they would write beyond the ends of arrays.
        """
        touched, n_slots = self.burst["touched"], self.arrays.n_slots
        if max(touched.max(initial=0), self.pool["owners"].max(initial=0)) >= max(n_slots, 1):
            access.refuse("a burst has touched a feature that does not exist")
        marks = self.touched_marks()
        if not np.array_equal(np.sort(touched), np.flatnonzero(marks)):
            access.refuse("a burst has touched other features than it knows of")
        if marks.min(initial=0) < 0:
            access.refuse("a feature was touched less than never")


def lanes_in(tree: dict[str, Any]) -> int:
    """Return how many paths a unit's tree has."""
    return access.whole(tree, "lanes", 1, MOST_LANES)
