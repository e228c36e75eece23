"""Parallel SGD paths, their stable set, and what a stage knows of each feature.

The two stabilized learners are sentences made of these parts.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from thresher.data.growth import Arrays, Restore
from thresher.data.scattered import Scattered
from thresher.files import access
from thresher.kernels.masks import places_of
from thresher.learners.features import features_from_tree, features_tree, new_features
from thresher.learners.history import StageHistory
from thresher.learners.stage import Stage
from thresher.learners.unit import PathUnit, lanes_in

UnitMaker = Callable[[int], PathUnit]
Step = Callable[[], None]


class Paths:
    """The state of all paths: units of weights, features, stage and history.

    ``means`` are the names of running means over stages that are kept of weights and intercept;
    those that only ``few`` features have stand in ``scattered``, by the vocabulary's slots. Purged
    features may leave the play: then ``members`` are the vocabulary's slots that are left, and
    ``left`` what was known of all others when they left. ``notes`` are a learner's own, by slot, of
    what stays as it is until features appear.
    """

    def __init__(
        self,
        make_unit: UnitMaker,
        lanes: list[int],
        stage: Stage,
        means: tuple[str, ...] = (),
        few: tuple[str, ...] = (),
    ) -> None:
        self.make_unit = make_unit
        self.means, self.few = means, few
        self.scattered = {name: Scattered() for name in few}
        many = [name for name in means if name not in few]
        self.units = [make_unit(n) for n in lanes]
        self.features = new_features(means, many)
        self.members: np.ndarray | None = None
        self.left: Arrays | None = None
        self.notes: dict[str, np.ndarray] = {}
        self.stage = stage
        self.history = StageHistory()

    @property
    def n_paths(self) -> int:
        """Return M."""
        return sum(unit.lanes for unit in self.units)

    @property
    def n_slots(self) -> int:
        """Return the number of features that have appeared."""
        return self.features.n_slots

    @property
    def stable(self) -> np.ndarray:
        """Return the mask, by slot, of the features never purged."""
        if "purged_at" in self.features.resting:
            return np.ones(self.n_slots, np.bool_)
        return self.feature("purged_at") == 0

    def slots(self, places: np.ndarray) -> np.ndarray:
        """Return the vocabulary's slots of the features at some places."""
        return places if self.members is None else self.members[places]

    @property
    def first_fresh(self) -> int:
        """Return the place of the first feature that appeared during the stage."""
        if self.members is None:
            return min(self.stage.known, self.n_slots)
        return int(np.searchsorted(self.members, self.stage.known))

    def feature(self, name: str) -> np.ndarray:
        """Return what is kept of every feature under a name, by slot."""
        return self.features[name][: self.n_slots]

    def shown(self, name: str) -> np.ndarray:
        """Return the same to look at only: what nobody has written yet stays as small as it is."""
        return self.features.shown(name)

    def of(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers by the vocabulary's slots as numbers of the features in play."""
        return numbers[: self.n_slots] if self.members is None else numbers[self.members]

    def tallied(self, name: str) -> np.ndarray:
        """Return a tally of the stage, summed over the units in their order."""
        total = self.units[0].arrays[name][: self.n_slots].copy()
        for unit in self.units[1:]:
            total += unit.arrays[name][: self.n_slots]
        return total

    def grow(self, n_slots: int) -> None:
        """Take in features that have appeared: stable, with probability 1, unless it is closed."""
        fresh = slice(self.n_slots, n_slots)
        self.features.grow(n_slots)
        if self.stage.closed:
            self.features["purged_at"][fresh] = self.stage.number
        if self.stage.closed or "probability" not in self.features.resting:
            self.features["probability"][fresh] = 0.0 if self.stage.closed else 1.0
        self.notes = {}
        for unit in self.units:
            unit.grow(n_slots, self.stage.closed)

    def purge(self, gone: np.ndarray) -> None:
        """Let the features of a mask go for good, weights and all."""
        slots = np.flatnonzero(gone)
        self.feature("purged_at")[slots] = self.stage.number
        for unit in self.units:
            unit.purge(slots)

    def exchange(self, gone: np.ndarray, back: np.ndarray) -> None:
        """Let the features of some slots go, and purged ones come back without a weight."""
        self.feature("purged_at")[gone] = self.stage.number
        self.feature("purged_at")[back] = 0
        for unit in self.units:
            unit.purge(gone)
            unit.bring_back(back)

    def open_next_stage(self, bursts: int) -> None:
        """Go on to the next stage, tallies empty; the one that ends had so many bursts."""
        self.stage.number += 1
        self.open_stage_again(bursts)
        self.note_known()

    def open_stage_again(self, bursts: int) -> None:
        """Begin the same stage again, tallies empty; it has had so many more bursts."""
        self.stage.bursts += bursts
        self.stage.done = 0
        self.begin_tallies()

    def note_known(self) -> None:
        """Take down which slots are in use as a stage begins."""
        last = self.slots(np.arange(max(self.n_slots - 1, 0), self.n_slots))
        self.stage.known = max(last.tolist(), default=-1) + 1

    def forget_bursts(self) -> None:
        """Leave all open bursts as they are."""
        for unit in self.units:
            unit.forget_burst()

    def unbundle(self) -> None:
        """Give every path a unit of its own, as when it is to read rows of its own."""
        self.units = [single for unit in self.units for single in unit.split()]

    def finite(self, slots: np.ndarray) -> bool:
        """Return whether the numbers of the given slots are finite on all paths."""
        return all(unit.finite(slots) for unit in self.units)

    def begin_tallies(self) -> None:
        """Start the tallies of a stage anew."""
        for unit in self.units:
            unit.begin_tallies()

    def take(self, slots: np.ndarray) -> "Paths":
        """Return a copy of the state that has the given slots only; no burst may be open."""
        lanes = [unit.lanes for unit in self.units]
        taken = Paths(self.make_unit, lanes, replace(self.stage), self.means, self.few)
        taken.history = self.history
        taken.features = self.features.take(slots)
        taken.scattered = self.scattered.copy()
        taken.members = slots if self.members is None else self.members[slots]
        for unit, mine in zip(taken.units, self.units, strict=True):
            unit.take(mine, slots)
        return taken

    def keep(self, stable: np.ndarray) -> None:
        """Let all but the features of a mask leave the play; they must have been purged."""
        for step in self.leaving(stable):
            step()

    def leaving(self, stable: np.ndarray) -> list[Step]:
        """Return the steps of that, which may be taken in any order or at once."""
        slots, places = np.flatnonzero(stable), places_of(stable)
        steps = [partial(unit.keep, slots, places) for unit in self.units]
        return [*steps, partial(self._leave, slots, np.flatnonzero(~stable))]

    def have_left(self, slots: np.ndarray) -> None:
        """Know that the units have the given slots only, moved up, and all others were purged."""
        if slots.size == self.n_slots:
            return
        gone = np.ones(self.n_slots, np.bool_)
        gone[slots] = False
        for unit in self.units:
            unit.arrays.n_slots = slots.size
        self._leave(slots, np.flatnonzero(gone))

    def _leave(self, slots: np.ndarray, gone: np.ndarray) -> None:
        """Let the features of some slots stay, and note what is known of the others."""
        if self.members is None:
            self.members = np.arange(self.n_slots)
            self.left = self.features.take(self.members)
        elif self.left is not None:
            self.left.put(self.members[gone], self.features.take(gone))
        self.members = self.members[slots]
        self.features.keep(slots)
        self.notes = {name: numbers[slots] for name, numbers in self.notes.items()}

    def spread(self) -> None:
        """Bring everything back to its slot in the vocabulary, with what has left the play."""
        for step in self.returning():
            step()

    def returning(self) -> list[Step]:
        """Return the steps of that, which may be taken in any order or at once."""
        if self.members is None or self.left is None:
            return []
        members, n_slots = self.members, self.left.n_slots
        return [*(partial(unit.spread, members, n_slots) for unit in self.units), self._return]

    def _return(self) -> None:
        """Bring the features back."""
        if self.members is not None and self.left is not None:
            self.left.put(self.members, self.features)
            self.features, self.left, self.members, self.notes = self.left, None, None, {}

    def savepoint(self, slots: np.ndarray | None) -> Restore:
        """Return what brings this state back.

        Within a stage only the given slots change, and what is pooled is only added to; None stands
        for a stretch in which a stage ends, when anything may change.
        """
        restores = [self.features.savepoint(slots)]
        for unit in self.units:
            restores += unit.savepoint(slots)
        stage, n_records = replace(self.stage), len(self.history)
        scattered = self.scattered.copy()

        def restore() -> None:
            for put_back in restores:
                put_back()
            self.stage, self.scattered, self.notes = stage, scattered, {}
            self.history.cut(n_records)

        return restore

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values; see ``Arrays.tree``."""
        return {
            "units": [unit.tree() for unit in self.units],
            "features": features_tree(self.features, self.scattered),
            "stage": self.stage.tree(),
            "history": self.history.tree(),
        }

    def from_tree(self, tree: dict[str, Any]) -> "Paths":
        """Return the paths that gave a tree."""
        units = access.branches(tree, "units")
        stage = Stage.from_tree(access.branch(tree, "stage"))
        lanes = [lanes_in(unit) for unit in units]
        read = Paths(self.make_unit, lanes, stage, self.means, self.few)
        for unit, branch in zip(read.units, units, strict=True):
            unit.fill(branch)
        branch = access.branch(tree, "features")
        read.features, read.scattered = features_from_tree(branch, read.features, self.few)
        read.history = StageHistory.from_tree(access.branch(tree, "history"))
        if not read.units:
            access.refuse("there are no paths")
        if any(unit.arrays.n_slots != read.n_slots for unit in read.units):
            access.refuse("paths differ in their number of features")
        return read

    def record(self, n_nonzero: int, n_stable: int) -> None:
        """Add the stage that ends to the history, with what will rule the next."""
        stage = self.stage
        self.history.append(
            stage=stage.number,
            rows_seen=stage.rows_seen,
            stable=n_stable,
            nonzero=n_nonzero,
            rejection_rate=stage.rejection_rate,
            gravity=stage.gravity,
            burst_size=stage.burst_size,
        )
