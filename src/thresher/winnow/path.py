"""Winnowing as a whole: folds choose, all rows select, and the result is a model of every size."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thresher.threads import Threads
from thresher.winnow.eliminate import Field, eliminate, sizes_down
from thresher.winnow.folds import (
    FINALS,
    STRENGTHS,
    Choice,
    Fold,
    Score,
    Split,
    Table,
    at_choice,
    choose,
    choose_size,
    fold_table,
    mean,
    standard_error,
)
from thresher.winnow.sample import Sample
from thresher.winnow.screen import Sums, n_screened

FEWEST_AUTO, MOST_AUTO, ROWS_A_FEATURE = 200, 1000, 10
CLEARLY = 2.0  # standard errors


class Path(NamedTuple):
    """A model of every size, and what rows held out by folds say of each.

    Attributes
    ----------
    sizes : list of int
        Numbers of features, ascending.
    columns : list of int64 arrays
        The columns selected at each size, ascending.
    weights : list of float64 arrays of shape (n_outputs, size)
        Their weights.
    intercepts : float64 array of shape (n_sizes, n_outputs)
        The intercepts.
    frequencies : list of float64 arrays of shape (size,)
        The share of folds that select each of the columns at that size.
    loss, loss_error : float64 arrays of shape (n_sizes,)
        Mean held-out loss, and its standard error.
    error, error_error : float64 arrays of shape (n_sizes,)
        Held-out share of wrong classes, or mean squared error, and its standard error.
    score : float64 array of shape (n_sizes,) or None
        Mean held-out score, if ``scoring`` was given.
    null_loss : float
        Held-out loss without any feature.
    strengths : float64 array of shape (n_sizes,)
        The strength of the final weights: 1 over their penalty.
    kept_lengths : list of bool
        Whether rows are divided by the length that they have in the columns selected alone.
    penalty : float
        The penalty of the weights while features were selected.
    size : int
        The size that was wanted or chosen.
    clear : bool
        Whether the best size is better than no features by more than two standard errors.
    """

    sizes: list[int]
    columns: list[np.ndarray]
    weights: list[np.ndarray]
    intercepts: np.ndarray
    frequencies: list[np.ndarray]
    loss: np.ndarray
    loss_error: np.ndarray
    error: np.ndarray
    error_error: np.ndarray
    score: np.ndarray | None
    null_loss: float
    strengths: np.ndarray
    kept_lengths: list[bool]
    penalty: float
    size: int
    clear: bool

    def place(self, size: int) -> int:
        """Return the place of the largest size that is not above the given one."""
        return int(np.searchsorted(self.sizes, size, side="right")) - 1


class Plan(NamedTuple):
    """How many features are wanted (None: as the folds say), and how much caution."""

    size: int | None
    caution: float
    score: Score | None = None

    def largest(self, n_rows: int) -> int:
        """Return the largest size that is looked at."""
        if self.size is not None:
            return self.size
        return min(max(n_rows // ROWS_A_FEATURE, FEWEST_AUTO), MOST_AUTO)


def winnow(sample: Sample, splits: Sequence[Split], plan: Plan, threads: Threads) -> Path:
    """Return the path of rows at hand, which folds of them choose."""
    largest = plan.largest(sample.targets.size)
    screened = n_screened(largest)

    def fold(split: Split) -> Fold:
        train, held = (sample.at(places) for places in split)
        field = Field.of(train, Sums.of(train), screened, held.rows)
        return Fold(field, split[1], held.targets, held.importance)

    field = Field.of(sample, Sums.of(sample), screened)
    return winnow_fields(field, threads.map(fold, list(splits)), plan, largest, threads)


def winnow_fields(
    field: Field, folds: Sequence[Fold], plan: Plan, largest: int, threads: Threads
) -> Path:
    """Return the path of a field, which folds choose."""
    if not field.columns.size:
        raise ValueError("No column of X varies: there is nothing to select.")
    first = min(largest, field.columns.size)
    sizes = sizes_down(first, [1])
    table = fold_table(folds, sizes, threads, plan.score)
    size = first if plan.size is not None else choose_size(table, choose(table, plan.caution))
    return _path(field, table, choose(table, plan.caution, size), size)


def _path(field: Field, table: Table, choice: Choice, size: int) -> Path:
    """Return models of all sizes, with the strengths chosen."""
    columns, weights, intercepts, kept_lengths = [], [], [], []
    steps = eliminate(field, STRENGTHS[choice.strength], table.sizes)
    for (left, _), final in zip(steps, choice.finals, strict=True):
        raw, intercept, kept_length = _final_model(left, int(final))
        kept_lengths.append(kept_length)
        columns.append(left.columns)
        weights.append(raw)
        intercepts.append(intercept)
    losses, errors = at_choice(table.losses, choice), at_choice(table.errors, choice)
    gain = table.null_losses - losses[:, mean(losses, table.importance).argmin()]
    scores = None if table.scores is None else at_choice(table.scores, choice).mean(axis=0)[::-1]
    return Path(
        sizes=table.sizes[::-1],
        columns=columns[::-1],
        weights=weights[::-1],
        intercepts=np.array(intercepts[::-1]),
        frequencies=_frequencies(table, choice, columns)[::-1],
        loss=mean(losses, table.importance)[::-1],
        loss_error=standard_error(losses, table.importance)[::-1],
        error=mean(errors, table.importance)[::-1],
        error_error=standard_error(errors, table.importance)[::-1],
        score=scores,
        null_loss=float(mean(table.null_losses, table.importance)),
        strengths=np.array(FINALS)[choice.finals % len(FINALS)][::-1],
        kept_lengths=kept_lengths[::-1],
        penalty=1.0 / STRENGTHS[choice.strength],
        size=size,
        clear=bool(
            mean(gain, table.importance) > CLEARLY * standard_error(gain, table.importance)
        ),
    )


def _final_model(field: Field, place: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return weights of prepared columns and intercepts with the final fit of a place."""
    kept_length, last = place >= len(FINALS) and field.in_length.any(), place % len(FINALS)
    final = field.for_final(bool(kept_length))
    weights = np.zeros((field.columns.size + 1) * field.n_outputs)
    for strength in FINALS[: last + 1]:
        final.fit(weights, strength)
    return *final.prepared_weights(weights), bool(kept_length)


def _frequencies(table: Table, choice: Choice, columns: list[np.ndarray]) -> list[np.ndarray]:
    """Return the share of folds that select each of the columns of every size."""
    ways = [fold[choice.strength] for fold in table.columns]
    return [
        np.mean([np.isin(mine, way[k]) for way in ways], axis=0) for k, mine in enumerate(columns)
    ]
