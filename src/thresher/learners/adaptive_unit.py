"""A bundle of paths as the flagship keeps it: a cache line of weights, and steps by feature."""

from typing import Any, cast

import numpy as np

from thresher.data.growth import Arrays, Log, Restore
from thresher.files import access
from thresher.kernels.bundle import FRESH, PUSH, RATE, SQUARES, Bundle, Shares
from thresher.kernels.judging import clear_slots, lane_sums, pad_takes
from thresher.kernels.lanes import LINE
from thresher.kernels.parted import choose_members, parted_sums
from thresher.learners.parted_lines import in_halves, join, part
from thresher.learners.unit import PathUnit


def line_width(dtype: np.dtype) -> int:
    """Return how many numbers of a type make a cache line."""
    return LINE // dtype.itemsize


class AdaptiveUnit(PathUnit):
    """Weights of up to a line of paths; lanes beyond those take part in nothing and stay 0.

    What an open burst has touched is seen by its squared gradients, so there is no list of it.
    While some paths fit what others select, lines are parted: see ``Bundle``. Otherwise a line is
    whole, and ``places`` say only, by being positive, which slots are members.
    """

    tallies = ("total", "bias_total")
    by_lane = ("bias",)

    def __init__(self, lanes: int, dtype: np.dtype) -> None:
        self.lanes, self.dtype = lanes, dtype
        width = 1 if lanes == 1 else line_width(dtype)
        self.arrays = Arrays(
            {
                "weights": np.zeros((0, width), dtype),
                "pace": np.zeros((0, 2), dtype),
                "squares": np.zeros(0, dtype),
                "push": np.zeros(0, dtype),
                "places": np.zeros(0, np.int32),
                "total": np.zeros(0),
            },
            {
                "bias": np.zeros((1, width), dtype),
                "bias_facts": np.zeros((1, 4), dtype),
                "bias_total": np.zeros(1),
                "behind": np.zeros(1),
            },
            resting={"squares": 0.0, "push": 0.0, "places": 0, "total": 0.0},
        )
        self.arrays["bias_facts"][0, RATE] = 1.0
        self.fits = np.zeros((0, width // 2), dtype)  # empty as long as lines are whole
        self.burst = Log(touched=np.zeros(0, np.uint32))
        self.pool = Log(owners=np.zeros(0, np.uint32), ratios=np.zeros(0))

    @property
    def width(self) -> int:
        """Return the number of lanes, those without a path included."""
        return self.arrays["bias"].shape[1]

    def kernel_view(self) -> Bundle:
        """Return the arrays as the kernels know them; those that rest are empty."""
        a, n = self.arrays, self.arrays.n_slots
        return Bundle(
            a["weights"][:n],
            a["pace"][:n],
            a.at_hand("squares"),
            a.at_hand("push"),
            a.at_hand("places"),
            self.fits,
            a["bias"],
            a["bias_facts"],
            a.at_hand("total"),
            a["bias_total"],
            a["behind"],
            self.pool["owners"],
            self.pool["ratios"],
            self.pool.length,
        )

    def make_ready(self, ends: bool, asks: bool, averages: bool, parted: bool) -> None:
        """Give room to what the next updates write beside weights and paces."""
        if parted:
            self.part()
        else:
            self.join()
        woken = {"squares": ends, "push": asks, "total": ends and averages}
        for name in [name for name, wanted in woken.items() if wanted]:
            self.arrays[name]
        if asks:
            self.pool.grow(self.arrays.n_slots)

    def shares(self, takes: np.ndarray, strides: Any = (1.0, 0.0)) -> Shares:
        """Return who takes part in bursts with which weight.

        ``strides`` are the lengths of the paths' steps, and what each counts in their comparison.
        """
        padded, parts = np.zeros((2, len(takes), self.width), self.dtype)
        active = pad_takes(takes, padded, parts)
        steps = np.zeros((3, self.width), self.dtype)
        steps[1] = 1.0
        steps[0, : self.lanes], steps[2, : self.lanes] = strides
        steps[1, self.fitting.start : self.fitting.stop] = 0.0
        return Shares(padded, parts, active, steps, self.fitting.start)

    def grow(self, n_slots: int, purged: bool) -> None:
        """Make room for features that have appeared, or that are purged as they appear."""
        fresh = slice(self.arrays.n_slots, n_slots)
        super().grow(n_slots, purged)
        self.arrays["pace"][fresh, RATE] = 0.0 if purged else 1.0

    def make_room(self) -> None:
        """Do nothing: there is no list of what a burst touches; ``make_ready`` does the rest."""

    def purge(self, gone: np.ndarray) -> None:
        """Let features go: a step of length 0 keeps their weights there."""
        clear_slots(self.arrays["weights"], self.arrays["pace"], gone)
        if self.parted:
            self.fits[self._numbers(gone)] = 0.0

    def bring_back(self, slots: np.ndarray) -> None:
        """Let purged features have full steps again, from nothing, on all paths."""
        self.join()
        super().bring_back(slots)
        self.arrays["pace"][slots, RATE] = 1.0

    def set_weights(self, slots: np.ndarray, weights: np.ndarray, bias: float) -> None:
        """Let all paths have the given weights of some slots, and of the constant input."""
        with np.errstate(over="ignore"):  # who looks at the weights finds those not finite
            self.arrays["weights"][slots, : self.lanes] = weights[:, None]
            self.arrays["bias"][0, : self.lanes] = bias

    def begin_tallies(self) -> None:
        """Let the sums of weights rest until there are others."""
        self.arrays.rest("total")
        self.arrays["bias_total"][...] = 0.0
        self.pool.length[0] = 0

    def step_anew(self) -> None:
        """Let all features that are left have full steps again."""
        for pace in (self.arrays["pace"], self.arrays["bias_facts"]):
            pace[:, RATE] = pace[:, RATE] > 0
        self.arrays.rest("squares")
        self.arrays["bias_facts"][:, SQUARES] = 0.0

    def touched_marks(self) -> np.ndarray:
        """Return, by slot, the squared gradients it has had in the open burst."""
        return self.arrays["pace"][: self.arrays.n_slots, FRESH]

    def forget_burst(self) -> None:
        """Leave an open burst as it is."""
        self.touched_marks()[...] = 0.0
        self.arrays.rest("push")

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values: the facts in one, and what is touched."""
        tree = super().tree()
        by_slot = tree["arrays"]["by_slot"]
        by_slot["weights"], by_slot["members"] = self._lines(), by_slot.pop("places") > 0
        facts = np.empty((self.arrays.n_slots, 4), self.dtype)
        facts[:, :PUSH] = by_slot.pop("pace")
        facts[:, PUSH], facts[:, SQUARES] = by_slot.pop("push"), by_slot.pop("squares")
        by_slot["facts"] = facts
        tree["burst"] = {"touched": np.flatnonzero(facts[:, FRESH]).astype(np.uint32)}
        return tree

    def fill(self, tree: dict[str, Any]) -> None:
        """Take over everything from a tree."""
        arrays = access.branch(tree, "arrays")
        by_slot = dict(access.branch(arrays, "by_slot"))
        n_slots = access.whole(arrays, "n_slots")
        facts = access.array(by_slot, "facts", self.dtype, (n_slots, 4))
        members = access.array(by_slot, "members", np.bool_, (n_slots,))
        del by_slot["facts"], by_slot["members"]
        by_slot["places"] = members.astype(np.int32)
        apart = {"pace": facts[:, :PUSH], "push": facts[:, PUSH], "squares": facts[:, SQUARES]}
        by_slot |= {name: np.ascontiguousarray(one) for name, one in apart.items()}
        super().fill({**tree, "arrays": {**arrays, "by_slot": by_slot}})
        self.burst = Log(touched=np.zeros(0, np.uint32))
        if self.arrays["weights"][:, self.lanes :].any():
            access.refuse("there are weights of paths that do not exist")

    def single(self, lane: int) -> "AdaptiveUnit":
        """Return one path as a unit of its own; tallies stay with the first."""
        single = AdaptiveUnit(1, self.dtype)
        if lane == 0:
            single.pool = self.pool.copy()
        return single

    def pooled_ratios(self, stable: np.ndarray) -> np.ndarray:
        """Return the ratios of stable features in the stage's last burst."""
        n = self.pool.length[0]
        return self.pool["ratios"][:n][stable[self.pool["owners"][:n]]]

    def add_weights(self, sums: np.ndarray, lanes: range) -> None:
        """Add to every slot's sum its weights on some paths, in the order of the paths."""
        weights, ends = self.arrays["weights"], (lanes.start, lanes.stop)
        if self.parted:
            places, first = self.arrays["places"], self.fitting.start
            parted_sums(weights, self.fits, places, first, *ends, sums)
        else:
            lane_sums(weights, *ends, sums)

    def sums(self) -> np.ndarray:
        """Return every slot's sum of weights over all paths."""
        sums = np.zeros(self.arrays.n_slots)
        self.add_weights(sums, range(self.lanes))
        return sums

    def lanes_that(self, selecting: bool, fitting: bool, careful: bool) -> range:
        """Return the lanes of all paths, or only of the leading ones that select, or that fit."""
        if not (selecting or fitting):
            return range(self.lanes)
        bold, short = self.hands[1 if fitting else 0]
        return short if careful and len(short) else bold

    @property
    def fitting(self) -> range:
        """Return the lanes of the paths that fit while others select: half of them."""
        return range(self.lanes - self.lanes // 2, self.lanes)

    @property
    def hands(self) -> list[tuple[range, range]]:
        """Return the lanes of long steps and of short ones: of paths that select, that fit."""
        return [in_halves(range(self.fitting.start)), in_halves(self.fitting)]

    def set_members(self, chosen: np.ndarray, weights: np.ndarray) -> None:
        """Let the fitting paths learn the chosen slots only; new ones begin with given weights."""
        self.part()
        places, n_fitting = self.arrays["places"], len(self.fitting)
        self.fits = choose_members(places, self.fits, chosen, weights, n_fitting)

    @property
    def parted(self) -> bool:
        """Return whether the weights of fitting paths are kept apart."""
        return len(self.fits) > 0

    def part(self) -> None:
        """Keep the weights of fitting paths apart from now on."""
        if not self.parted:
            arrays, n = self.arrays, self.arrays.n_slots
            lines, members = arrays["weights"][:n], arrays["places"][:n] > 0
            halves, places, self.fits = part(lines, members, self.fitting)
            arrays.by_slot |= {"weights": halves, "places": places}

    def join(self) -> None:
        """Have the weights of all paths in whole lines from now on."""
        if self.parted:
            lines, places = self._lines(), self.arrays.shown("places")
            self.arrays.by_slot |= {"weights": lines, "places": (places > 0).astype(np.int32)}
            self.fits = self.fits[:0]

    def _lines(self) -> np.ndarray:
        """Return whole lines of weights, whether they are parted or not."""
        weights = self.arrays.shown("weights")
        if not self.parted:
            return weights
        return join(weights, self.arrays.shown("places"), self.fits, self.fitting)

    def _numbers(self, slots: np.ndarray) -> np.ndarray:
        """Return at which numbers the fits of slots are; the first is that of slots without."""
        return np.abs(self.arrays["places"][slots])

    def finite(self, slots: np.ndarray) -> bool:
        """Return whether all numbers of the given slots, and of none in particular, are finite."""
        fits = self.fits[self._numbers(slots)] if self.parted else self.fits
        return super().finite(slots) and bool(np.isfinite(fits).all())

    def savepoint(self, slots: np.ndarray | None) -> list[Restore]:
        """Return what brings the unit back; members change only where a stage ends."""
        parted, restores = self.parted, super().savepoint(slots)
        fits = self.fits.copy() if slots is None or not parted else self.fits[self._numbers(slots)]

        def restore_form() -> None:
            (self.part if parted else self.join)()

        def restore_fits() -> None:
            if slots is None or not parted:
                self.fits = fits
            else:
                self.fits[self._numbers(slots)] = fits

        return [restore_form, *restores, restore_fits]

    def take(self, other: PathUnit, slots: np.ndarray) -> None:
        """Take over what another unit has at the given slots; its burst must not be open."""
        cast(AdaptiveUnit, other).join()
        super().take(other, slots)

    def keep(self, slots: np.ndarray, places: np.ndarray) -> None:
        """Let the given slots be all there are; ``places`` are their new numbers, others' -1."""
        self.join()
        super().keep(slots, places)

    def split(self) -> "list[AdaptiveUnit]":
        """Return the paths one by one; tallies, which are sums over them, stay with the first."""
        self.join()
        return super().split()
