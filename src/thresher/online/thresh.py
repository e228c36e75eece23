"""Thresh: the flagship's learner for streams, which purges features in stages.

It learns two linear models at once, whose steps fall with each feature's squared gradients, as in
AdaGrad. The *selecting* model has all features that have not been purged, and short steps: its
weights w hardly depend on the order of the rows. The *final* model has the best features only, and
long steps: it is the one that predicts.

Features are ranked by |w| times their marginal association with the targets y, which is
|S| / sqrt(sum x^2) for S = sum x (y - mean y), and does not depend on the order at all. A stage
ends when the number of rows has grown by half. Then the features with the lowest ranks are purged
for good, and the best ones become those of the final model. Whoever reads the weights gets the best
as of that row.

Several classes share their features: w and S are then vectors, one entry per class, and features
are ranked by the norms.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from thresher.files import access
from thresher.jit import jit
from thresher.losses import LOG_LOSS, SQUARED_ERROR, Loss, slope_of
from thresher.online.arrays import Arrays, Restore
from thresher.online.ftrl import longest
from thresher.online.parameter import Parameters
from thresher.online.protocol import Overflow
from thresher.online.steps import Steps
from thresher.online.updates import Updates
from thresher.rows import Rows
from thresher.threads import Threads

# The constants were chosen inside the training rows of 14 sets of 300 to 24,000 rows, at 50 to 200
# features, by the error and by kappa between the selections from several orders of the rows.

# Steps while selecting, of the log loss and of others: those are steeper, and their margins
# smaller. Twice as long steps lower the error by 1 %, and kappa by .02.
SELECTING, OTHERS_SELECTING = 1.0, 0.2
# Added to the root of a feature's squared gradients, so that its first rows do not decide.
DAMPING = 0.5
# How much longer steps of the final model are. From 2 to 4 the error is the same within 1 %.
FINAL, OTHERS_FINAL = 3.0, 10.0
# A feature enters the final model with so many times its weight in the other, whose steps are
# shorter, and which shares what there is to learn among more features. 1 costs 2 % of the error.
ENTRY = 4.0
# Stages. 20 and 1.1 lower the error by 1 %, and take five times as long.
FIRST_STAGE, GROWTH = 100, 1.5
# After t rows, the share UNPURGED / t of all columns is left. A third of it costs .06 of kappa;
# features that are never purged cost 5 % of the error where many rows are left for few features.
UNPURGED = 3000
# Where nothing says how many features: a share of the columns that occur, but at least so many.
SHARE, LEAST = 0.01, 100

PURGED, CANDIDATE, MEMBER = -1, 0, 1  # roles of a feature; new ones are candidates
# Numbers of a feature: the root of its squared gradients, sums of x and x^2; then for every output
# its weights in both models, and the sum of x y.
ROOT, SUM, SQUARES, WEIGHT, FINAL_WEIGHT, PULL = range(6)
PER_OUTPUT = 3
SELECT, FIT, TALLY = range(3)  # of the biases: those of the two models, and the sums of targets
# Of the counts: the bias's root, the weight of all rows, the mean of their targets, the sum of
# squares around it, the first target, and the rows' mean squared norm.
BIAS_ROOT, TOTAL, MEAN, AROUND, ORIGIN, NORM = range(6)
ROWS, END, JUDGED = range(3)  # of the stage: slots below JUDGED were there when it began
TINY = 1e-300


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
                "counts": np.zeros(6),
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
        roles = self.used("roles").copy()
        final = self.used("numbers")[FINAL_WEIGHT::PER_OUTPUT].copy()

        def restore_all() -> None:
            self["roles"][: roles.size] = roles
            self["numbers"][FINAL_WEIGHT::PER_OUTPUT, : roles.size] = final
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
class Thresh:
    """Learns the best ``n_features`` and their weights; None is one per cent of the columns."""

    loss: int
    steps: Steps
    n_features: int | None = None
    n_outputs: int = 1

    parameters: ClassVar[Parameters] = ()
    joint: ClassVar[bool] = True

    @classmethod
    def of(
        cls, loss: Loss, fit_intercept: bool, n_features: int | None = None, n_outputs: int = 1
    ) -> Self:
        """Return the learner for a loss; three classes or more have an output each."""
        return cls(loss.code, Steps(SELECTING, fit_intercept=fit_intercept), n_features, n_outputs)

    @property
    def of_numbers(self) -> bool:
        """Return whether targets are numbers."""
        return self.loss >= SQUARED_ERROR

    @property
    def n_orders(self) -> int:
        """Return how many orders of rows it reads: one."""
        return 1

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
        logistic = self.loss == LOG_LOSS
        lengths = (SELECTING, FINAL) if logistic else (OTHERS_SELECTING, OTHERS_FINAL)
        arrays = state["roles"], state["numbers"].T, state["biases"], counts
        learned = learn(rows, mine, counted, self.loss, *lengths, *arrays)
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
        roles[active] = CANDIDATE
        roles[best] = MEMBER
        stage[END] = math.ceil(stage[END] * GROWTH)
        stage[JUDGED] = state.n_slots

    def active(self, state: ThreshState) -> np.ndarray:
        """Return the slots that have not been purged."""
        return state.active

    def finished(self, state: ThreshState) -> bool:
        """Return False: there is always more to learn."""
        return False

    def settles(self, state: ThreshState) -> bool:
        """Return True: weights that no longer change may end the training."""
        return True

    def probabilities(self, state: ThreshState) -> None:
        """Return None: it does not know how surely it selects."""

    def weights(self, state: ThreshState) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights by output and slot, the best features', and the constant input's."""
        active, counts = state.active, state["counts"]
        best = active[highest(self._ranks(state, active), self._wanted(state))]
        spread, size = 1.0, self.steps.constant(counts[NORM])
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


@jit
def squared_ranks(slots, means, numbers):
    """Return |w|^2 |S|^2 / sum x^2 of every slot given."""
    ranks = np.empty(slots.size)
    for k in range(slots.size):
        j = slots[k]
        weight = marginal = 0.0
        for o in range(means.size):
            weight += numbers[j, WEIGHT + PER_OUTPUT * o] ** 2
            pull = numbers[j, PULL + PER_OUTPUT * o] - means[o] * numbers[j, SUM]
            marginal += pull * pull
        ranks[k] = weight * marginal / max(numbers[j, SQUARES], TINY)
    return ranks


@jit
def standardized(numbers, updates, centred, counts):
    """Return numbers in units of their spread so far, from their mean so far.

    For the ranks they are counted from the first one, so that no large mean cancels their digits.
    """
    learned, total = numbers.copy(), counts[TOTAL]
    for i in updates.order:
        if total == 0.0:
            counts[ORIGIN] = numbers[i]
        weight = updates.importance[i]
        total += weight
        away = numbers[i] - counts[MEAN]
        if centred and total > 0.0:
            counts[MEAN] += away * weight / total
        counts[AROUND] += weight * away * (numbers[i] - counts[MEAN])
        spread = math.sqrt(counts[AROUND] / max(total, TINY))
        learned[i] = (numbers[i] - counts[MEAN]) / spread if spread > 0.0 else 0.0
    return learned


@jit
def learn_one(rows, updates, counted, loss, step, longer, roles, numbers, biases, counts):
    """Learn from the rows in turn; return how many were learned before the numbers overflowed.

    What a row needs is brought together first: side by side, several numbers are divided and
    rooted at once. One function: arrays handed to others would be counted by Numba for every row.
    """
    starts, slots, values = rows
    order, _, sizes, norms, targets, importance = updates
    most = longest(starts) + 1
    near, best = np.empty(most, np.uint32), np.empty(most, np.uint32)
    xs, roots, weights = np.empty(most), np.empty(most), np.empty(most)
    best_xs, best_roots, finals = np.empty(most), np.empty(most), np.empty(most)
    for t in range(order.size):
        i, size, n, n_best = order[t], sizes[t], np.uint64(0), np.uint64(0)
        # unsigned, since Numba lets signed places count from an array's end; without a branch,
        # since what does not count is written over by the next
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = slots[k]
            near[n], xs[n], best[n_best] = j, values[k], n
            roots[n], weights[n] = numbers[j, ROOT], numbers[j, WEIGHT]
            n_best += np.uint64(roles[j] == MEMBER)
            n += np.uint64(roles[j] != PURGED)
        for k in range(n_best):
            best_xs[k], finals[k] = xs[best[k]], numbers[near[best[k]], FINAL_WEIGHT]
        margin = size * biases[SELECT, 0] + dot(weights, xs, n)
        fit = size * biases[FIT, 0] + dot(finals, best_xs, n_best)
        if not math.isfinite(margin + fit):
            return t
        weight, y, norm = importance[i], importance[i] * counted[i], norms[t]
        slope = weight * slope_of(loss, margin, targets[i])
        fit_slope = weight * slope_of(loss, fit, targets[i])
        stride, damping = step / math.sqrt(norm), DAMPING * math.sqrt(norm)
        for k in range(n):
            gradient = slope * xs[k]
            roots[k] = math.sqrt(roots[k] * roots[k] + gradient * gradient)
            weights[k] -= stride * gradient / (damping + roots[k])
        for k in range(n_best):
            best_roots[k] = roots[best[k]]
        for k in range(n_best):
            gradient = fit_slope * best_xs[k]
            finals[k] -= longer * stride * gradient / (best_roots[k] + abs(gradient) + TINY)
        for k in range(n):
            j, x = near[k], xs[k]
            numbers[j, ROOT], numbers[j, WEIGHT] = roots[k], weights[k]
            numbers[j, SUM] += weight * x
            numbers[j, SQUARES] += weight * x * x
            numbers[j, PULL] += y * x
        for k in range(n_best):
            numbers[near[best[k]], FINAL_WEIGHT] = finals[k]
        gradient, fit_gradient = slope * size, fit_slope * size
        root = math.sqrt(counts[BIAS_ROOT] * counts[BIAS_ROOT] + gradient * gradient)
        biases[SELECT, 0] -= stride * gradient / (damping + root)
        biases[FIT, 0] -= longer * stride * fit_gradient / (root + abs(fit_gradient) + TINY)
        biases[TALLY, 0] += y
        counts[BIAS_ROOT], counts[NORM] = root, norm
        counts[TOTAL] += weight
    return order.size


@jit
def dot(left, right, size):
    """Return a product of vectors, summed up by turns so that no sum waits for the one before."""
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    a = b = c = d = 0.0
    k = np.uint64(0)
    while k + three < size:
        a += left[k] * right[k]
        b += left[k + one] * right[k + one]
        c += left[k + two] * right[k + two]
        d += left[k + three] * right[k + three]
        k += four
    while k < size:
        a += left[k] * right[k]
        k += one
    return (a + b) + (c + d)


@jit
def learn_several(rows, updates, counted, loss, step, longer, roles, numbers, biases, counts):
    """Learn classes from the rows in turn; return how many before the numbers overflowed.

    All outputs of a feature have one root of squared gradients, and so one length of steps.
    """
    starts, slots, values = rows
    order, _, sizes, norms, _, importance = updates
    n_outputs = biases.shape[1]
    slopes, fits = np.empty(n_outputs), np.empty(n_outputs)
    for t in range(order.size):
        i, size, weight = order[t], sizes[t], importance[order[t]]
        first, last, right = np.uint64(starts[i]), np.uint64(starts[i + 1]), np.int64(counted[i])
        slopes[:], fits[:] = size * biases[SELECT], size * biases[FIT]
        for k in range(first, last):
            j = slots[k]
            for o in range(n_outputs):
                at = PER_OUTPUT * o
                if roles[j] != PURGED:
                    slopes[o] += numbers[j, WEIGHT + at] * values[k]
                if roles[j] == MEMBER:
                    fits[o] += numbers[j, FINAL_WEIGHT + at] * values[k]
        if not math.isfinite(slopes.sum() + fits.sum()):
            return t
        pull, fit_pull = (
            slopes_at(slopes, loss, right, weight),
            slopes_at(fits, loss, right, weight),
        )
        stride, damping = step / math.sqrt(norms[t]), DAMPING * math.sqrt(norms[t])
        for k in range(first, last):
            j, x = slots[k], values[k]
            if roles[j] == PURGED:
                continue
            root = math.sqrt(numbers[j, ROOT] ** 2 + (pull * x) ** 2)
            numbers[j, ROOT] = root
            numbers[j, SUM] += weight * x
            numbers[j, SQUARES] += weight * x * x
            numbers[j, PULL + PER_OUTPUT * right] += weight * x
            move, fit_move = moves_of(x, root, stride, longer, damping, fit_pull)
            for o in range(n_outputs):
                at = PER_OUTPUT * o
                numbers[j, WEIGHT + at] -= slopes[o] * move
                if roles[j] == MEMBER:
                    numbers[j, FINAL_WEIGHT + at] -= fits[o] * fit_move
        counts[BIAS_ROOT] = math.sqrt(counts[BIAS_ROOT] ** 2 + (pull * size) ** 2)
        move, fit_move = moves_of(size, counts[BIAS_ROOT], stride, longer, damping, fit_pull)
        for o in range(n_outputs):
            biases[SELECT, o] -= slopes[o] * move
            biases[FIT, o] -= fits[o] * fit_move
        biases[TALLY, right] += weight
        counts[TOTAL] += weight
        counts[NORM] = norms[t]
    return order.size


@jit
def moves_of(x, root, stride, longer, damping, fit_pull):
    """Return how far weights move for a slope of 1, in the selecting model and in the final one.

    The latter counts the row's own gradient in full, which bounds it.
    """
    return stride * x / (damping + root), longer * stride * x / (root + fit_pull * abs(x) + TINY)


@jit
def slopes_at(margins, loss, right, weight):
    """Replace margins by slopes of the loss for the class that is right; return their length.

    Log losses are those of a softmax, others one against the rest.
    """
    n_outputs, largest, total, squares = margins.size, margins.max(), 0.0, 0.0
    for o in range(n_outputs):
        if loss == LOG_LOSS:
            margins[o] = math.exp(margins[o] - largest)
            total += margins[o]
        else:
            margins[o] = weight * slope_of(loss, margins[o], 1.0 if o == right else -1.0)
    for o in range(n_outputs):
        if loss == LOG_LOSS:
            margins[o] = weight * (margins[o] / total - (1.0 if o == right else 0.0))
        squares += margins[o] * margins[o]
    return math.sqrt(squares)
