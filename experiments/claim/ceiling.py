"""How much there is to gain at all: what the test rows' own choice of methods would reach."""

import math
from typing import NamedTuple

from experiments.claim import standing
from experiments.claim.rivals import OURS, RIVALS
from experiments.claim.standing import Duel
from experiments.store import Store

BEYOND_ONE = math.erfc(math.sqrt(0.5)) / 2  # chance of a difference above one standard error


class Ceiling(NamedTuple):
    """Geometric means of errors over a rival's: ours, and those of the best method of each cell."""

    rival: str
    ours: float
    best: float


def ceilings(store: Store) -> list[Ceiling]:
    """Return where every rival stands beside us and beside the best of all, us among them."""
    found = []
    for rival in (name for name in RIVALS if name != OURS):
        duels = standing.duels(store, rival)
        best = standing.geometric_mean(
            best_error(store, duel) / duel.theirs.error for duel in duels
        )
        found.append(Ceiling(rival, standing.ratio(store, rival), best))
    return found


def best_error(store: Store, duel: Duel) -> float:
    """Return the least test error that any method has at a duel's size."""
    dataset, size = duel.cell
    points = (standing.points(store, dataset, name).get(size) for name in RIVALS)
    return min(point.error for point in points if point is not None and point.reached)


def lost_by_chance(store: Store, rivals: tuple[str, ...]) -> float:
    """Return how many duels would be lost if no method were better than another anywhere."""
    return BEYOND_ONE * sum(len(standing.duels(store, rival)) for rival in rivals)
