"""A bundle of paths as the paper's learner keeps it: touches are counted, and so is survival."""

import numpy as np

from thresher.data.growth import Arrays, Log
from thresher.kernels.tallies import count_standing
from thresher.kernels.units import LINEAR, Tally, Unit
from thresher.learners.unit import PathUnit


class CountingUnit(PathUnit):
    """Weights, what the open burst has touched and how often, and what bursts have said."""

    tallies = ("evidence", "selected")
    by_lane = ("bias",)

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.arrays = Arrays(
            {
                "weights": np.zeros((0, lanes)),
                "touches": np.zeros(0, np.int32),
                "evidence": np.zeros(0, np.int64),
                "selected": np.zeros(0, np.int64),
            },
            {"bias": np.zeros(lanes)},
            resting={"weights": 0, "touches": 0, "evidence": 0, "selected": 0},
        )
        self.burst = Log(touched=np.zeros(0, np.uint32), before=np.zeros((0, lanes)))
        self.pool = Log(owners=np.zeros(0, np.uint32), ratios=np.zeros((0, lanes)))

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
            self.pool["owners"],
            self.pool["ratios"],
            self.pool.length,
        )
        return unit, tally

    def touched_marks(self) -> np.ndarray:
        """Return, by slot, how often the open burst has touched it."""
        return self.arrays["touches"]

    def purge(self, gone: np.ndarray) -> None:
        """Let the features of some slots go, weights, touches and all."""
        super().purge(gone)
        if self.burst.length[0]:  # a stage that has become shorter may end amid a burst
            self.arrays["touches"][gone] = 0
            numbers = np.arange(self.arrays.n_slots)
            numbers[gone] = -1
            self.burst.renumber("touched", numbers)

    def forget_burst(self) -> None:
        """Leave an open burst as it is."""
        self.arrays["touches"][self.burst["touched"][: self.burst.length[0]]] = 0
        self.burst.length[0] = 0

    def single(self, lane: int) -> "CountingUnit":
        """Return one path as a unit of its own; tallies stay with the first."""
        single = CountingUnit(1)
        for log, mine, name in (
            (self.burst, single.burst, "before"),
            (self.pool, single.pool, "ratios"),
        ):
            mine.arrays, mine.length = log.copy().arrays, log.length.copy()
            mine.arrays[name] = np.ascontiguousarray(mine.arrays[name][:, [lane]])
        return single

    def rest_empty(self) -> None:
        """Let arrays rest in which there is nothing, as at the end of a stage."""
        for name in ("touches", *self.tallies):
            if not self.arrays.at_hand(name)[: self.arrays.n_slots].any():
                self.arrays.rest(name)

    def count_standing(self, ends: np.ndarray) -> None:
        """Count weights that the last burst left there for so many ends, by lane.

        Kernels count changes only, and between their calls everything is counted.
        """
        weights, n = self.arrays["weights"], self.burst.length[0]
        if n:
            weights = weights.copy()
            weights[self.burst["touched"][:n]] = self.burst["before"][:n]
        if ends.any():
            count_standing(weights, ends, self.arrays["selected"])

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
