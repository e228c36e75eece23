"""The units in which targets of a regression are learnt.

Steps and shrinkage are made for numbers of size one, and nothing may depend on whether targets are
in metres or in miles. So the learner sees (y - centre) / unit, and weights are shown times unit.

``fit`` takes centre and spread of all targets. A stream cannot wait, and its weights are in units
that must not wander for ever: its first rows settle them. They are measured anew when the rows
seen have doubled in number, up to the first 1,024, so that they depend on the rows and never on how
these were cut into calls; from then on a wild target changes the units no more.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from thresher.files import access

SETTLING = 1024  # rows of a stream
MAD_OF_NORMAL, MEAN_DEVIATION_OF_NORMAL = 0.6745, 0.7979  # of a normal distribution's spread


@dataclass(frozen=True)
class Measure:
    """How centre and unit follow from targets; both change with the targets' own units.

    ``robust`` measures are those half of the targets cannot move; without ``centred`` everything is
    relative to 0, as a model without intercept is. The unit is ``times`` the spread.
    """

    robust: bool = False
    centred: bool = True
    times: float = 1.0

    def __call__(self, targets: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
        """Return centre and unit; a unit of 0 is that of targets which are all the same."""
        if self.centred and (targets == targets[0]).all():
            return float(targets[0]), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            centre = self._middle(targets, weights) if self.centred else 0.0
            unit = self.times * self._spread(np.abs(targets - centre), weights)
        if not np.isfinite([centre, unit]).all():
            raise ValueError(
                f"Targets up to {np.abs(targets).max():.3g} are too large to be added up: learn "
                "them in another unit."
            )
        return centre, unit

    def _middle(self, targets: np.ndarray, weights: np.ndarray) -> float:
        if self.robust:
            return weighted_median(targets, weights)
        return float(np.average(targets, weights=weights))

    def _spread(self, distances: np.ndarray, weights: np.ndarray) -> float:
        """Return the standard deviation, or what it would be if the targets were normal."""
        if self.robust:
            median = weighted_median(distances, weights) / MAD_OF_NORMAL
            # where more than half are the same, as many counts are, the mean has to do
            mean = float(np.average(distances, weights=weights)) / MEAN_DEVIATION_OF_NORMAL
            return median or mean
        largest = float(distances.max())
        if largest == 0:
            return 0.0
        return largest * float(np.sqrt(np.average((distances / largest) ** 2, weights=weights)))


@dataclass(frozen=True)
class Units:
    """Where targets have their 0 and their 1, and the stream's first rows as long as they matter.

    A unit of 0 is not known yet: all targets so far were the same, and nothing has been learnt.
    """

    centre: float = 0.0
    unit: float = 0.0
    settled: bool = False
    first: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def scale(self) -> tuple[float, float]:
        """Return what is taken away from targets, and what the rest is divided by."""
        return self.centre, self.unit or 1.0

    def scaled(self, targets: Any) -> Any:
        """Return targets as the learner sees them."""
        centre, unit = self.scale
        return (targets - centre) / unit

    def settle(self, targets: np.ndarray, weights: np.ndarray, measure: Measure) -> "Units":
        """Return units that stay: those of weights that have been learnt, or else of the rows."""
        counting = weights > 0
        centre, unit = self.centre, self.unit
        if not unit:
            centre, unit = measure(targets[counting], weights[counting])
        return Units(centre, unit, settled=unit > 0)

    def follow(
        self, targets: np.ndarray, weights: np.ndarray, measure: Measure
    ) -> tuple["Units", np.ndarray]:
        """Return the units after a stream's next rows, and centre and unit after each of them."""
        units, scales, first = self, np.empty((targets.size, 2)), 0
        for row in np.flatnonzero(weights).tolist():
            if units.settled:
                break
            after = units._after(float(targets[row]), float(weights[row]), measure)
            if after.scale != units.scale:
                scales[first:row], first = units.scale, row
            units = after
        scales[first:] = units.scale
        return units, scales

    def _after(self, target: float, weight: float, measure: Measure) -> "Units":
        """Return the units after one more row."""
        differs = target != self.centre
        if self.first.size >= SETTLING and not differs:
            return self
        first, weights = np.append(self.first, target), np.append(self.weights, weight)
        units = replace(self, first=first, weights=weights)
        if _is_power_of_two(first.size) or (differs and not self.unit):
            centre, unit = measure(first, weights)
            units = replace(units, centre=centre, unit=unit)
        if first.size >= SETTLING and units.unit:
            return Units(units.centre, units.unit, settled=True)
        return units

    def tree(self, training_state: bool) -> dict[str, Any]:
        """Return everything as a tree of plain values; first rows only if learning is to go on."""
        known = {"centre": self.centre, "unit": self.unit, "settled": self.settled}
        none = np.zeros(0)
        first, weights = (self.first, self.weights) if training_state else (none, none)
        return {**known, "first": first, "weights": weights}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Units":
        """Return the units that gave a tree."""
        first = access.array(tree, "first", np.float64, (None,))
        weights = access.array(tree, "weights", np.float64, first.shape)
        centre, unit = access.number(tree, "centre"), access.number(tree, "unit")
        settled = access.flag(tree, "settled")
        sane = np.isfinite(first).all() and np.isfinite(weights).all() and (weights > 0).all()
        if not sane or unit < 0 or (settled and unit == 0):
            access.refuse("the units of the targets make no sense")
        return cls(centre, unit, settled, first, weights)


def weighted_median(numbers: np.ndarray, weights: np.ndarray) -> float:
    """Return the number with half of the weight below it, or the middle between two such."""
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(weights[order])
    half = below[-1] / 2
    low = order[np.searchsorted(below, half, side="left")]
    high = order[min(np.searchsorted(below, half, side="right"), order.size - 1)]
    return float(numbers[low] + (numbers[high] - numbers[low]) / 2)


def _is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0
