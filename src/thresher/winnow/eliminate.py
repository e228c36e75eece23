"""Elimination: all weights to convergence, the smallest leave, and again, down to one feature.

One run is a model of every size on the way. Every fit begins where the last one ended, and looks
only at the columns and rows still in play.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np

from thresher.winnow.ridge import Problem, fit_ridge, margins_of
from thresher.rows import Rows
from thresher.winnow.sample import Sample
from thresher.winnow.screen import Sums

STEP = 0.7  # logarithm of how many times fewer columns are left after a round: half of them leave
PRECISION = 1e-2  # of a gradient, for each root of the rows' weight


def sizes_down(first: int, goals: Sequence[int]) -> list[int]:
    """Return the sizes of a way down, in even ratios from one goal to the next."""
    sizes = [first]
    for goal in sorted({goal for goal in goals if goal < first}, reverse=True):
        last = sizes[-1]
        rounds = max(1, math.ceil(math.log(last / goal) / STEP))
        sizes += [round(last * (goal / last) ** (r / rounds)) for r in range(1, rounds + 1)]
    return list(dict.fromkeys(sizes))


class Field(NamedTuple):
    """Screened columns in their metric: what is eliminated from, and held-out rows beside it."""

    problem: Problem
    columns: np.ndarray
    factors: np.ndarray
    held: Rows

    @classmethod
    def of(cls, sample: Sample, sums: Sums, n_screened: int, held: Rows | None = None) -> Self:
        """Return the most certain columns of a sample, and the same of rows that it knows not."""
        centred = sample.intercept
        columns = sums.most_certain(n_screened, centred)
        factors = sums.metric(centred)[columns]
        rows = sample.rows.renumbered(sample.n_columns, columns).scaled(factors)
        held = (held or Rows.none()).renumbered(sample.n_columns, columns).scaled(factors)
        centres = sums.means()[columns] * factors if centred else np.zeros(columns.size)
        problem = Problem(
            rows,
            sample.targets,
            sample.importance,
            sample.loss,
            sample.n_outputs,
            sample.intercept,
            centres,
        )
        return cls(problem, columns, factors, held)

    @property
    def n_outputs(self) -> int:
        """Return how many margins a row has."""
        return self.problem.n_outputs

    def only(self, kept: np.ndarray) -> Self:
        """Return some of the columns."""
        rows = self.problem.rows.renumbered(self.columns.size, kept)
        problem = self.problem._replace(rows=rows, centres=self.problem.centres[kept])
        held = self.held.renumbered(self.columns.size, kept)
        columns, factors = self.columns[kept], self.factors[kept]
        return type(self)(problem.without_empty_rows(), columns, factors, held)

    def strongest(self, weights: np.ndarray, size: int) -> tuple[Self, np.ndarray]:
        """Return the columns with the largest weights, over all outputs, and these weights."""
        by_column = weights.reshape(-1, self.n_outputs)
        norms = np.linalg.norm(by_column[:-1], axis=1)
        kept = np.sort(np.argsort(-norms, kind="stable")[:size])
        return self.only(kept), by_column[np.append(kept, -1)].ravel()

    def fit(self, weights: np.ndarray, strength: float) -> np.ndarray:
        """Move weights, the intercepts last, to the least penalized loss; return them."""
        penalties = np.full(self.columns.size, 1.0 / strength)
        precision = PRECISION * math.sqrt(self.problem.importance.sum())
        fit_ridge(self.problem, penalties, weights, precision)
        return weights

    def fit_final(self, weights: np.ndarray, strengths: Sequence[float]) -> np.ndarray:
        """Return weights of the last of some strengths, each fitted from the one before."""
        final = weights.copy()
        for strength in strengths:
            self.fit(final, strength)
        return final

    def held_margins(self, weights: np.ndarray) -> np.ndarray:
        """Return the margins of held-out rows, a column per output."""
        n_rows = self.held.n
        margins, nothing = np.empty(n_rows * self.n_outputs), np.zeros(n_rows)
        problem = self.problem._replace(rows=self.held, targets=nothing, importance=nothing)
        margins_of(problem, weights, margins)
        return margins.reshape(n_rows, self.n_outputs)

    def raw(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return weights of the columns as they were given, a row per output, and intercepts."""
        by_column = weights.reshape(-1, self.n_outputs)
        intercepts = by_column[-1] - self.problem.centres @ by_column[:-1]
        return (by_column[:-1] * self.factors[:, np.newaxis]).T.copy(), intercepts


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
