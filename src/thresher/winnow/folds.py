"""Folds that select for themselves: one table of held-out losses, and what it chooses.

Each fold screens and eliminates without its rows, once for every strength, and every model on the
way judges them. The table has a loss for each held-out row, strength, size and final strength, and
chooses all three. A strength is that of the weights: 1 over the penalty.
"""

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple, Self

import numpy as np

from thresher.jit import jit
from thresher.losses import LOSSES, value_of
from thresher.threads import Threads
from thresher.winnow.eliminate import Field, Final, Refit, Way, eliminate

STRENGTHS = (0.1, 0.5, 2.5)  # while selecting
WEAKER = (12.5,)  # besides these where targets are numbers, which may have hardly any noise
FINALS = (0.3, 3.0, 30.0, 300.0)  # of the features selected
OF_NUMBERS = tuple(loss.code for loss in LOSSES.values() if loss.of_numbers)
# Adaptive weights pay where targets are numbers; for classes they change nothing.
WAYS = (Way(False, False), Way(False, True), Way(True, False), Way(True, True))
ROUGH = 2e-1  # precision of weights that only judge held-out rows

Score = Callable[[np.ndarray, np.ndarray], float]  # of margins, and the places of their rows
Split = tuple[np.ndarray, np.ndarray]  # places of rows to learn from, and of held-out ones


class Fold(NamedTuple):
    """A field without some rows, and these rows: their places and what is to be predicted."""

    field: Field
    places: np.ndarray
    targets: np.ndarray
    importance: np.ndarray


class Table(NamedTuple):
    """What held-out rows say of every model.

    ``losses`` and ``errors`` are by held-out row, strength, size and final strength; errors are 1
    where the class is wrong, or squared errors. ``null_losses`` are those of no feature at all.
    ``scores``, if a score was asked for, are by fold instead of row. ``columns`` are those that a
    fold selected, by fold, strength and size.
    """

    sizes: list[int]
    strengths: tuple[float, ...]
    finals: list[Final]
    importance: np.ndarray
    losses: np.ndarray
    errors: np.ndarray
    null_losses: np.ndarray
    scores: np.ndarray | None
    columns: list[list[list[np.ndarray]]]


class Choice(NamedTuple):
    """Places of a strength, and of a final strength for every size."""

    strength: int
    finals: np.ndarray


class Descent(NamedTuple):
    """One fold's way down with one strength: by row, or a score, then size and final strength."""

    losses: np.ndarray
    errors: np.ndarray
    scores: np.ndarray
    columns: list[np.ndarray]

    def with_finals(self, chosen: slice) -> Self:
        """Return the same for some of the final fits."""
        return type(self)(
            self.losses[..., chosen],
            self.errors[..., chosen],
            self.scores[..., chosen],
            self.columns,
        )


def strengths_for(loss: int) -> tuple[float, ...]:
    """Return the strengths under which features are selected."""
    return STRENGTHS + WEAKER if loss in OF_NUMBERS else STRENGTHS


def fold_table(
    folds: Sequence[Fold], sizes: list[int], threads: Threads, score: Score | None = None
) -> Table:
    """Return the table of all folds, each selecting without its own rows.

    The strongest penalty decides in which way final weights are fitted, for all.
    """
    lengths = any(fold.field.in_length.any() for fold in folds)
    numbers = folds[0].field.problem.loss in OF_NUMBERS
    ways = [
        way for way in WAYS if (lengths or not way.kept_length) and (numbers or not way.adaptive)
    ]
    finals = [Final(way, strength) for way in ways for strength in FINALS]
    strengths = strengths_for(folds[0].field.problem.loss)

    def descend(fold: Fold, strength: float) -> Descent:
        return _descend(fold, strength, sizes, finals, score)

    first = threads.map(descend, folds, [strengths[0]] * len(folds))
    chosen = better_way(folds, first)
    first = [one.with_finals(chosen) for one in first]
    finals = finals[chosen]
    jobs = list(product(folds, strengths[1:]))
    others = threads.map(descend, *zip(*jobs, strict=True)) if jobs else []
    each = len(strengths) - 1
    runs = [[one, *others[each * i : each * (i + 1)]] for i, one in enumerate(first)]
    scores = np.stack([np.stack([one.scores for one in mine]) for mine in runs])
    return Table(
        sizes,
        strengths,
        finals,
        np.concatenate([fold.importance for fold in folds]),
        np.concatenate([np.stack([one.losses for one in mine], axis=1) for mine in runs]),
        np.concatenate([np.stack([one.errors for one in mine], axis=1) for mine in runs]),
        np.concatenate([_null_losses(fold) for fold in folds]),
        None if score is None else scores,
        [[one.columns for one in mine] for mine in runs],
    )


def better_way(folds: Sequence[Fold], descents: Sequence[Descent]) -> slice:
    """Return the final fits of the way that loses least, over all sizes."""
    importance = np.concatenate([fold.importance for fold in folds])
    losses = mean(np.concatenate([one.losses for one in descents]), importance)
    n = len(FINALS)
    ways = [slice(first, first + n) for first in range(0, losses.shape[1], n)]
    return min(ways, key=lambda way: float(losses[:, way].min(axis=1).mean()))


def _descend(
    fold: Fold, strength: float, sizes: list[int], finals: list[Final], score: Score | None
) -> Descent:
    """Return what one fold's models of all sizes say of its held-out rows."""
    shape, refit = (len(sizes), len(finals)), Refit(ROUGH)
    losses = np.empty((fold.places.size, *shape), np.float32)
    errors, scores, columns = np.empty_like(losses), np.zeros(shape), []
    for k, (field, selecting) in enumerate(eliminate(fold.field, strength, sizes)):
        columns.append(field.columns)
        for j, (final, weights) in enumerate(refit.fit(field, selecting, finals)):
            margins = final.held_margins(weights)
            losses[:, k, j] = held_losses(margins, fold.targets, field.problem.loss)
            errors[:, k, j] = held_errors(margins, fold.targets, field.problem.loss)
            if score is not None:
                scores[k, j] = score(margins, fold.places)
    return Descent(losses, errors, scores, columns)


def _null_losses(fold: Fold) -> np.ndarray:
    field = fold.field.only(np.zeros(0, np.int64))
    margins = field.held_margins(field.fit(np.zeros(field.n_outputs), 1.0))
    return held_losses(margins, fold.targets, field.problem.loss)


def held_losses(margins: np.ndarray, targets: np.ndarray, loss: int) -> np.ndarray:
    """Return the loss of every row."""
    if margins.shape[1] == 1:
        return losses_of(loss, margins[:, 0], targets)
    largest = margins.max(axis=1)
    total = np.log(np.exp(margins - largest[:, np.newaxis]).sum(axis=1)) + largest
    return total - margins[np.arange(targets.size), targets.astype(np.int64)]


def held_errors(margins: np.ndarray, targets: np.ndarray, loss: int) -> np.ndarray:
    """Return 1 where the class is wrong; of numbers, the squared error."""
    if margins.shape[1] > 1:
        return margins.argmax(axis=1) != targets
    if any(one.of_numbers for one in LOSSES.values() if one.code == loss):
        return (margins[:, 0] - targets) ** 2
    return np.where(margins[:, 0] > 0, 1.0, -1.0) != targets


@jit
def losses_of(loss, margins, targets):
    """Return the loss of every row."""
    found = np.empty(margins.size)
    for i in range(margins.size):
        found[i] = value_of(loss, margins[i], targets[i])
    return found


# ------------------------------------------------------------------------------------- choices


def mean(values: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """Return means over rows, or folds, as much as each counts; summed in a fixed order."""
    flat = np.ascontiguousarray(values, np.float32).reshape(values.shape[0], -1)
    return weighted_sums(flat, importance).reshape(values.shape[1:]) / importance.sum()


@jit
def weighted_sums(values, importance):
    """Return the sums over rows, each as often as it counts."""
    sums = np.zeros(values.shape[1])
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            sums[j] += importance[i] * values[i, j]
    return sums


def standard_error(values: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """Return the standard errors of such means; uneven rows amount to fewer even ones."""
    spread = np.sqrt(mean((values - mean(values, importance)) ** 2, importance))
    n_even = float(importance.sum() ** 2 / (importance**2).sum())
    return spread / math.sqrt(max(n_even - 1.0, 1.0))


def choose(table: Table, caution: float, size: int | None = None) -> Choice:
    """Return the strongest penalty that is not clearly worse than the best, for all sizes.

    Not clearly: by no more than ``caution`` standard errors. Sizes count alike, or, if one is
    given, only that and its neighbours.
    """
    losses, importance = _criterion(table)
    finals = mean(losses, importance).argmin(axis=2)  # by strength and size
    losses = np.take_along_axis(losses, finals[np.newaxis, ..., np.newaxis], axis=3)[..., 0]
    near = slice(None)
    if size is not None:
        place = table.sizes.index(size)
        near = slice(max(place - 1, 0), place + 2)
    by_strength = losses[:, :, near].mean(axis=2, dtype=np.float64)
    best = int(mean(by_strength, importance).argmin())
    behind = by_strength - by_strength[:, [best]]
    enough = mean(behind, importance) <= caution * standard_error(behind, importance)
    strength = int(np.flatnonzero(enough)[0])
    return Choice(strength, finals[strength])


def choose_size(table: Table, choice: Choice, caution: float) -> int:
    """Return the smallest size within ``caution`` standard errors of the best, or within one."""
    losses, importance = _criterion(table)
    losses = at_choice(losses, choice)
    best = int(mean(losses, importance).argmin())
    behind = losses - losses[:, [best]]
    errors = min(caution, 1.0) * standard_error(behind, importance)
    return table.sizes[int(np.flatnonzero(mean(behind, importance) <= errors)[-1])]


def at_choice(values: np.ndarray, choice: Choice) -> np.ndarray:
    """Return values by row, or fold, and size, with the strengths chosen."""
    sizes = np.arange(choice.finals.size)
    return values[:, choice.strength, sizes, choice.finals].astype(np.float64)


def _criterion(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return what is to be small, and how much each row, or fold, counts."""
    if table.scores is None:
        return table.losses, table.importance
    return -table.scores, np.ones(table.scores.shape[0])
