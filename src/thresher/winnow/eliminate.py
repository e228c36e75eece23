"""Elimination: all weights to convergence, the smallest leave, and again, down to one feature.

One run is a model of every size on the way. Every fit begins where the last one ended, and looks
only at the columns and rows still in play.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np

from thresher.jit import jit
from thresher.rows import Rows
from thresher.winnow.ridge import Problem, fit_ridge, margins_of
from thresher.winnow.screen import Sample, Sums

STEP = 0.7  # logarithm of how many times fewer columns are left after a round: half of them leave
SMALLEST, TINY = 1e-3, 1e-300  # factors of columns by their weights, at least
PRECISION = 1e-2  # of a gradient, for each root of the rows' weight, or for less than one row


def sizes_down(first: int, goals: Sequence[int]) -> list[int]:
    """Return the sizes of a way down, in even ratios from one goal to the next."""
    sizes = [first]
    for goal in sorted({goal for goal in goals if goal < first}, reverse=True):
        last = sizes[-1]
        rounds = max(1, math.ceil(math.log(last / goal) / STEP))
        sizes += [round(last * (goal / last) ** (r / rounds)) for r in range(1, rounds + 1)]
    return list(dict.fromkeys(sizes))


class Way(NamedTuple):
    """In which coordinates the weights of the features selected are fitted.

    ``kept_length`` says that rows are as long as their values in these features alone make them,
    ``adaptive`` that columns are multiplied by their weights while selecting: large weights are
    then hardly penalized, and small ones fall to nothing.
    """

    kept_length: bool
    adaptive: bool


class Final(NamedTuple):
    """How the weights of the features selected are fitted.

    The ``strength`` is 1 over the penalty, for rows whose mean squared length is 1.
    """

    way: Way
    strength: float


class Field(NamedTuple):
    """Screened columns in their metric: what is eliminated from, and held-out rows beside it.

    ``in_length`` are the columns that make up a row's length; none where rows are not scaled.
    Weights are penalized as if all rows were divided by ``length``.
    """

    problem: Problem
    columns: np.ndarray
    factors: np.ndarray
    in_length: np.ndarray
    held: Rows
    length: float = 1.0

    @classmethod
    def of(cls, sample: Sample, sums: Sums, n_screened: int, held: Rows | None = None) -> Self:
        """Return the most certain columns of a sample, and the same of rows that it knows not."""
        columns = sums.most_certain(n_screened, sample.intercept)
        rows = sample.rows.renumbered(sample.n_columns, columns)
        held = (held or Rows.none()).renumbered(sample.n_columns, columns)
        return cls.of_screened(sample, sums, columns, rows, held)

    @classmethod
    def of_screened(
        cls, sample: Sample, sums: Sums, columns: np.ndarray, rows: Rows, held: Rows
    ) -> Self:
        """Return the same of rows that have these columns only, numbered from 0."""
        factors = sums.metric(sample.intercept)[columns]
        centres = sums.means()[columns] * factors if sample.intercept else np.zeros(columns.size)
        problem = Problem(
            rows.scaled(factors),
            sample.targets,
            sample.importance,
            sample.loss,
            sample.n_outputs,
            sample.intercept,
            centres,
        )
        return cls(problem, columns, factors, sample.in_length[columns], held.scaled(factors))

    @property
    def n_outputs(self) -> int:
        """Return how many margins a row has."""
        return self.problem.n_outputs

    def only(self, kept: np.ndarray) -> Self:
        """Return some of the columns."""
        rows = self.problem.rows.renumbered(self.columns.size, kept)
        problem = self.problem._replace(rows=rows, centres=self.problem.centres[kept])
        held = self.held.renumbered(self.columns.size, kept)
        return type(self)(
            problem.without_empty_rows(),
            self.columns[kept],
            self.factors[kept],
            self.in_length[kept],
            held,
        )

    def strongest(self, weights: np.ndarray, size: int) -> tuple[Self, np.ndarray]:
        """Return the columns with the largest weights, over all outputs, and these weights."""
        by_column = self.by_column(weights)
        norms = np.linalg.norm(by_column[:-1], axis=1)
        kept = np.sort(np.argsort(-norms, kind="stable")[:size])
        return self.only(kept), by_column[np.append(kept, -1)].ravel()

    def for_final(self, way: Way, weights: np.ndarray) -> Self:
        """Return the same in a way's coordinates, where the rows' mean squared length is 1.

        The ``weights`` are those that selected.
        """
        field = self._with_kept_lengths() if way.kept_length else self
        if way.adaptive:
            sizes = np.linalg.norm(self.by_column(weights)[:-1], axis=1)
            largest = max(sizes.max(initial=0.0), TINY)
            field = field._scaled(np.maximum(sizes / largest, SMALLEST))
        return field._replace(length=field.problem.mean_length() or 1.0)

    def _scaled(self, factors: np.ndarray) -> Self:
        """Return the same with every column multiplied by a factor."""
        problem = self.problem._replace(
            rows=self.problem.rows.scaled(factors), centres=self.problem.centres * factors
        )
        return self._replace(
            problem=problem, factors=self.factors * factors, held=self.held.scaled(factors)
        )

    def _with_kept_lengths(self) -> Self:
        """Return rows divided by the length that they have in these columns."""
        raw = np.where(self.in_length, 1.0 / self.factors, 0.0)
        problem, held = self.problem, self.held
        rows = problem.rows._replace(values=unit_values(*problem.rows, raw))
        held = held._replace(values=unit_values(*held, raw))
        problem = problem._replace(rows=rows)
        return self._replace(problem=problem.centred(), held=held)

    def fit(self, weights: np.ndarray, strength: float, precision: float = PRECISION) -> np.ndarray:
        """Move weights, the intercepts last, to the least penalized loss; return them."""
        penalties = np.full(self.columns.size, self.length**2 / strength)
        weight = float(self.problem.importance.sum())
        precision *= self.length * min(math.sqrt(weight), weight)
        fit_ridge(self.problem, penalties, weights, precision)
        return weights

    def held_margins(self, weights: np.ndarray) -> np.ndarray:
        """Return the margins of held-out rows, a column per output."""
        n_rows = self.held.n
        margins, nothing = np.empty(n_rows * self.n_outputs), np.zeros(n_rows)
        problem = self.problem._replace(rows=self.held, targets=nothing, importance=nothing)
        margins_of(problem, weights, margins)
        return margins.reshape(n_rows, self.n_outputs)

    def by_column(self, weights: np.ndarray) -> np.ndarray:
        """Return weights as a table, a column per output and the intercepts last."""
        return weights.reshape(-1, self.n_outputs)

    def units(self) -> np.ndarray:
        """Return what a table of weights is multiplied by to be one of prepared columns."""
        return np.append(self.factors, 1.0)[:, np.newaxis]

    def prepared_weights(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights of prepared columns, a row per output, and intercepts."""
        by_column = self.by_column(weights)
        intercepts = by_column[-1] - self.problem.centres @ by_column[:-1]
        return (by_column[:-1] * self.factors[:, np.newaxis]).T.copy(), intercepts


class Refit:
    """Fits final weights at falling sizes, each from those of the size before."""

    def __init__(self, precision: float = PRECISION) -> None:
        self._precision = precision
        self._last: dict[Final, tuple[np.ndarray, np.ndarray]] = {}

    def fit(
        self, field: Field, weights: np.ndarray, finals: Sequence[Final]
    ) -> Iterator[tuple[Field, np.ndarray]]:
        """Give the field and the weights of each way to fit them.

        The first size begins with the ``weights`` that selected it.
        """
        fields = {way: field.for_final(way, weights) for way in {final.way for final in finals}}
        selecting = field.columns, field.by_column(weights) * field.units()
        for final in finals:
            ready = fields[final.way]
            columns, by_column = self._last.get(final, selecting)
            places = np.append(np.searchsorted(columns, field.columns), -1)
            start = (by_column[places] / ready.units()).ravel()
            fitted = ready.fit(start, final.strength, self._precision)
            self._last[final] = (ready.columns, ready.by_column(fitted) * ready.units())
            yield ready, fitted


@jit
def unit_values(starts, columns, values, raw):
    """Return the values of rows divided by their length; a column of factor 0 stands apart."""
    scaled = values.copy()
    for i in range(starts.size - 1):
        square = 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            square += (values[k] * raw[columns[k]]) ** 2
        if square > 0.0:
            scale = 1.0 / math.sqrt(square)
            for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                if raw[columns[k]] > 0.0:
                    scaled[k] *= scale
    return scaled


def eliminate(
    field: Field, strength: float, sizes: Sequence[int]
) -> Iterator[tuple[Field, np.ndarray]]:
    """Give the columns left at each of some falling sizes, and their weights: not to be changed."""
    weights = np.zeros((field.columns.size + 1) * field.n_outputs)
    wanted = set(sizes)
    for size in sizes_down(max(field.columns.size, sizes[0]), sizes):
        if size < field.columns.size:
            field, weights = field.strongest(weights, size)
        weights = field.fit(weights, strength)
        if size in wanted:
            yield field, weights
