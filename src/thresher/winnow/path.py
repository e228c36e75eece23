"""Winnowing as a whole: folds choose, all rows select, and the result is a model of every size."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from thresher.draws import permutation
from thresher.prepare import Preparation
from thresher.rows import Rows
from thresher.threads import Threads
from thresher.winnow.eliminate import Field, Refit, eliminate, sizes_down
from thresher.winnow.folds import (
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
    strengths_for,
)
from thresher.winnow.screen import Sample, Sums, n_screened

FEWEST_AUTO, MOST_AUTO, ROWS_A_FEATURE = 200, 1000, 10
FINE = 4  # every size up to this one is on the path
RARE = 0.2  # share of a fold's rows that belong to any class, if all are as rare: at least
MOST_IN_FOLD = 3_000  # rows that a fold learns from, and as many that it holds out
CLEARLY = 2.0  # standard errors
FINAL_PRECISION = 3e-3  # of weights that stay: so fine that units of columns do not show


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
    adaptive : bool
        Whether features with large weights while selecting are penalized less in the final fit.
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
    adaptive: bool
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

    def of_columns(self, numbers: np.ndarray) -> Self:
        """Return the path with other numbers of its columns."""
        return self._replace(
            columns=[numbers[columns] for columns in self.columns],
            fold_columns=[numbers[columns] for columns in self.fold_columns],
        )

    def of_raw_values(self, preparation: Preparation) -> Self:
        """Return the path with weights of values as they were before they were prepared."""
        pairs = zip(self.columns, self.weights, strict=True)
        return self._replace(weights=[preparation.raw_weights(*pair) for pair in pairs])


class Plan(NamedTuple):
    """How many features are wanted (None: as the folds say), and how much caution.

    With a number of ``max_columns`` to winnow, columns are screened by exact sums.
    """

    size: int | None
    caution: float
    score: Score | None = None
    max_columns: int | None = None

    def largest(self, n_rows: int) -> int:
        """Return the largest size that is looked at."""
        if self.size is not None:
            return self.size
        return min(max(n_rows // ROWS_A_FEATURE, FEWEST_AUTO), MOST_AUTO)

    def screened(self, n_rows: int) -> int:
        """Return how many columns are winnowed."""
        return n_screened(self.largest(n_rows)) if self.max_columns is None else self.max_columns

    def sums(self, sample: Sample) -> Sums:
        """Return the sums by which columns are screened."""
        return Sums.of(sample) if self.max_columns is None else Sums.exactly(sample)


def winnow(sample: Sample, splits: Sequence[Split], plan: Plan, threads: Threads) -> Path:
    """Return the path of rows at hand, which folds of them choose."""
    screened = plan.screened(sample.targets.size)

    def fold(parts: tuple[Part, Part]) -> Fold:
        return fold_of(sample, [part.places for part in parts], parts, screened)

    jobs: list[Callable[[], Field | Fold]]
    jobs = [partial(Field.of, sample, plan.sums(sample), screened)]
    jobs += [partial(fold, rows_in_fold(sample, split)) for split in splits]
    field, *folds = threads.map(lambda job: job(), jobs)
    return winnow_fields(field, folds, plan, plan.largest(sample.targets.size), threads)


class Gathered(NamedTuple):
    """What is kept of rows that were read in parts: some columns of all, all columns of some.

    ``columns`` were screened; ``rows`` have these alone. The rows of folds have such ``places``.
    """

    columns: np.ndarray
    rows: Rows
    places: np.ndarray
    in_folds: Rows


def winnow_gathered(
    whole: Sample,
    sums: Sums,
    gathered: Gathered,
    parts: Sequence[tuple["Part", "Part"]],
    plan: Plan,
    threads: Threads,
) -> Path:
    """Return the path of a sample that holds none of its rows, but what was kept of them."""
    columns, rows, places, in_folds = gathered
    n_rows = whole.targets.size
    field = Field.of_screened(whole, sums, columns, rows, Rows.none())
    known = whole.part(in_folds, places)

    def fold(pair: tuple[Part, Part]) -> Fold:
        inside = [np.searchsorted(places, part.places) for part in pair]
        return fold_of(known, inside, pair, plan.screened(n_rows))

    return winnow_fields(field, threads.map(fold, parts), plan, plan.largest(n_rows), threads)


def places_in_folds(parts: Sequence[tuple["Part", "Part"]]) -> np.ndarray:
    """Return the places of all rows that any fold learns from or holds out."""
    return np.unique(np.concatenate([part.places for pair in parts for part in pair]))


def n_calls(n_folds: int, largest: int, loss: int) -> int:
    """Return about how many calls of threads a path takes."""
    sizes = sizes_down(largest, range(1, FINE + 1))
    return 1 + n_folds + n_folds * len(strengths_for(loss)) + len(sizes)


class Part(NamedTuple):
    """The places of a fold's rows, and how much each counts besides its own importance."""

    places: np.ndarray
    weights: np.ndarray


def rows_in_fold(sample: Sample, split: Split) -> tuple[Part, Part]:
    """Return the rows that a fold learns from and holds out: not all of very many."""
    some, others = split
    return at_most(sample, some, MOST_IN_FOLD), at_most(sample, others, MOST_IN_FOLD)


def fold_of(
    sample: Sample, places: Sequence[np.ndarray], parts: tuple[Part, Part], screened: int
) -> Fold:
    """Return a fold of a sample in which the parts' rows have such places."""
    train, held = (
        chosen._replace(importance=chosen.importance * part.weights)
        for chosen, part in zip(map(sample.at, places), parts, strict=True)
    )
    field = Field.of(train, Sums.of(train), screened, held.rows)
    return Fold(field, parts[1].places, held.targets, held.importance)


def at_most(sample: Sample, places: np.ndarray, most: int) -> Part:
    """Return about so many of the rows at most, the same for every fit.

    More rows of a rare class are kept than its share, and count the less.
    """
    if places.size <= most:
        return Part(places, np.ones(places.size))
    places = places[permutation(0, 0, 0, places.size)]
    classes = sample.targets[places] if sample.of_classes else np.zeros(places.size)
    _, classes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    shares = most * counts / places.size
    sizes = np.ceil(np.clip(most * RARE / counts.size, shares, counts)).astype(np.int64)
    kept = [np.flatnonzero(classes == c)[:size] for c, size in enumerate(sizes)]
    return Part(places[np.concatenate(kept)], np.repeat(shares / sizes, sizes))


def winnow_fields(
    field: Field, folds: Sequence[Fold], plan: Plan, largest: int, threads: Threads
) -> Path:
    """Return the path of a field, which folds choose."""
    if not field.columns.size:
        n = field.problem.targets.size
        raise ValueError(f"No column of X varies (n_samples={n}): there is nothing to select.")
    first = min(largest, field.columns.size)
    sizes = sizes_down(first, range(1, FINE + 1))
    table = fold_table(folds, sizes, threads, plan.score)
    choice = choose(table, plan.caution, plan.size and first)
    size = first if plan.size is not None else choose_size(table, choice, plan.caution)
    return _path(field, table, choice, size, threads)


def _path(field: Field, table: Table, choice: Choice, size: int, threads: Threads) -> Path:
    """Return models of all sizes, with the strengths chosen."""
    refit, finals = Refit(FINAL_PRECISION), (table.finals[final] for final in choice.finals)

    def model(step: tuple[Field, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        (ready, fitted), *_ = refit.fit(*step, [next(finals)])
        return ready.columns, *ready.prepared_weights(fitted)

    steps = eliminate(field, table.strengths[choice.strength], table.sizes)
    columns, weights, intercepts = zip(*threads.follow(model, steps), strict=True)
    losses, errors = at_choice(table.losses, choice), at_choice(table.errors, choice)
    gain = table.null_losses - losses[:, mean(losses, table.importance).argmin()]
    scores = None if table.scores is None else at_choice(table.scores, choice).mean(axis=0)[::-1]
    strengths = np.array([table.finals[final].strength for final in choice.finals])
    fold_columns, fold_shares = _shares(table, choice)
    return Path(
        sizes=np.array(table.sizes[::-1]),
        columns=list(columns[::-1]),
        weights=list(weights[::-1]),
        intercepts=np.array(intercepts[::-1]),
        fold_columns=fold_columns[::-1],
        fold_shares=fold_shares[::-1],
        loss=mean(losses, table.importance)[::-1],
        loss_se=standard_error(losses, table.importance)[::-1],
        error=mean(errors, table.importance)[::-1],
        error_se=standard_error(errors, table.importance)[::-1],
        score=scores,
        final_penalties=1.0 / strengths[::-1],
        penalty=1.0 / table.strengths[choice.strength],
        kept_length=table.finals[0].way.kept_length,
        adaptive=table.finals[0].way.adaptive,
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


def half_sample_counts(
    sample: Sample,
    size: int,
    screened: int,
    strength: float,
    n_resamples: int,
    seed: int,
    threads: Threads,
) -> np.ndarray:
    """Return for each column how many random halves of the rows select it."""
    n_rows = sample.targets.size

    def select(number: int) -> np.ndarray:
        half = np.sort(permutation(seed, 1, number, n_rows)[: n_rows // 2])
        rows = sample.at(half)
        field = Field.of(rows, Sums.of(rows), screened)
        wanted = min(size, field.columns.size)
        if not wanted:
            return field.columns
        *_, (left, _) = eliminate(field, strength, [wanted])
        return left.columns

    selected = threads.map(select, list(range(n_resamples)))
    return np.bincount(np.concatenate(selected), minlength=sample.n_columns)
