"""Where we stand against each rival, read from stored cells only."""

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.claim.judging import unpack_counts
from experiments.claim.matching import HALVINGS
from experiments.claim.rivals import OURS
from experiments.claim.tasks import KINDS
from experiments.overlaps import square
from experiments.registry import named
from experiments.store import Store
from thresher.stability import kappa_from_overlaps

REACH = 0.1  # a size within a tenth of the wanted one counts as reached


class Point(NamedTuple):
    """A method at one size on one set: every permutation's misses and size, and the overlaps."""

    dataset: str
    size: int
    missed: np.ndarray
    rows: np.ndarray  # how often each test row was missed
    overlaps: np.ndarray

    @property
    def error(self) -> float:
        """The mean error in percent; half an error stands for none, so that ratios exist."""
        return 100 * max(float(self.missed.mean()), 0.5) / len(self.rows)

    @property
    def deviation(self) -> float:
        """The standard deviation of the error over permutations, in percent; 0 of a single one."""
        spread = np.std(self.missed, ddof=1) if len(self.missed) > 1 else 0.0
        return 100 * float(spread) / len(self.rows)

    @property
    def features(self) -> float:
        """The mean number of features over permutations."""
        return float(self.overlaps.diagonal().mean())

    @property
    def reached(self) -> bool:
        """Whether the model that was to have this size, of the first permutation, has it."""
        return abs(int(self.overlaps[0, 0]) - self.size) <= max(1.0, REACH * self.size)

    @property
    def kappa(self) -> float:
        """The mean kappa over all pairs of permutations; nan of a single one."""
        if len(self.missed) < 2:
            return float("nan")
        return kappa_from_overlaps(self.overlaps, named(self.dataset).columns)


class Duel(NamedTuple):
    """We and a rival at the same size on the same set."""

    ours: Point
    theirs: Point

    @property
    def cell(self) -> tuple[str, int]:
        """The set and the size."""
        return self.ours.dataset, self.ours.size

    @property
    def ratio(self) -> float:
        """Our error over theirs."""
        return self.ours.error / self.theirs.error

    @property
    def difference(self) -> float:
        """Our error minus theirs, in percent."""
        return self.ours.error - self.theirs.error

    @property
    def standard_errors(self) -> tuple[float, float]:
        """Of the difference, in percent: from the test rows, and from the order of training rows.

        The first is that of the mean over test rows of (how often we miss the row) - (how often
        they do): the two are paired. The second is that of the means over permutations.
        """
        shares = self.ours.rows / len(self.ours.missed) - self.theirs.rows / len(self.theirs.missed)
        of_rows = 100 * float(np.std(shares, ddof=1)) / math.sqrt(len(shares))
        both = [point.deviation / math.sqrt(len(point.missed)) for point in self]
        return of_rows, math.hypot(*both)

    @property
    def lost(self) -> bool:
        """Whether we are worse by more than one standard error, both sources together."""
        return self.difference > math.hypot(*self.standard_errors)


def points(store: Store, dataset: str, name: str, kind: str = "matched") -> dict[int, Point]:
    """Return a method's points on a set by size; none before they are measured."""
    cell = store.read((kind, dataset, name))
    return {} if cell is None else {each["size"]: _point(dataset, each) for each in cell["points"]}


def _point(dataset: str, stored: dict[str, Any]) -> Point:
    missed, rows = np.array(stored["missed"]), unpack_counts(stored["rows"])
    return Point(dataset, stored["size"], missed, rows, square(stored["overlaps"]))


def duels(store: Store, rival: str) -> list[Duel]:
    """Return all comparisons with a rival at sizes that it reaches."""
    found = []
    for dataset in KINDS["matched"].sets:
        ours, theirs = points(store, dataset, OURS), points(store, dataset, rival)
        both = (size for size in ours if size in theirs and theirs[size].reached)
        found += [Duel(ours[size], theirs[size]) for size in both]
    return found


def ratio(store: Store, rival: str) -> float:
    """Return the geometric mean of our error over a rival's."""
    return geometric_mean(duel.ratio for duel in duels(store, rival))


def lost(store: Store, rivals: Sequence[str]) -> list[tuple[str, Duel]]:
    """Return the duels we lose, with the rivals' names."""
    return [(rival, duel) for rival in rivals for duel in duels(store, rival) if duel.lost]


def cells_met(store: Store, rivals: Sequence[str]) -> set[tuple[str, int]]:
    """Return the sets and sizes at which any of the rivals is compared with us."""
    return {duel.cell for rival in rivals for duel in duels(store, rival)}


def unreached(store: Store, rival: str) -> list[Point]:
    """Return a rival's points whose size is not the wanted one."""
    cells = (points(store, dataset, rival).values() for dataset in KINDS["matched"].sets)
    return [point for cell in cells for point in cell if not point.reached]


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean; nan of nothing."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else float("nan")


def mean(values: Iterable[float]) -> float:
    """Return the mean of what is defined; nan of nothing."""
    seen = [value for value in values if not math.isnan(value)]
    return sum(seen) / len(seen) if seen else float("nan")


def all_points(store: Store, name: str) -> list[Point]:
    """Return a method's points on all sets at sizes that it reaches."""
    cells = (points(store, dataset, name).values() for dataset in KINDS["matched"].sets)
    return [point for cell in cells for point in cell if point.reached]


class Agreement(NamedTuple):
    """Mean kappa over halves: of pairs from different halvings, of pairs without a common row."""

    crossing: float
    disjoint: float


def halves(store: Store, dataset: str, name: str) -> dict[int, Agreement]:
    """Return how much a method's selections on halves of a set agree, by size."""
    cell = store.read(("halves", dataset, name))
    columns = named(dataset).columns
    stored = [] if cell is None else cell["points"]
    return {each["size"]: _agreement(square(each["overlaps"]), columns) for each in stored}


def _agreement(overlaps: np.ndarray, columns: int) -> Agreement:
    kappa = functools.partial(_kappa_of_pair, overlaps, columns)
    pairs = [(a, b) for a in range(2 * HALVINGS) for b in range(a)]
    return Agreement(
        mean(kappa(a, b) for a, b in pairs if a // 2 != b // 2),
        mean(kappa(a, b) for a, b in pairs if a // 2 == b // 2),
    )


def _kappa_of_pair(overlaps: np.ndarray, columns: int, a: int, b: int) -> float:
    return kappa_from_overlaps(overlaps[np.ix_([a, b], [a, b])], columns)


def advantage(
    store: Store, rival: str, measure: Callable[[Agreement], float], sets: Iterable[str]
) -> float:
    """Return our mean agreement over halves minus a rival's, over all sets and sizes of both."""
    gains = []
    for dataset in sets:
        ours, theirs = halves(store, dataset, OURS), halves(store, dataset, rival)
        gains += [measure(ours[size]) - measure(theirs[size]) for size in ours if size in theirs]
    return mean(gains)
