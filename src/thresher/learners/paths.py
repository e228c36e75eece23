"""Parallel SGD paths, their stable set, and what a stage knows of each feature.

The two stabilized learners are sentences made of these parts.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from thresher.data.growth import Arrays, Restore
from thresher.files import access
from thresher.learners.history import history_from_tree, history_tree
from thresher.learners.unit import PathUnit, lanes_in

UnitMaker = Callable[[int], PathUnit]


@dataclass
class Stage:
    """Where the paths are, and what rules them there."""

    burst_size: int
    number: int = 1
    done: int = 0  # updates of this stage
    bursts: int = 0  # bursts before this stage
    known: int = 0  # the vocabulary's slots that were in use when the stage began
    rows_seen: int = 0
    repeated: int = 0  # of those, rows of a stream that were learnt again
    gravity: float = 0.0
    rejection_rate: float = 0.0
    ends: int = 0  # ends of bursts since features were last judged, where all share the count
    over: bool = False  # whether no feature is left, so that nothing can change any more
    closed: bool = False  # whether columns that have not occurred yet are purged as well

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> "Stage":
        """Return the stage that gave a tree."""
        least = {"burst_size": 1, "number": 1}
        values: dict[str, Any] = {}
        for field in fields(cls):
            if field.type is bool:
                values[field.name] = access.flag(tree, field.name)
            elif field.type is int:
                values[field.name] = access.whole(tree, field.name, least.get(field.name, 0))
            else:
                values[field.name] = access.number(tree, field.name)
        return cls(**values)


class Paths:
    """The state of all paths: units of weights, features, stage and history.

    ``means`` are the names of running means over stages that are kept of weights and intercept.
    """

    def __init__(
        self, make_unit: UnitMaker, lanes: list[int], stage: Stage, means: tuple[str, ...]
    ) -> None:
        self.make_unit = make_unit
        self.means = means
        self.units = [make_unit(n) for n in lanes]
        self.features = Arrays(
            {
                "slot": np.zeros(0, np.int64),  # in the vocabulary
                "purged": np.zeros(0, np.bool_),
                "purged_at": np.zeros(0, np.int32),
                "evidence": np.zeros(0, np.int64),
                "selected": np.zeros(0, np.int64),
                "probability": np.zeros(0),
                **{name: np.zeros(0) for name in means},
            },
            {f"bias_{name}": np.zeros(1) for name in means},
        )
        self.stage = stage
        self.history: list[dict[str, Any]] = []

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
        return ~self.features["purged"][: self.n_slots]

    def feature(self, name: str) -> np.ndarray:
        """Return what is kept of every feature under a name, by slot."""
        return self.features[name][: self.n_slots]

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
        self.features["slot"][fresh] = np.arange(fresh.start, n_slots)
        self.features["purged"][fresh] = self.stage.closed
        self.features["purged_at"][fresh] = self.stage.number if self.stage.closed else 0
        self.features["probability"][fresh] = 0.0 if self.stage.closed else 1.0
        for unit in self.units:
            unit.grow(n_slots, self.stage.closed)

    def purge(self, gone: np.ndarray) -> None:
        """Let features go for good, weights and all."""
        self.feature("purged")[gone] = True
        self.feature("purged_at")[gone] = self.stage.number
        for unit in self.units:
            unit.purge(gone)

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
        slots = self.feature("slot")
        self.stage.known = int(slots[-1]) + 1 if slots.size else 0

    def forget_bursts(self) -> None:
        """Leave all open bursts as they are."""
        for unit in self.units:
            unit.forget_burst()

    def unbundle(self) -> None:
        """Give every path a unit of its own, as when it is to read rows of its own."""
        self.units = [single for unit in self.units for single in unit.split()]

    def finite(self, slots: np.ndarray) -> bool:
        """Return whether the numbers of the given slots are finite on all paths."""
        return all(unit.arrays.finite(slots) for unit in self.units)

    def begin_tallies(self) -> None:
        """Start the tallies of a stage anew."""
        for unit in self.units:
            unit.begin_tallies()

    def take(self, slots: np.ndarray) -> "Paths":
        """Return a copy of the state that has the given slots only; no other may be touched."""
        lanes = [unit.lanes for unit in self.units]
        taken = Paths(self.make_unit, lanes, replace(self.stage), self.means)
        taken.history = self.history
        taken.features = self.features.take(slots)
        places = np.zeros(self.n_slots, np.uint32)
        places[slots] = np.arange(slots.size)
        for unit, mine in zip(taken.units, self.units, strict=True):
            unit.arrays = mine.arrays.take(slots)
            unit.copy_logs(mine, places)
        return taken

    def put(self, slots: np.ndarray, taken: "Paths") -> None:
        """Write back what ``take`` gave, whatever has become of it."""
        self.stage = replace(taken.stage)
        self.features.put(slots, taken.features)
        for mine, unit in zip(self.units, taken.units, strict=True):
            mine.arrays.put(slots, unit.arrays)
            mine.copy_logs(unit, slots)

    def savepoint(self, slots: np.ndarray | None) -> Restore:
        """Return what brings this state back.

        Within a stage only the given slots change, and what is pooled is only added to; None stands
        for a stretch in which a stage ends, when anything may change.
        """
        restores = [self.features.savepoint(slots)]
        for unit in self.units:
            restores += unit.savepoint(slots)
        stage, n_records = replace(self.stage), len(self.history)

        def restore() -> None:
            for put_back in restores:
                put_back()
            self.stage = stage
            del self.history[n_records:]

        return restore

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values; see ``Arrays.tree``."""
        return {
            "units": [unit.tree() for unit in self.units],
            "features": self.features.tree(),
            "stage": self.stage.tree(),
            "history": history_tree(self.history),
        }

    def from_tree(self, tree: dict[str, Any]) -> "Paths":
        """Return the paths that gave a tree."""
        units = access.branches(tree, "units")
        stage = Stage.from_tree(access.branch(tree, "stage"))
        read = Paths(self.make_unit, [lanes_in(unit) for unit in units], stage, self.means)
        for unit, branch in zip(read.units, units, strict=True):
            unit.fill(branch)
        read.features = self.features.from_tree(access.branch(tree, "features"))
        read.history = history_from_tree(access.branch(tree, "history"))
        if not read.units:
            access.refuse("there are no paths")
        _refuse_strange_slots(read)
        return read

    def record(self, weights: np.ndarray, n_stable: int) -> None:
        """Add the stage that ends to the history, with what will rule the next."""
        stage = self.stage
        self.history.append(
            {
                "stage": stage.number,
                "rows_seen": stage.rows_seen,
                "stable": n_stable,
                "nonzero": int(np.count_nonzero(weights)),
                "rejection_rate": stage.rejection_rate,
                "gravity": stage.gravity,
                "burst_size": stage.burst_size,
            }
        )


def _refuse_strange_slots(paths: Paths) -> None:
    """Refuse units of another size than the features, and features at slots of others."""
    if any(unit.arrays.n_slots != paths.n_slots for unit in paths.units):
        access.refuse("paths differ in their number of features")
    if not np.array_equal(paths.feature("slot"), np.arange(paths.n_slots)):
        access.refuse("features are numbered in no known way")


def lanes_for(n_paths: int, shared: bool, most: int) -> list[int]:
    """Return how paths are bundled: alone with their own rows, at most so many on shared ones."""
    if not shared:
        return [1] * n_paths
    n_units = -(-n_paths // most)
    return [len(part) for part in np.array_split(np.arange(n_paths), n_units)]
