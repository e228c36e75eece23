"""Thresh: the flagship's learner for streams, which purges features in stages.

It learns two linear models at once, whose steps fall with each feature's squared gradients, as in
AdaGrad. The *selecting* model has all features that have not been purged, and short steps: its
weights w hardly depend on the order of the rows. The *final* model has the best features only, and
long steps: it is the one that predicts.

Features are ranked by |w| times their marginal association with the targets y, which is
|S| / sqrt(sum x^2) for S = sum x (y - mean y), and does not depend on the order at all. Every stage
is longer than the one before. At its end, the features with the lowest ranks are purged for good,
and the best ones become those of the final model. Whoever reads the weights gets the best as of
that row.

Several classes share their features: w and S are then vectors, one entry per class, and features
are ranked by the norms.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from thresher.files import access
from thresher.losses import LOG_LOSS, SQUARED_ERROR, Loss
from thresher.online.arrays import Arrays, Restore
from thresher.online.passes import Updates
from thresher.online.protocol import Online, Overflow
from thresher.online.steps import Steps
from thresher.online.thresh_rows import (
    AROUND,
    CANDIDATE,
    FINAL_ROOT,
    FINAL_WEIGHT,
    FIT,
    MEAN,
    MEMBER,
    NORM,
    ORIGIN,
    PER_OUTPUT,
    PURGED,
    TALLY,
    TINY,
    TOTAL,
    WEIGHT,
    Lengths,
    learn_one,
    learn_several,
    squared_ranks,
    standardized,
)
from thresher.rows import Rows
from thresher.threads import Threads

# The constants were chosen inside the training rows of 14 sets of 300 to 24,000 rows, at 20 to 200
# features, by the error and by kappa between the selections from several orders of the rows.

# Steps for the log loss, and for others: those are steeper, and their margins smaller. Twice as
# long steps while selecting lower kappa by .04 and the error by 1 to 2 %.
LOGISTIC = Lengths(selecting=0.8, damping=0.2, final=2.0)
OTHERS = Lengths(selecting=0.2, damping=0.5, final=1.0)
# A feature enters the final model with so many times its weight in the other, whose steps are
# shorter, and which shares what there is to learn among more features. 1 costs 2 % of the error.
ENTRY = 3.0
# Stages: shorter ones do not lower the error, and twice as long ones raise it by 1 %.
FIRST_STAGE, GROWTH = 50, 1.3
# After t rows, the share UNPURGED / t of all columns is left. A third of it costs .06 of kappa; if
# nothing is purged, few features in many rows err by 20 % more, since they change until the end.
UNPURGED = 2000
# Where nothing says how many features: a share of the columns that occur, but at least so many.
SHARE, LEAST = 0.01, 100

ROWS, END, JUDGED = range(3)  # of the stage: slots below JUDGED were there when it began


class ThreshState(Arrays):
    """The two models, what ranks features, and how far the stage is.

    All numbers of a feature lie side by side, as columns of an array in Fortran's order: a row of
    data needs most of them.
    """

    def __init__(self, n_outputs: int) -> None:
        numbers = np.zeros((WEIGHT + PER_OUTPUT * n_outputs, 0))
        super().__init__(
            {"numbers": numbers, "roles": np.zeros(0, np.int8)},
            {
                "biases": np.zeros((3, n_outputs)),
                "counts": np.zeros(7),
                "stage": np.array([0, FIRST_STAGE, 0]),
            },
        )

    def grow(self, n_slots: int, n_columns: int = 0) -> None:
        """Take more slots into use."""
        width, room = self["numbers"].shape
        if n_slots > room:
            larger = np.zeros((max(n_slots, 2 * room), width)).T
            larger[:, : self.n_slots] = self.used("numbers")
            self.by_slot["numbers"] = larger
        super().grow(n_slots, n_columns)

    def of_outputs(self, number: int, slots: np.ndarray) -> np.ndarray:
        """Return a number of some slots, a row per output."""
        return self["numbers"][number::PER_OUTPUT, slots]

    @property
    def room(self) -> int:
        """Return how many rows the stage has left."""
        return int(self["stage"][END] - self["stage"][ROWS])

    @property
    def active(self) -> np.ndarray:
        """Return the slots that have not been purged."""
        return np.flatnonzero(self.used("roles") != PURGED)

    def savepoint(self, slots: np.ndarray, n_updates: int = 0) -> Restore:
        """Return what undoes updates of the given slots; the end of a stage changes others, too."""
        restore = super().savepoint(slots, n_updates)
        if n_updates < self.room:
            return restore
        roles, rows = (
            self.used("roles").copy(),
            [FINAL_ROOT, *range(FINAL_WEIGHT, self["numbers"].shape[0], PER_OUTPUT)],
        )
        final = self.used("numbers")[rows]

        def restore_all() -> None:
            self["roles"][: roles.size] = roles
            self["numbers"][rows, : roles.size] = final
            restore()

        return restore_all

    def from_tree(self, tree: dict[str, Any]) -> "ThreshState":
        """Return the state that gave a tree."""
        arrays, read = super().from_tree(tree), ThreshState(self["biases"].shape[1])
        read.grow(arrays.n_slots)
        for name in self.by_slot:
            read.used(name)[...] = arrays.used(name)
        read.whole = arrays.whole
        rows, end, judged = read["stage"].tolist()
        if not (0 <= rows <= end and 0 <= judged <= read.n_slots):
            access.refuse(f"a stage has {rows} rows of {end}, and {judged} features to purge from")
        roles = read.used("roles")
        if roles.size and not (roles.min() >= PURGED and roles.max() <= MEMBER):
            access.refuse(f"roles of features go from {roles.min()} to {roles.max()}")
        return read


@dataclass(frozen=True)
class Thresh(Online[ThreshState]):
    """Learns the best ``n_features`` and their weights; None is one per cent of the columns."""

    n_features: int | None = None
    n_outputs: int = 1

    @classmethod
    def of(
        cls, loss: Loss, fit_intercept: bool, n_features: int | None = None, n_outputs: int = 1
    ) -> Self:
        """Return the learner for a loss; three classes or more have an output each."""
        return cls(loss.code, Steps(1.0, fit_intercept=fit_intercept), n_features, n_outputs)

    @property
    def of_numbers(self) -> bool:
        """Return whether targets are numbers."""
        return self.loss >= SQUARED_ERROR

    def start(self, n_columns: int) -> ThreshState:
        """Return the state before the first row."""
        return ThreshState(self.n_outputs)

    def room(self, state: ThreshState) -> int:
        """Return how many rows the stage has left."""
        return state.room

    def advance(
        self, state: ThreshState, rows: Rows, updates: list[Updates], threads: Threads
    ) -> None:
        """Learn from the rows in turn, all of them, or raise an Overflow."""
        (mine,) = updates
        counts, counted = state["counts"], mine.targets
        if self.of_numbers:
            targets = standardized(counted, mine, self.steps.fit_intercept, counts)
            mine, counted = mine._replace(targets=targets), counted - counts[ORIGIN]
        learn = learn_one if self.n_outputs == 1 else learn_several
        lengths = LOGISTIC if self.loss == LOG_LOSS else OTHERS
        arrays = state["roles"], state["numbers"].T, state["biases"], counts
        learned = learn(rows, mine, counted, self.loss, lengths, *arrays)
        if learned < mine.order.size:
            raise Overflow(int(mine.order[learned]))
        state["stage"][ROWS] += learned

    def close(self, state: ThreshState) -> None:
        """Purge the features with the lowest ranks, and let the final model have the best."""
        stage, roles, active = state["stage"], state.used("roles"), state.active
        ranks = self._ranks(state, active)
        left = int(state.n_slots * min(1.0, UNPURGED / stage[ROWS]))
        judged = active < stage[JUDGED]
        purged = np.zeros(active.size, np.bool_)
        purged[judged] = ~highest(ranks[judged], max(left, self._wanted(state)))
        roles[active[purged]] = PURGED
        active, ranks = active[~purged], ranks[~purged]
        best = active[highest(ranks, self._wanted(state))]
        state["numbers"][FINAL_WEIGHT::PER_OUTPUT, best] = self._final(state, best)
        state["numbers"][FINAL_ROOT, best[roles[best] != MEMBER]] = 0.0
        roles[active] = CANDIDATE
        roles[best] = MEMBER
        stage[END] = math.ceil(stage[END] * GROWTH)
        stage[JUDGED] = state.n_slots

    def active(self, state: ThreshState) -> np.ndarray:
        """Return the slots that have not been purged."""
        return state.active

    def weights(self, state: ThreshState) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights by output and slot, the best features', and the constant input's."""
        active, counts = state.active, state["counts"]
        best = active[highest(self._ranks(state, active), self._wanted(state))]
        spread, size = 1.0, self.steps.biases(counts[NORM])
        if self.of_numbers and counts[TOTAL] > 0.0:
            spread = math.sqrt(counts[AROUND] / counts[TOTAL])
        weights = np.zeros((self.n_outputs, state.n_slots))
        weights[:, best] = spread * self._final(state, best)
        biases = spread * state["biases"][FIT]
        return weights, biases + counts[MEAN] / size if size > 0.0 else biases

    def _wanted(self, state: ThreshState) -> int:
        """Return how many features are wanted as of now."""
        return self.n_features or max(LEAST, int(SHARE * state.n_slots))

    def _final(self, state: ThreshState, best: np.ndarray) -> np.ndarray:
        """Return the weights of the best in the final model, which they may be about to enter."""
        entering = ENTRY * state.of_outputs(WEIGHT, best)
        return np.where(
            state["roles"][best] == MEMBER, state.of_outputs(FINAL_WEIGHT, best), entering
        )

    def _ranks(self, state: ThreshState, slots: np.ndarray) -> np.ndarray:
        """Return the ranks of features, squared."""
        means = state["biases"][TALLY] / max(state["counts"][TOTAL], TINY)
        return squared_ranks(slots, means, state["numbers"].T)


def highest(ranks: np.ndarray, n: int) -> np.ndarray:
    """Return the mask of the n highest ranks; of equal ones, of those that come first."""
    if n >= ranks.size:
        return np.ones(ranks.size, np.bool_)
    last = np.partition(ranks, ranks.size - n)[ranks.size - n]
    mask = ranks > last
    mask[np.flatnonzero(ranks == last)[: n - np.count_nonzero(mask)]] = True
    return mask
