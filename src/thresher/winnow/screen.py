"""What each column says alone: sums over rows, which can be added up over chunks of them.

One pass over the rows tells how certain each column's marginal effect is: z, its covariance with
the targets in standard deviations of what chance would give. It costs two or three numbers for each
column that occurs, whatever the number of rows. The most certain columns are winnowed; and the
metric in which weights are penalized follows from the same sums.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from thresher.exact import ExactSums
from thresher.jit import jit
from thresher.losses import LOSSES
from thresher.rows import Rows

FEWEST, TIMES = 1000, 5  # columns that are winnowed: at least, and for each that is selected
# Weights are penalized in a metric of columns times variance ** -SPREAD: between raw columns (0)
# and unit variance (1/2); and times (z^2 + 1) ** (CERTAINTY / 2).
SPREAD, CERTAINTY = 0.25, 1.0


class Sample(NamedTuple):
    """Rows, what is to be predicted of them, and how much each counts.

    Targets of two classes are -1 and +1, of several the numbers of the classes. ``n_outputs`` is
    the number of margins of a row: one, or one for each of several classes. ``in_length`` are the
    columns that make up a row's length; none where rows are not scaled.
    """

    rows: Rows
    n_columns: int
    targets: np.ndarray
    importance: np.ndarray
    loss: int
    n_outputs: int
    intercept: bool
    in_length: np.ndarray

    @property
    def of_classes(self) -> bool:
        """Return whether targets are classes."""
        return all(one.code != self.loss for one in LOSSES.values() if one.of_numbers)

    def part(self, rows: Rows, places: slice | np.ndarray) -> Self:
        """Return given rows at such places of a sample that holds none of its rows."""
        targets, importance = self.targets[places], self.importance[places]
        return self._replace(rows=rows, targets=targets, importance=importance)

    def at(self, places: np.ndarray) -> Self:
        """Return a sample of some of the rows."""
        return self._replace(
            rows=self.rows.at(places),
            targets=self.targets[places],
            importance=self.importance[places],
        )


class Sums(NamedTuple):
    """Sums over rows, each as often as it counts.

    ``targets`` and ``target_squares`` have an entry per output, ``values``, ``squares`` and
    ``products`` (values times targets) a row per column. Several classes have one output each, in
    which the target is 1 in rows of the class and 0 in others.
    """

    weight: float
    targets: np.ndarray
    target_squares: np.ndarray
    values: np.ndarray
    squares: np.ndarray
    products: np.ndarray

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """Return the sums over a sample's rows."""
        n, k = sample.n_columns, sample.n_outputs
        values, squares, products = np.zeros(n), np.zeros(n), np.zeros((n, k))
        add_rows(*sample.rows, sample.targets, sample.importance, values, squares, products)
        return cls.with_columns(sample, values, squares, products)

    @classmethod
    def exactly(cls, sample: Sample) -> Self:
        """Return the same, of sums that do not depend on the order of the rows."""
        return cls.of_exact(sample, exact_sums(sample))

    @classmethod
    def of_exact(cls, sample: Sample, found: Sequence[ExactSums]) -> Self:
        """Return the sums over a sample whose columns' sums were found in parts of its rows."""
        values, squares, products = (one.totals() for one in found)
        return cls.with_columns(sample, values, squares, products.reshape(-1, sample.n_outputs))

    @classmethod
    def with_columns(
        cls, sample: Sample, values: np.ndarray, squares: np.ndarray, products: np.ndarray
    ) -> Self:
        """Return the sums of a sample's targets beside those of its columns."""
        targets, importance, k = sample.targets, sample.importance, sample.n_outputs
        if k > 1:
            targets = (targets[:, np.newaxis] == np.arange(k)).astype(np.float64)
        weighted = targets.reshape(-1, k) * importance[:, np.newaxis]
        return cls(
            float(importance.sum()),
            weighted.sum(axis=0),
            (weighted * targets.reshape(-1, k)).sum(axis=0),
            values,
            squares,
            products,
        )

    def __add__(self, other: Self) -> Self:  # type: ignore[override]
        """Return the sums over the rows of both."""
        pairs: Any = zip(self, other, strict=True)
        return type(self)(*(mine + theirs for mine, theirs in pairs))

    def means(self) -> np.ndarray:
        """Return the columns' means."""
        return self.values / self.weight

    def variances(self, centred: bool) -> np.ndarray:
        """Return the columns' variances; around 0 where nothing is centred."""
        mean_squares = self.squares / self.weight
        if not centred:
            return mean_squares
        variances = mean_squares - self.means() ** 2
        return np.where(variances > 1e-12 * mean_squares, variances, 0.0)

    def certainties(self, centred: bool) -> np.ndarray:
        """Return z^2 of each column's marginal effect, the largest of several outputs."""
        means = self.targets / self.weight if centred else np.zeros_like(self.targets)
        products = self.products - np.outer(self.values, means)
        noise = np.outer(self.variances(centred), self.target_squares - self.weight * means**2)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = np.where(noise > 0, products**2 / noise, 0.0)
        return np.nan_to_num(found, posinf=0.0).max(axis=1)

    def most_certain(self, size: int, centred: bool) -> np.ndarray:
        """Return the columns that vary, or the most certain of them if there are many more."""
        live = np.flatnonzero(self.variances(centred) > 0)
        if live.size <= size:
            return live
        certainties = self.certainties(centred)[live]
        return np.sort(live[np.argsort(-certainties, kind="stable")[:size]])

    def metric(self, centred: bool) -> np.ndarray:
        """Return the factor of every column under which all weights are penalized alike.

        Rows then have a mean squared length of 1. Factors of columns that do not vary are 0.
        """
        variances = self.variances(centred)
        live = variances > 0
        factors = np.zeros_like(variances)
        certain = (self.certainties(centred)[live] + 1.0) ** (CERTAINTY / 2)
        factors[live] = variances[live] ** -SPREAD * certain
        length = np.sqrt(np.sum(variances * factors**2))
        return factors / length if length > 0 else factors


def n_screened(largest: int) -> int:
    """Return how many columns are winnowed for up to so many features."""
    return max(FEWEST, TIMES * largest)


def exact_sums(sample: Sample) -> list[ExactSums]:
    """Return the sums of the columns' values, squares and products, to be added to others."""
    rows, n, k = sample.rows, sample.n_columns, sample.n_outputs
    owners, columns = rows.of_values(), rows.columns.astype(np.int64)
    targets = sample.targets[owners]
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite makes a sum infinite
        values = sample.importance[owners] * rows.values
        found = [ExactSums.of(columns, terms, n) for terms in (values, values * rows.values)]
        if k == 1:
            return [*found, ExactSums.of(columns, values * targets, n)]
    return [*found, ExactSums.of(columns * k + targets.astype(np.int64), values, n * k)]


@jit
def add_rows(starts, columns, values, targets, importance, sums, squares, products):
    """Add rows to the sums of their columns."""
    n_outputs = products.shape[1]
    for i in range(starts.size - 1):
        weight, target = importance[i], targets[i]
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j, value = columns[k], weight * values[k]
            sums[j] += value
            squares[j] += value * values[k]
            if n_outputs == 1:
                products[j, 0] += value * target
            else:
                products[j, int(target)] += value
