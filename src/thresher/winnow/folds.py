"""Folds that select for themselves: one table of held-out losses, and what it chooses.

Each fold screens and eliminates without its rows, once for every strength, and every model on the
way judges them. The table has a loss for each held-out row, strength, size and final strength, and
chooses all three. A strength is that of the weights: 1 over the penalty.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from thresher.jit import jit
from thresher.losses import LOSSES, value_of
from thresher.threads import Threads
from thresher.winnow.eliminate import Field, eliminate, finals_of
from thresher.winnow.sample import Sample

STRENGTHS = (0.3, 1.0, 3.0)  # while selecting
FINALS = (1.0, 10.0, 100.0)  # of the features selected

ROUGH = 1e-1  # precision of weights that only judge held-out rows

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


class Way(NamedTuple):
    """One fold's way down with one strength: by row, or a score, then size and final strength."""

    losses: np.ndarray
    errors: np.ndarray
    scores: np.ndarray
    columns: list[np.ndarray]


def fold_table(
    folds: Sequence[Fold], sizes: list[int], threads: Threads, score: Score | None = None
) -> Table:
    """Return the table of all folds, each selecting without its own rows."""
    jobs = list(product(folds, STRENGTHS))
    found = threads.map(lambda job: _way_down(*job, sizes, score), jobs)
    ways = [found[first : first + len(STRENGTHS)] for first in range(0, len(jobs), len(STRENGTHS))]
    scores = np.stack([np.stack([way.scores for way in mine]) for mine in ways])
    return Table(
        sizes,
        np.concatenate([fold.importance for fold in folds]),
        np.concatenate([np.stack([way.losses for way in mine], axis=1) for mine in ways]),
        np.concatenate([np.stack([way.errors for way in mine], axis=1) for mine in ways]),
        np.concatenate([_null_losses(fold) for fold in folds]),
        None if score is None else scores,
        [[way.columns for way in mine] for mine in ways],
    )


def _way_down(fold: Fold, strength: float, sizes: list[int], score: Score | None) -> Way:
    """Return what one fold's models of all sizes say of its held-out rows."""
    n_finals = len(FINALS) * (2 if fold.field.in_length.any() else 1)
    shape = (len(sizes), n_finals)
    losses = np.full((fold.places.size, *shape), np.inf, np.float32)
    errors, scores, columns = np.zeros_like(losses), np.full(shape, -np.inf), []
    for k, (field, _) in enumerate(eliminate(fold.field, strength, sizes)):
        columns.append(field.columns)
        for j, (final, weights) in enumerate(finals_of(field, FINALS, ROUGH)):
            margins = final.held_margins(weights)
            losses[:, k, j] = held_losses(margins, fold.targets, field.problem.loss)
            errors[:, k, j] = held_errors(margins, fold.targets, field.problem.loss)
            if score is not None:
                scores[k, j] = score(margins, fold.places)
        if len(FINALS) < n_finals and not field.in_length.any():  # one length is as the other
            losses[:, k, len(FINALS) :] = losses[:, k, : len(FINALS)]
            errors[:, k, len(FINALS) :] = errors[:, k, : len(FINALS)]
            scores[k, len(FINALS) :] = scores[k, : len(FINALS)]
    return Way(losses, errors, scores, columns)


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
    """Return means over rows, or folds, as much as each counts."""
    return np.tensordot(importance, values, (0, 0)) / importance.sum()


def standard_error(values: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """Return the standard errors of such means."""
    spread = np.sqrt(mean((values - mean(values, importance)) ** 2, importance))
    return spread / np.sqrt(max(np.count_nonzero(importance) - 1, 1))


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


def choose_size(table: Table, choice: Choice) -> int:
    """Return the smallest size within one standard error of the best."""
    losses, importance = _criterion(table)
    losses = at_choice(losses, choice)
    best = int(mean(losses, importance).argmin())
    behind = losses - losses[:, [best]]
    enough = np.flatnonzero(mean(behind, importance) <= standard_error(behind, importance))
    return table.sizes[int(enough[-1])]


def at_choice(values: np.ndarray, choice: Choice) -> np.ndarray:
    """Return values by row, or fold, and size, with the strengths chosen."""
    sizes = np.arange(choice.finals.size)
    return values[:, choice.strength, sizes, choice.finals].astype(np.float64)


def _criterion(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Return what is to be small, and how much each row, or fold, counts."""
    if table.scores is None:
        return table.losses, table.importance
    return -table.scores, np.ones(table.scores.shape[0])
