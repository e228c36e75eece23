"""The state of several paths that purge features: arrays that grow, and can be put back."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from thresher.files import access
from thresher.online import stages
from thresher.online.arrays import Arrays, Log, Restore
from thresher.online.bursts import PURGED, Paths
from thresher.online.stages import Features, History, Rules, Run, Schedule

HISTORY = {
    "rows_seen": np.int64,
    "burst_size": np.int64,
    "gravity": np.float64,
    "rejection_rate": np.float64,
    "stable": np.int64,
    "nonzero": np.int64,
}
KNOWN = ("evidence", "selected_in_all", "holders", "probability", "purged_at")
STAGES_AHEAD = 64  # that the history has room for


class PathState:
    """What paths know of every slot, the burst and the stage they are in, and those before it."""

    def __init__(self, n_paths: int) -> None:
        self.arrays = Arrays(
            {
                "weights": np.zeros((n_paths, 0)),
                "touches": np.zeros((n_paths, 0), np.int32),
                "selected": np.zeros((n_paths, 0), np.int32),
                "evidence": np.zeros(0, np.int64),
                "selected_in_all": np.zeros(0, np.int64),
                "holders": np.zeros(0, np.int32),
                "probability": np.zeros(0),
                "purged_at": np.zeros(0, np.int32),
            },
            {
                "bias": np.zeros(n_paths),
                "ends": np.zeros(n_paths, np.int64),
                "counts": np.zeros(stages.N_COUNTS, np.int64),
                "rates": np.zeros(2),
            },
            first={"probability": 1.0},
        )
        self.burst = Log(n_paths, touched=np.uint32, before=np.float64)
        self.pool = Log(n_paths, owners=np.uint32, ratios=np.float64)
        self.past = Log(1, **HISTORY)
        self.listed = Log(1, slots=np.uint32)

    @classmethod
    def before_the_first_row(cls, rules: Rules, n_paths: int, n_columns: int) -> Self:
        """Return the state of paths that know nothing; gravity is 0 unless it is given."""
        state = cls(n_paths)
        state.counts[[stages.STAGE, stages.SIZE, stages.COLUMNS]] = 1, rules.burst_size, n_columns
        state.counts[stages.LENGTH] = rules.bursts * rules.burst_size
        state.arrays["rates"][:] = max(rules.gravity, 0.0), rules.rejection_rate
        state.burst.grow(1)
        return state

    @property
    def n_slots(self) -> int:
        """Return how many columns have occurred."""
        return self.arrays.n_slots

    @property
    def counts(self) -> np.ndarray:
        """Return the whole numbers of the run."""
        return self.arrays["counts"]

    @property
    def stable(self) -> np.ndarray:
        """Return the mask, by slot, of what was never purged."""
        return self.arrays.used("purged_at") == 0

    @property
    def n_stable(self) -> int:
        """Return how many columns were never purged, with those that have not occurred yet."""
        return int(stages.n_stable(self.counts))

    def run(self) -> Run:
        """Return all of it as kernels know it, with room in the history."""
        a = self.arrays
        self.past.grow(int(self.past.lengths[0]) + STAGES_AHEAD)
        burst, pool = self.burst, self.pool
        paths = Paths(
            a["weights"],
            a["touches"],
            a["selected"],
            a["bias"],
            a["ends"],
            burst["touched"],
            burst["before"],
            burst.lengths,
            pool["owners"],
            pool["ratios"],
            pool.lengths,
        )
        features = Features(
            self.listed["slots"][0], self.listed.lengths, *(a[name] for name in KNOWN)
        )
        history = History(self.past.lengths, *(self.past[name][0] for name in HISTORY))
        return Run(a["counts"], a["rates"], paths, features, history)

    def make_room(self, starts: np.ndarray, schedule: Schedule, begin: int) -> None:
        """Make room for the ratios of the updates from ``begin`` on, up to the end of the stage."""
        left = int(self.counts[stages.LENGTH] - self.counts[stages.DONE])
        stop = min(begin + left, schedule.biases.size)
        self.pool.grow(int(stages.pool_needed(starts, schedule.orders, begin, stop, self.run())))

    def history(self) -> Iterator[dict[str, Any]]:
        """Give a record for every stage that was closed."""
        columns = [self.past.used(name)[0].tolist() for name in HISTORY]
        for stage, record in enumerate(zip(*columns, strict=True), 1):
            yield {"stage": stage, **dict(zip(HISTORY, record, strict=True))}

    def grow(self, n_slots: int, n_columns: int) -> None:
        """Take in columns that have appeared: stable, unless those that were to come are purged."""
        fresh = slice(self.n_slots, n_slots)
        self.arrays.grow(n_slots)
        self.burst.grow(n_slots + 1)  # kernels write before they count
        if self.counts[stages.CLOSED]:
            self.arrays["touches"][:, fresh] = PURGED
            self.arrays["purged_at"][fresh] = self.counts[stages.CLOSED]
            self.arrays["probability"][fresh] = 0.0
        elif fresh.start < n_slots:
            self._list(np.arange(fresh.start, n_slots))
            self.counts[stages.IN_PLAY] += n_slots - fresh.start
        self.counts[[stages.SLOTS, stages.COLUMNS]] = self.n_slots, max(n_columns, self.n_slots)

    def _list(self, slots: np.ndarray) -> None:
        """Add slots to those that may not have been purged."""
        n = int(self.listed.lengths[0])
        self.listed.grow(n + slots.size)
        self.listed["slots"][0, n : n + slots.size] = slots
        self.listed.lengths[0] += slots.size

    def finite(self, slots: np.ndarray) -> bool:
        """Return whether all numbers of the given slots, and of none in particular, are finite."""
        return self.arrays.finite(slots)

    def savepoint(self, slots: np.ndarray, n_updates: int) -> Restore:
        """Return what undoes so many updates by rows that have the given slots, and new ones.

        The end of a burst changes what the burst has touched; the end of a stage, whatever is left.
        """
        closes = n_updates >= self.counts[stages.LENGTH] - self.counts[stages.DONE]
        some = self.listed.used("slots") if closes else [slots, *self.burst.used("touched")]
        changed = np.concatenate(some)
        restores = [
            self.arrays.savepoint(changed),
            self.burst.savepoint(only_appended=False),
            self.pool.savepoint(only_appended=not closes),
            self.past.savepoint(only_appended=True),
            self.listed.savepoint(only_appended=not closes),
        ]

        def restore() -> None:
            for put_back in restores:
                put_back()

        return restore

    def tree(self) -> dict[str, Any]:
        """Return everything as a tree of plain values; see ``Arrays.tree``."""
        logs = {"burst": self.burst, "pool": self.pool, "past": self.past}
        return {"arrays": self.arrays.tree(), **{name: log.tree() for name, log in logs.items()}}

    def from_tree(self, tree: dict[str, Any]) -> Self:
        """Return the paths that gave a tree; there must be as many as here."""
        read = type(self)(self.burst.lengths.size)
        read.arrays = read.arrays.from_tree(access.part(tree, "arrays", access.Tree))
        for name, log in (("burst", read.burst), ("pool", read.pool), ("past", read.past)):
            log.fill(access.part(tree, name, access.Tree))
        read.burst.grow(read.n_slots + 1)
        read.refuse_impossible()
        read._list(np.flatnonzero(read.stable))
        return read

    def refuse_impossible(self) -> None:
        """Refuse numbers in which kernels would trust, and write beyond the ends of arrays."""
        counts, touches, n_slots = self.counts, self.arrays.used("touches"), self.n_slots
        number, size, length, done = counts[: stages.DONE + 1].tolist()
        if number != self.past.lengths[0] + 1 or min(size, length) < 1 or done > length:
            access.refuse("a stage cannot have these numbers")
        n_stable, n_held = map(np.count_nonzero, (self.stable, self.arrays.used("holders")))
        known = counts[[stages.SLOTS, stages.IN_PLAY, stages.NONZERO]].tolist()
        if known != [n_slots, n_stable, n_held] or counts[stages.COLUMNS] < n_slots:
            access.refuse("features are more or fewer than it says")
        if not np.array_equal(touches == PURGED, np.broadcast_to(~self.stable, touches.shape)):
            access.refuse("paths have purged other features than it says")
        for mine, slots in zip(touches, self.burst.used("touched"), strict=True):
            if not np.array_equal(np.sort(slots), np.flatnonzero(mine > 0)):
                access.refuse("a burst has touched other features than it says")
        if not all((slots < n_slots).all() for slots in self.pool.used("owners")):
            access.refuse("a feature does not exist")
        if touches.min(initial=0) < PURGED or counts.min() < 0:
            access.refuse("it has counted less than nothing")
