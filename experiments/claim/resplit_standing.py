"""Where we stand on other splits, read from stored cells only."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.claim.rivals import OURS
from experiments.claim.standing import REACH
from experiments.store import Store


class Match(NamedTuple):
    """We and a rival at the same size on the same splits of a set: how many rows each missed."""

    dataset: str
    ours: np.ndarray
    theirs: np.ndarray

    @property
    def ratio(self) -> float:
        """Our error over theirs, means over splits; half a missed row stands for none."""
        mine, other = (max(float(one.mean()), 0.5) for one in (self.ours, self.theirs))
        return mine / other

    @property
    def won(self) -> bool:
        """Whether our mean error is lower."""
        return float(np.mean(self.ours - self.theirs)) < 0

    @property
    def lost(self) -> bool:
        """Whether it is higher by more than one standard error over splits."""
        differences = self.ours - self.theirs
        error = float(np.std(differences, ddof=1)) / np.sqrt(len(differences))
        return float(differences.mean()) > error


def matches(store: Store, datasets: Sequence[str], rival: str) -> list[Match]:
    """Return all comparisons with a rival at sizes that it reaches, from stored cells."""
    found = []
    for dataset in datasets:
        cells = [store.read(("resplits", dataset, name)) for name in (OURS, rival)]
        ours, theirs = ({p["size"]: p for p in cell["points"]} if cell else {} for cell in cells)
        for size in sorted(ours.keys() & theirs.keys()):
            if abs(np.mean(theirs[size]["features"]) - size) <= max(1.0, REACH * size):
                both = (np.array(one[size]["missed"]) for one in (ours, theirs))
                found.append(Match(dataset, *both))
    return found
