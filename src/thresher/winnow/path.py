"""Winnowing as a whole: folds choose, all rows select, and the result is a model of every size."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from thresher.draws import permutation
from thresher.prepare import Preparation
from thresher.threads import Threads
from thresher.winnow.eliminate import Field, Refit, eliminate, sizes_down
from thresher.winnow.folds import (
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
FINE = 10  # every size up to this one is on the path
MOST_IN_FOLD = 3_000  # rows that a fold learns from, and as many that it holds out
CLEARLY = 2.0  # standard errors


class Path(NamedTuple):
    """A model of every size, and how well each predicts rows that folds held out.

    Attributes
    ----------
    sizes : int64 array of shape (n_sizes,)
        Numbers of features, ascending.
    columns : list of int64 arrays
        The columns selected at each size, ascending.
    weights : list of float64 arrays of shape (n_outputs, size)
        Their weights.
    intercepts : float64 array of shape (n_sizes, n_outputs)
        The intercepts.
    fold_columns, fold_shares : lists of arrays
        The columns that any fold selects at each size, and the share of folds that do.
    loss, loss_se : float64 arrays of shape (n_sizes,)
        Mean held-out loss, and its standard error.
    error, error_se : float64 arrays of shape (n_sizes,)
        Held-out share of wrong classes, or mean squared error, and its standard error.
    score : float64 array of shape (n_sizes,) or None
        Mean held-out score, if ``scoring`` was given.
    final_penalties : float64 array of shape (n_sizes,)
        The penalty of the final weights.
    penalty : float
        The penalty of the weights while features were selected.
    kept_length : bool
        Whether rows are divided by the length that they have in the columns selected alone.
    null_loss : float
        Held-out loss without any feature.
    size : int
        The size that was wanted or chosen.
    clear : bool
        Whether the best size is better than no features by more than two standard errors.
    """

    sizes: np.ndarray
    columns: list[np.ndarray]
    weights: list[np.ndarray]
    intercepts: np.ndarray
    fold_columns: list[np.ndarray]
    fold_shares: list[np.ndarray]
    loss: np.ndarray
    loss_se: np.ndarray
    error: np.ndarray
    error_se: np.ndarray
    score: np.ndarray | None
    final_penalties: np.ndarray
    penalty: float
    kept_length: bool
    null_loss: float
    size: int
    clear: bool

    def place(self, size: int) -> int:
        """Return the place of the largest size that is not above the given one."""
        return max(int(np.searchsorted(self.sizes, size, side="right")) - 1, 0)

    def in_units(self, centre: float, unit: float) -> Self:
        """Return the path of numbers whose centre was taken away, and which had another unit."""
        return self._replace(
            weights=[weights * unit for weights in self.weights],
            intercepts=self.intercepts * unit + centre,
            error=self.error * unit**2,
            error_se=self.error_se * unit**2,
        )

    def of_raw_values(self, preparation: Preparation) -> Self:
        """Return the path with weights of values as they were before they were prepared."""
        pairs = zip(self.columns, self.weights, strict=True)
        return self._replace(weights=[preparation.raw_weights(*pair) for pair in pairs])


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
        return fold_of(sample, split, split, screened)

    field = Field.of(sample, Sums.of(sample), screened)
    folds = threads.map(fold, [rows_in_fold(split) for split in splits])
    return winnow_fields(field, folds, plan, largest, threads)


def rows_in_fold(split: Split) -> Split:
    """Return the rows that a fold learns from and holds out: not all of very many."""
    some, others = (at_most(places, MOST_IN_FOLD) for places in split)
    return some, others


def fold_of(sample: Sample, places: Split, rows: Split, screened: int) -> Fold:
    """Return a fold of a sample in which the split's rows have such places."""
    train, held = (sample.at(one) for one in places)
    field = Field.of(train, Sums.of(train), screened, held.rows)
    return Fold(field, rows[1], held.targets, held.importance)


def at_most(places: np.ndarray, most: int) -> np.ndarray:
    """Return so many of the places at most, the same for every fit."""
    if places.size <= most:
        return places
    return np.sort(places[permutation(0, 0, 0, places.size)[:most]])


def winnow_fields(
    field: Field, folds: Sequence[Fold], plan: Plan, largest: int, threads: Threads
) -> Path:
    """Return the path of a field, which folds choose."""
    if not field.columns.size:
        raise ValueError("No column of X varies: there is nothing to select.")
    first = min(largest, field.columns.size)
    sizes = sizes_down(first, range(1, FINE + 1))
    table = fold_table(folds, sizes, threads, plan.score)
    size = first if plan.size is not None else choose_size(table, choose(table, plan.caution))
    return _path(field, table, choose(table, plan.caution, size), size)


def _path(field: Field, table: Table, choice: Choice, size: int) -> Path:
    """Return models of all sizes, with the strengths chosen."""
    columns, weights, intercepts, refit = [], [], [], Refit()
    steps = eliminate(field, STRENGTHS[choice.strength], table.sizes)
    for (left, selecting), final in zip(steps, choice.finals, strict=True):
        (ready, fitted), *_ = refit.fit(left, selecting, [table.finals[final]])
        prepared, intercept = ready.prepared_weights(fitted)
        columns.append(left.columns)
        weights.append(prepared)
        intercepts.append(intercept)
    losses, errors = at_choice(table.losses, choice), at_choice(table.errors, choice)
    gain = table.null_losses - losses[:, mean(losses, table.importance).argmin()]
    scores = None if table.scores is None else at_choice(table.scores, choice).mean(axis=0)[::-1]
    strengths = np.array([table.finals[final].strength for final in choice.finals])
    fold_columns, fold_shares = _shares(table, choice)
    return Path(
        sizes=np.array(table.sizes[::-1]),
        columns=columns[::-1],
        weights=weights[::-1],
        intercepts=np.array(intercepts[::-1]),
        fold_columns=fold_columns[::-1],
        fold_shares=fold_shares[::-1],
        loss=mean(losses, table.importance)[::-1],
        loss_se=standard_error(losses, table.importance)[::-1],
        error=mean(errors, table.importance)[::-1],
        error_se=standard_error(errors, table.importance)[::-1],
        score=scores,
        final_penalties=1.0 / strengths[::-1],
        penalty=1.0 / STRENGTHS[choice.strength],
        kept_length=table.finals[0].kept_length,
        null_loss=float(mean(table.null_losses, table.importance)),
        size=size,
        clear=bool(mean(gain, table.importance) > CLEARLY * standard_error(gain, table.importance)),
    )


def _shares(table: Table, choice: Choice) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return, for every size, the columns that folds select, and the share of folds that do."""
    folds = [fold[choice.strength] for fold in table.columns]
    counted = [
        np.unique(np.concatenate([fold[k] for fold in folds]), return_counts=True)
        for k in range(len(table.sizes))
    ]
    return [columns for columns, _ in counted], [counts / len(folds) for _, counts in counted]
