"""A bundle of paths as the flagship keeps it: a cache line of weights, and steps by feature."""

from typing import Any

import numpy as np

from thresher.data.growth import Arrays, Log
from thresher.files import access
from thresher.kernels.adaptive import FRESH, PUSH, RATE, SQUARES, Bundle, Shares, lane_sums
from thresher.kernels.lanes import LINE
from thresher.learners.unit import PathUnit


def line_width(dtype: np.dtype) -> int:
    """Return how many numbers of a type make a cache line."""
    return LINE // dtype.itemsize


class AdaptiveUnit(PathUnit):
    """Weights of up to a line of paths; lanes beyond those take part in nothing and stay 0."""

    tallies = ("total", "bias_total")
    by_lane = ("bias",)

    def __init__(self, lanes: int, dtype: np.dtype) -> None:
        self.lanes = lanes
        self.dtype = dtype
        width = 1 if lanes == 1 else line_width(dtype)
        self.arrays = Arrays(
            {
                "weights": np.zeros((0, width), dtype),
                "facts": np.zeros((0, 4), dtype),
                "members": np.zeros(0, np.bool_),
                "total": np.zeros(0),
            },
            {
                "bias": np.zeros((1, width), dtype),
                "bias_facts": np.zeros((1, 4), dtype),
                "bias_total": np.zeros(1),
            },
        )
        self.arrays["bias_facts"][0, RATE] = 1.0
        self.burst = Log(touched=np.zeros(0, np.uint32))
        self.pool = Log(owners=np.zeros(0, np.uint32), ratios=np.zeros(0))

    @property
    def width(self) -> int:
        """Return the number of lanes, those without a path included."""
        return self.arrays["bias"].shape[1]

    def kernel_view(self) -> Bundle:
        """Return the arrays as the kernels know them."""
        a = self.arrays
        return Bundle(
            a["weights"],
            a["facts"],
            a["members"],
            a["bias"],
            a["bias_facts"],
            a["total"],
            a["bias_total"],
            self.burst["touched"],
            self.burst.length,
            self.pool["owners"],
            self.pool["ratios"],
            self.pool.length,
        )

    def shares(self, takes: np.ndarray, fitting: float) -> Shares:
        """Return who takes part in bursts with which weight; steps of fitting paths are longer."""
        padded = np.zeros((len(takes), self.width), self.dtype)
        padded[:, : self.lanes] = takes
        steps = np.ones((1, self.width), self.dtype)
        selects = steps.copy()
        steps[0, self.fitting.start : self.fitting.stop] = fitting
        selects[0, self.fitting.start : self.fitting.stop] = 0.0
        parts = (padded > 0).astype(self.dtype)
        return Shares(padded, parts, np.count_nonzero(padded, axis=1), steps, selects)

    def grow(self, n_slots: int, purged: bool) -> None:
        """Make room for features that have appeared, or that are purged as they appear."""
        fresh = slice(self.arrays.n_slots, n_slots)
        super().grow(n_slots, purged)
        self.arrays["facts"][fresh, RATE] = 0.0 if purged else 1.0

    def make_room(self) -> None:
        """Let a burst touch every slot, and the pool hold them."""
        super().make_room()
        self.pool.grow(self.arrays["weights"].shape[0])

    def purge(self, gone: np.ndarray) -> None:
        """Let features go: a step of length 0 keeps their weights there."""
        super().purge(gone)
        self.arrays["facts"][: gone.size][gone, RATE] = 0.0

    def step_anew(self) -> None:
        """Let all features that are left have full steps again."""
        for facts in (self.arrays["facts"], self.arrays["bias_facts"]):
            facts[:, RATE] = facts[:, RATE] > 0
            facts[:, SQUARES] = 0.0

    def touched_marks(self) -> np.ndarray:
        """Return, by slot, the squared gradients it has had in the open burst."""
        return self.arrays["facts"][:, FRESH]

    def forget_touches(self, touched: np.ndarray) -> None:
        """Make slots look as if the open burst had not touched them."""
        self.arrays["facts"][touched, FRESH] = 0.0
        self.arrays["facts"][touched, PUSH] = 0.0

    def fill(self, tree: dict[str, Any]) -> None:
        """Take over everything from a tree."""
        super().fill(tree)
        if self.arrays["weights"][:, self.lanes :].any():
            access.refuse("there are weights of paths that do not exist")

    def single(self, lane: int) -> "AdaptiveUnit":
        """Return one path as a unit of its own; tallies stay with the first."""
        single = AdaptiveUnit(1, self.dtype)
        single.burst = self.burst.copy()
        if lane == 0:
            single.pool = self.pool.copy()
        return single

    def pooled_ratios(self, stable: np.ndarray) -> np.ndarray:
        """Return the ratios of stable features in the stage's last burst."""
        n = self.pool.length[0]
        return self.pool["ratios"][:n][stable[self.pool["owners"][:n]]]

    def summed_weights(self, n_slots: int, lanes: range) -> np.ndarray:
        """Return the sum over some paths of every slot's weights, in the order of the paths."""
        sums = np.empty(n_slots)
        lane_sums(self.arrays["weights"], lanes.start, lanes.stop, sums)
        return sums

    @property
    def fitting(self) -> range:
        """Return the lanes of the paths that fit while others select: half of them."""
        return range(self.lanes - self.lanes // 2, self.lanes)

    def set_members(self, chosen: np.ndarray, weights: np.ndarray) -> None:
        """Let the fitting paths learn the chosen slots only; new ones begin with given weights."""
        known = self.arrays["members"][: chosen.size]
        lines = self.arrays["weights"][: chosen.size]
        fitting = slice(self.fitting.start, self.fitting.stop)
        lines[known & ~chosen, fitting] = 0.0
        fresh = chosen & ~known
        lines[fresh, fitting] = weights[fresh, None]
        known[...] = chosen
