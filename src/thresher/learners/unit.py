"""A bundle of paths that read the same rows, as the learners keep it."""

from typing import Any

import numpy as np

from thresher.data.growth import Arrays, Log, Restore
from thresher.files import access
from thresher.kernels.units import LINEAR, Tally, Unit

MOST_LANES = 1 << 10  # paths in a bundle that a file may claim to have
TALLIES = ("evidence", "selected", "total", "bias_total")


class PathUnit:
    """A bundle of paths that read the same rows: weights, tallies, open burst, pooled ratios."""

    def __init__(self, lanes: int) -> None:
        counts = {name: np.zeros(0, np.int64) for name in ("evidence", "selected")}
        numbers = {name: np.zeros(0) for name in ("total", "salience")}
        self.arrays = Arrays(
            {
                "weights": np.zeros((0, lanes)),
                "touches": np.zeros(0, np.int32),
                **counts,
                **numbers,
            },
            {"bias": np.zeros(lanes), "bias_total": np.zeros(1), "bar": np.zeros(lanes)},
        )
        self.burst = Log(touched=np.zeros(0, np.uint32), before=np.zeros((0, lanes)))
        self.pool = Log(owners=np.zeros(0, np.uint32), ratios=np.zeros((0, lanes)))

    @property
    def lanes(self) -> int:
        """Return the number of paths in the bundle."""
        return self.arrays["bias"].size

    def grow(self, n_slots: int) -> None:
        """Make room for features that have appeared."""
        self.arrays.grow(n_slots)
        self.make_room()

    def make_room(self) -> None:
        """Let a burst touch every slot, with one place more: kernels write before they count."""
        self.burst.grow(self.arrays["touches"].size + 1)

    def kernel_views(self) -> tuple[Unit, Tally]:
        """Return the arrays as the kernels know them."""
        a = self.arrays
        unit = Unit(
            a["weights"],
            a["bias"],
            a["touches"],
            self.burst["touched"],
            self.burst["before"],
            self.burst.length,
        )
        tally = Tally(
            a["evidence"],
            a["selected"],
            a["total"],
            a["bias_total"],
            a["salience"],
            a["bar"],
            self.pool["owners"],
            self.pool["ratios"],
            self.pool.length,
        )
        return unit, tally

    def begin_tallies(self) -> None:
        """Start all tallies anew."""
        for name in TALLIES:
            self.arrays[name][...] = 0
        self.pool.length[0] = 0

    def copy_logs(self, other: "PathUnit", numbers: np.ndarray) -> None:
        """Take over the open burst and the pooled ratios of another unit, slots renumbered."""
        self.burst = other.burst.renumbered("touched", numbers)
        self.pool = other.pool.renumbered("owners", numbers)
        self.make_room()

    def forget_burst(self) -> None:
        """Leave an open burst as it is."""
        self.arrays["touches"][self.burst["touched"][: self.burst.length[0]]] = 0
        self.burst.length[0] = 0

    def split(self) -> "list[PathUnit]":
        """Return the paths one by one; tallies, which are sums over them, stay with the first."""
        if self.lanes == 1:
            return [self]
        return [self._single(lane) for lane in range(self.lanes)]

    def _single(self, lane: int) -> "PathUnit":
        single = PathUnit(1)
        single.arrays = self.arrays.take(np.arange(self.arrays.n_slots))
        single.arrays.by_slot["weights"] = single.arrays["weights"][:, [lane]]
        for name in ("bias", "bar"):
            single.arrays.whole[name] = single.arrays[name][[lane]]
        if lane > 0:
            for name in TALLIES:
                single.arrays[name][...] = 0
        for log, mine, name in (
            (self.burst, single.burst, "before"),
            (self.pool, single.pool, "ratios"),
        ):
            mine.arrays, mine.length = log.copy().arrays, log.length.copy()
            mine.arrays[name] = np.ascontiguousarray(mine.arrays[name][:, [lane]])
        single.make_room()
        return single

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

    def pooled_ratios(self, stable: np.ndarray) -> np.ndarray:
        """Return the ratios of stable features on the paths that took part."""
        n = self.pool.length[0]
        ratios = self.pool["ratios"][:n][stable[self.pool["owners"][:n]]]
        return ratios[~np.isnan(ratios)]

    def shown_weights(self, takes: np.ndarray, shrinkage: int, gravity: float) -> np.ndarray:
        """Return the weights with a burst that is still open truncated, the state left alone."""
        if self.burst.length[0] == 0:
            return self.arrays["weights"]
        weights = self.arrays["weights"].copy()
        touched = self.burst["touched"][: self.burst.length[0]]
        touches = self.arrays["touches"][touched].astype(np.float64)
        pull = gravity * (touches if shrinkage == LINEAR else np.sqrt(touches))[:, None]
        cells = np.ix_(touched, np.flatnonzero(takes))
        weights[cells] -= np.clip(weights[cells], -pull, pull)
        return weights

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        return {
            "lanes": self.lanes,
            "arrays": self.arrays.tree(),
            "burst": self.burst.tree(),
            "pool": self.pool.tree(),
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "PathUnit":
        """Return the unit that gave a tree."""
        unit = cls(access.whole(tree, "lanes", 1, MOST_LANES))
        unit.arrays = unit.arrays.from_tree(access.branch(tree, "arrays"))
        unit.burst = unit.burst.from_tree(access.branch(tree, "burst"))
        unit.pool = unit.pool.from_tree(access.branch(tree, "pool"))
        unit._refuse_strange_slots()
        unit.make_room()
        return unit

    def _refuse_strange_slots(self) -> None:
        """Refuse slots that do not exist, and a burst that does not know what it has touched.

        Kernels trust in both: they would write beyond the ends of arrays.
        """
        touched, n_slots = self.burst["touched"], self.arrays.n_slots
        if max(touched.max(initial=0), self.pool["owners"].max(initial=0)) >= max(n_slots, 1):
            access.refuse("a burst has touched a feature that does not exist")
        if not np.array_equal(np.sort(touched), np.flatnonzero(self.arrays["touches"])):
            access.refuse("a burst has touched other features than it knows of")
        if self.arrays["touches"].min(initial=0) < 0:
            access.refuse("a feature was touched less than never")
